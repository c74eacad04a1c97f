"""Books (EPUB) as text."""

import posixpath
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

from relay.media.extraction.failure import Unusable
from relay.media.extraction.markup import to_markdown
from relay.media.extraction.parts import MOST
from relay.media.extraction.text import BYTES, decode
from relay.media.extraction.zipped.package import BROKEN, Package

CONTAINER = "META-INF/container.xml"
LOCKED = "It's a book with copy protection (DRM), which only its own reader can open."


def read(package: Package) -> dict[str, Any]:
    """Returns `{kind, text, note}` with the chapters in order. Raises `Unusable`."""
    root = next((one.get("full-path", "") for one in _find_all(package.xml(CONTAINER), "rootfile")), "")
    if root not in package.names:
        raise Unusable(BROKEN)
    opened = package.xml(root)
    folder = posixpath.dirname(root)
    files = {one.get("id"): unquote(one.get("href", "")) for one in _find_all(opened, "item")}
    told: list[str] = []
    length = seen = 0
    for one in _find_all(opened, "itemref"):
        name = posixpath.normpath(posixpath.join(folder, files.get(one.get("idref"), "")))
        if name not in package.names or length > MOST or seen > BYTES:
            continue
        page = package.read(name, BYTES)
        text = to_markdown(decode(page) or "")
        told.append(text)
        seen += len(page)
        length += len(text)
    if not length and "META-INF/encryption.xml" in package.names:
        raise Unusable(LOCKED)
    return {"kind": "book", "text": "\n\n".join(text for text in told if text), "note": ""}


def _find_all(root: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    """Returns all elements with a name, in any namespace."""
    return [one for one in root.iter() if isinstance(one.tag, str) and one.tag.rpartition("}")[2] == tag]

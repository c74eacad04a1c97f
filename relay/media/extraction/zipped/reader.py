"""Detects the type of a zip archive (Office file, book or plain archive), and reads it."""

from typing import Any

from relay.media.extraction.failure import Unusable
from relay.media.extraction.zipped.package import APPLE, APPS, TAGS, TOO_MUCH, XML, Package


def read(content: bytes) -> dict[str, Any]:
    """Returns `{kind, text, note}`. Raises `Unusable`."""
    package = Package(content)
    names = package.names
    for entry, app in APPS.items():
        if entry in names:
            raise Unusable(APPLE.format(app=app))
    if "mimetype" in names and "META-INF/container.xml" in names:
        from relay.media.extraction.zipped import book

        return book.read(package)
    if "[Content_Types].xml" in names or "mimetype" in names:
        from relay.media.extraction.zipped import office

        package.check()
        if any(name.startswith("word/document") for name in names):
            if package.tags > TAGS or package.xml_bytes > XML:
                raise Unusable(TOO_MUCH)
            return office.document(package)
        if any(name.startswith("xl/workbook") for name in names):
            return office.spreadsheet(package)
        if "ppt/presentation.xml" in names:
            return office.presentation(package)
        if "content.xml" in names:
            return office.open_document(package)
    from relay.media.extraction.zipped import archive

    return archive.read(package)

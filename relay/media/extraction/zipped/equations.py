"""Equations of Microsoft Office (OMML) as text on one line, which other readers leave out."""

from __future__ import annotations

import io
import zipfile
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from relay.media.extraction.markup import group
from relay.media.extraction.zipped.package import Package

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
KINDS = (
    "{http://schemas.openxmlformats.org/officeDocument/2006/math}",
    "{http://purl.oclc.org/ooxml/officeDocument/math}",
)
EQUATIONS = tuple(f"{kind}oMath" for kind in KINDS)
PARAGRAPHS = tuple(f"{kind}oMathPara" for kind in KINDS)


def with_equations(package: Package) -> bytes:
    """Returns a Word document whose equations are ordinary text, without pictures."""
    parts = {name: package.read(name) for name in package.names if name.endswith((".xml", ".rels"))}
    if not any(b"oMath" in part for part in parts.values()):
        return package.content
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        for name, part in parts.items():
            target.writestr(name, _replace(package.xml(name)) if b"oMath" in part else part)
    return made.getvalue()


def _replace(root: Element) -> bytes:
    for parent in list(root.iter()):
        for place, child in enumerate(parent):
            if child.tag in EQUATIONS + PARAGRAPHS:
                parent[place] = run = Element(f"{WORD}r")
                ElementTree.SubElement(run, f"{WORD}t").text = to_line(child)
    return ElementTree.tostring(root)


def to_line(one: Element) -> str:
    """Returns an equation on one line, such as `x=(-b±√(b^2-4ac))/(2a)`."""
    kind = one.tag.rpartition("}")[2]
    if kind == "t":
        return one.text or ""
    if kind.endswith("Pr"):
        return ""
    parts = [to_line(part) for part in one]
    named = {part.tag.rpartition("}")[2]: text for part, text in zip(one, parts, strict=True)}
    base, below, above = (named.get(name, "") for name in ("e", "sub", "sup"))
    scripts = "".join(f"{sign}{group(text)}" for sign, text in (("_", below), ("^", above)) if text)
    match kind:
        case "f":
            bar = "¦" if _setting(one, "type") == "noBar" else "/"
            return f"{group(named.get('num', ''))}{bar}{group(named.get('den', ''))}"
        case "sSup" | "sSub" | "sSubSup":
            return group(base) + scripts
        case "sPre":
            return scripts + group(base)
        case "nary":
            return f"{_setting(one, 'chr', '∫')}{scripts} {base}"
        case "rad":
            return f"{group(base)}^(1/{named['deg']})" if named.get("deg") else f"√({base})"
        case "func":
            return f"{named.get('fName', '')} {base}"
        case "limLow" | "limUpp":
            return f"{base}{'_' if kind == 'limLow' else '^'}{group(named.get('lim', ''))}"
        case "acc":
            return base + _setting(one, "chr", "\u0302")
        case "d":
            inside = _setting(one, "sepChr", "|").join(part for part in parts if part)
            return f"{_setting(one, 'begChr', '(')}{inside}{_setting(one, 'endChr', ')')}"
        case "m":
            return f"[{'; '.join(part for part in parts if part)}]"
        case "mr" | "eqArr":
            return (", " if kind == "mr" else "; ").join(part for part in parts if part)
    return (" " if one.tag in PARAGRAPHS else "").join(parts)


def _setting(one: Element, name: str, default: str = "") -> str:
    """Returns a property of an equation's part."""
    for found in one.iterfind(f"*/{{*}}{name}"):
        return next((value for key, value in found.items() if key.endswith("val")), "")
    return default

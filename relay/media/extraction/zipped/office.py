"""Documents, spreadsheets and presentations of Microsoft Office and OpenDocument, as text."""

from __future__ import annotations

import io
import posixpath
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import zip_longest
from typing import Any
from xml.etree import ElementTree

from relay.media.extraction.failure import Unusable
from relay.media.extraction.markup import equation, raise_digits, to_markdown
from relay.media.extraction.zipped import sheets
from relay.media.extraction.zipped.equations import EQUATIONS, WORD, to_line, with_equations
from relay.media.extraction.zipped.package import Package

CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
PRESENTATION = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
REFERENCE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
OPEN_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
OPEN_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
OPEN_ROW = f"{OPEN_TABLE}table-row"
OPEN_CELLS = (f"{OPEN_TABLE}table-cell", f"{OPEN_TABLE}covered-table-cell")
OPEN_PARAGRAPHS = (f"{OPEN_TEXT}p", f"{OPEN_TEXT}h")
OPEN_SPACES = {f"{OPEN_TEXT}tab": "\t", f"{OPEN_TEXT}line-break": "\n", f"{OPEN_TEXT}s": " "}
OPEN_UNREAD = (
    f"{OPEN_TEXT}tracked-changes",
    f"{OPEN_TEXT}note-citation",
    "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}annotation",
    *(f"{{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}}{name}" for name in ("title", "desc")),
)
"""What isn't part of the text: deleted words, the numbers of footnotes, comments, and descriptions of pictures."""
OPEN_OBJECT = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}object"
OPEN_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
TARGET = "{http://www.w3.org/1999/xlink}href"
MATH = "{http://www.w3.org/1998/Math/MathML}math"
TEXTS = (f"{DRAWING}r", f"{DRAWING}fld", f"{DRAWING}br", *EQUATIONS)
SLIDES = 2_000
MARGIN = re.compile(r"word/(?:header|footer)[0-9]*\.xml")
IN_MARGINS = "Headers and footers:"


def document(package: Package) -> dict[str, Any]:
    """Reads a Word document with mammoth: its text with headings, lists and tables, without pictures. Then its headers
    and footers, which mammoth leaves out: letters have their sender there."""
    import mammoth

    made = mammoth.convert_to_html(
        io.BytesIO(with_equations(package)),
        convert_image=mammoth.images.img_element(lambda image: {}),
        include_embedded_style_map=False,
    )
    margins = (package.xml(name) for name in sorted(filter(MARGIN.fullmatch, package.names)))
    paragraphs = (one for root in margins for one in root.iter(f"{WORD}p"))
    lines = ("".join(piece.text or "" for piece in one.iter(f"{WORD}t")) for one in paragraphs)
    return {"kind": "Word document", "text": _with_margins(to_markdown(made.value), lines), "note": ""}


def _with_margins(text: str, lines: Iterable[str]) -> str:
    """Returns a text and below it the lines of headers and footers that have words, each once."""
    told = dict.fromkeys(line.strip() for line in lines if any(map(str.isalpha, line)))
    return "\n\n".join([text, "\n".join([IN_MARGINS, *told])] if told else [text])


def spreadsheet(package: Package) -> dict[str, Any]:
    return sheets.read(package.content)


def presentation(package: Package) -> dict[str, Any]:
    """Reads a presentation: each slide under its number, followed by its charts and diagrams, and its notes."""
    related = _read_relations(package, "ppt/presentation.xml")
    shown = [one.get(REFERENCE, "") for one in package.xml("ppt/presentation.xml").iter(f"{PRESENTATION}sldId")]
    told: list[str] = []
    for number, name in enumerate((related.get(one, "") for one in shown[:SLIDES]), 1):
        if name not in package.names:
            continue
        parts = [one for one in _read_relations(package, name).values() if one in package.names]
        lines = list(_slide_lines(package.xml(name)))
        for part in parts:
            if "/diagrams/data" in part or "/charts/chart" in part:
                lines += [*_slide_lines(package.xml(part)), *_chart_lines(package.xml(part))]
        notes = next((one for one in parts if "/notesSlides/" in one), "")
        if notes in package.names and (
            said := [line for line in _slide_lines(package.xml(notes)) if not line.isdigit()]
        ):
            lines += ["Notes:", *said]
        if lines:
            told.append(f"[slide {number}]\n" + "\n".join(lines))
    return {"kind": "presentation", "text": "\n\n".join(told), "note": ""}


def open_document(package: Package) -> dict[str, Any]:
    """Reads a file of LibreOffice or another program that uses OpenDocument."""
    sort = package.read("mimetype", 200).decode("ascii", "replace") if "mimetype" in package.names else ""
    if "spreadsheet" in sort:
        return spreadsheet(package)
    kind = "presentation" if "presentation" in sort else "text document"
    root = package.xml("content.xml")
    _put_equations(root, package)
    _raise_digits(root)
    lines = _open_lines(root)
    text = "\n\n".join(text for text in lines if text.strip("# |"))
    styles = [package.xml("styles.xml")] if "styles.xml" in package.names else []
    margins = (one for root in styles for name in ("header", "footer") for one in root.iter(f"{OPEN_STYLE}{name}"))
    return {
        "kind": kind,
        "text": _with_margins(text, (line for one in margins for line in _open_lines(one))),
        "note": "",
    }


def _put_equations(root: ElementTree.Element, package: Package) -> None:
    """Replaces frames with equations, which are files of their own, by text."""
    for parent in list(root.iter()):
        for place, frame in enumerate(parent):
            if (held := frame.find(OPEN_OBJECT)) is None:
                continue
            math = held.find(MATH)
            name = posixpath.normpath(f"{held.get(TARGET, '')}/content.xml")
            if math is None and name in package.names:
                with suppress(Unusable):
                    math = package.xml(name)
            if math is not None and math.tag == MATH:
                inline = parent.tag.startswith(OPEN_TEXT)
                parent[place] = line = ElementTree.Element(f"{OPEN_TEXT}span" if inline else OPEN_PARAGRAPHS[0])
                line.text, line.tail = equation(math), frame.tail


def _raise_digits(root: ElementTree.Element) -> None:
    """Replaces raised digits by signs of their own, as 10⁶ isn't 106."""
    raised = {
        style.get(f"{OPEN_STYLE}name")
        for style in root.iter(f"{OPEN_STYLE}style")
        for told in style.iter(f"{OPEN_STYLE}text-properties")
        if told.get(f"{OPEN_STYLE}text-position", "").startswith("super")
    }
    for span in root.iter(f"{OPEN_TEXT}span"):
        if span.get(f"{OPEN_TEXT}style-name") in raised:
            span.text = raise_digits(span.text or "")


def _open_lines(root: ElementTree.Element) -> Iterator[str]:
    """Yields the paragraphs of an OpenDocument file; a row of a table is one line."""
    for one in _outermost(root, OPEN_ROW, *OPEN_PARAGRAPHS, *OPEN_UNREAD):
        if one.tag == OPEN_ROW:
            cells = _outermost(one, *OPEN_CELLS)
            yield " | ".join(" ".join(" ".join(_open_lines(cell)).split()) for cell in cells).rstrip(" |")
        elif one.tag in OPEN_PARAGRAPHS:
            yield ("#" * _level(one) + " " if one.tag == OPEN_PARAGRAPHS[1] else "") + _open_words(one).strip()


def _open_words(paragraph: ElementTree.Element) -> str:
    """Returns the words of a paragraph, with footnotes in brackets and frames on lines of their own."""
    words: list[str] = []
    left: list[ElementTree.Element | str] = [paragraph]
    while left:
        one = left.pop()
        if isinstance(one, str):
            words.append(one)
        elif one.tag in OPEN_SPACES:
            words.append(OPEN_SPACES[one.tag])
        elif one.tag not in OPEN_UNREAD:
            note = one.tag == f"{OPEN_TEXT}note"
            before = " (" if note else "\n" if one.tag in OPEN_PARAGRAPHS and words[-1:] != [" ("] else ""
            words += [piece for piece in (before, one.text) if piece]
            left += [")" if note else before]
            left += [part for child in reversed(one) for part in (child.tail, child) if part is not None]
    return "".join(words)


def _level(heading: ElementTree.Element) -> int:
    given = heading.get(f"{OPEN_TEXT}outline-level", "1")
    return min(6, int(given)) if given.isdecimal() else 1


def _slide_lines(slide: ElementTree.Element) -> Iterator[str]:
    """Yields the lines of a slide; a row of a table is one line."""
    for one in _outermost(slide, f"{DRAWING}tr", f"{DRAWING}p"):
        if one.tag == f"{DRAWING}tr":
            cells = _outermost(one, f"{DRAWING}tc")
            yield " | ".join(" ".join(map(_words, _outermost(cell, f"{DRAWING}p"))).strip() for cell in cells)
        elif words := _words(one):
            yield words


def _chart_lines(chart: ElementTree.Element) -> Iterator[str]:
    """Yields the series of a chart: its name, and each value with its category."""
    for series in chart.iter(f"{CHART}ser"):
        named, names, values = (
            [value.text or "" for part in series.iterfind(f"{CHART}{tag}") for value in part.iter(f"{CHART}v")]
            for tag in ("tx", "cat", "val")
        )
        told = (" ".join(one).strip() for one in zip_longest(names, values, fillvalue=""))
        yield f"{' '.join(named)}: {', '.join(told)}"


def _outermost(root: ElementTree.Element, *tags: str) -> Iterator[ElementTree.Element]:
    """Yields the elements with these names in order, except those within another one, so that nothing is read twice."""
    left = [root]
    while left:
        one = left.pop()
        if one.tag in tags and one is not root:
            yield one
        else:
            left.extend(reversed(one))


def _words(paragraph: ElementTree.Element) -> str:
    texts = (one for one in paragraph.iter() if one.tag in TEXTS)
    return "".join(
        " " if one.tag == f"{DRAWING}br" else to_line(one) if one.tag in EQUATIONS else _run(one) for one in texts
    ).strip()


def _run(one: ElementTree.Element) -> str:
    """Returns the text of a run, with raised digits as signs of their own."""
    text = one.findtext(f"{DRAWING}t", "")
    told = one.find(f"{DRAWING}rPr")
    return raise_digits(text) if told is not None and told.get("baseline", "").rstrip("%").isdecimal() else text


def _read_relations(package: Package, name: str) -> dict[str, str]:
    """Returns what a part refers to: names in the package by their ids."""
    folder, base = posixpath.split(name)
    relations = f"{folder}/_rels/{base}.rels"
    if relations not in package.names:
        return {}
    return {
        one.get("Id", ""): posixpath.normpath(posixpath.join("/", folder, one.get("Target", ""))).lstrip("/")
        for one in package.xml(relations).iter(RELATION)
        if one.get("TargetMode") != "External"
    }

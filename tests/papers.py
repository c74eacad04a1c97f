"""Files as people send them, made with the standard library."""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{}</Types>'
PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
OWNER = b"o" * 32
RIGHTS = -44


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """A zip archive, packed fast: some hold hundreds of megabytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def locked(archive: bytes) -> bytes:
    """A zip archive whose files are flagged as encrypted."""
    content = bytearray(archive)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := content.find(mark, at + 1)) >= 0:
            content[at + offset] |= 1
    return bytes(content)


def pdf(pages: Sequence[str], password: str | None = None) -> bytes:
    """A PDF; with a password, encrypted as by Acrobat 3. With "" it is encrypted, but opens without a password."""
    number = b"0123456789abcdef"
    key = _key(password, number) if password is not None else b""
    kids = " ".join(f"{4 + 2 * place} 0 R" for place in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for text in pages:
        lines = "".join(f"({line}) Tj T* " for line in text.splitlines())
        stream = f"BT /F1 12 Tf 14 TL 40 780 Td {lines}ET".encode("latin-1")
        if key:
            stream = _rc4(_md5(key + struct.pack("<I", len(objects) + 2)[:3] + b"\0\0")[:10], stream)
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {len(objects) + 2} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>".encode()
        )
        objects.append(b"<</Length %d>>stream\n%b\nendstream" % (len(stream), stream))
    made, places = b"%PDF-1.4\n", []
    for place, one in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj%b\nendobj\n" % (place, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    more = b""
    if password is not None:
        check = _rc4(key, PADDING)
        more = b"/ID[<%b><%b>]/Encrypt<</Filter/Standard/V 1/R 2/O<%b>/U<%b>/P %d>>" % (
            *(one.hex().encode() for one in (number, number, OWNER, check)),
            RIGHTS,
        )
    end = b"trailer<</Size %d/Root 1 0 R%b>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, more, len(made))
    return made + b"xref\n0 %d\n0000000000 65535 f \n%b" % (len(objects) + 1, table) + end


def pdf_form(label: str, value: str) -> bytes:
    """A PDF with a form that has one field, filled in."""
    drawn = [f"BT /F1 12 Tf 40 780 Td ({label}) Tj ET".encode(), f"BT /F1 12 Tf 2 4 Td ({value}) Tj ET".encode()]
    font = b"/Resources<</Font<</F1 3 0 R>>>>"
    objects = (
        b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[5 0 R]>>>>",
        b"<</Type/Pages/Count 1/Kids[4 0 R]>>",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 6 0 R/Annots[5 0 R]%b>>" % font,
        b"<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/Rect[100 770 300 790]/F 4/P 4 0 R/AP<</N 7 0 R>>>>",
        b"<</Length %d>>stream\n%b\nendstream" % (len(drawn[0]), drawn[0]),
        b"<</Type/XObject/Subtype/Form/BBox[0 0 200 20]%b/Length %d>>stream\n%b\nendstream"
        % (font, len(drawn[1]), drawn[1]),
    )
    made = b"".join(b"%d 0 obj%b\nendobj\n" % (place, one) for place, one in enumerate(objects, 1))
    return b"%PDF-1.4\n" + made + b"trailer<</Size 8/Root 1 0 R>>\n%%EOF"


def pdf_of_streams(size: int) -> bytes:
    """A PDF whose only page has this many bytes of drawing, compressed twice."""
    once = zlib.compressobj(9)
    packed_once = b"".join(once.compress(b"(x) Tj " * 150_000) for _ in range(size // 1_050_000)) + once.flush()
    stream = zlib.compress(packed_once, 9)
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R>>",
        b"<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n%b\nendstream" % (len(stream), stream),
    )
    made = b"".join(b"%d 0 obj%b\nendobj\n" % (place, one) for place, one in enumerate(objects, 1))
    return b"%PDF-1.4\n" + made + b"trailer<</Size 5/Root 1 0 R>>\n%%EOF"


def _key(password: str, number: bytes) -> bytes:
    padded = (password.encode() + PADDING)[:32]
    return _md5(padded + OWNER + struct.pack("<i", RIGHTS) + number)[:5]


def _md5(content: bytes) -> bytes:
    return hashlib.md5(content, usedforsecurity=False).digest()


def _rc4(key: bytes, content: bytes) -> bytes:
    box, j, made = list(range(256)), 0, bytearray()
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    i = j = 0
    for byte in content:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        made.append(byte ^ box[(box[i] + box[j]) % 256])
    return bytes(made)


def relations(*rows: tuple[str, str, str]) -> str:
    """The relationships of a part to others: id, type and target."""
    each = "".join(f'<Relationship Id="{one}" Type="{OFFICE}/{kind}" Target="{to}"/>' for one, kind, to in rows)
    return f'<Relationships xmlns="{PACKAGE}">{each}</Relationships>'


def docx(body: str, before: str = "", **more: str | bytes) -> bytes:
    """A Word document with this XML; `before` precedes its root."""
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES.format(
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{main}"/>'
        ),
        "_rels/.rels": relations(("r1", "officeDocument", "word/document.xml")),
        "word/document.xml": f'{before}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
    }
    return packed(files | more)


def paragraph(text: str) -> str:
    """A paragraph of a Word document."""
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def table(*rows: Sequence[str]) -> str:
    """A table of a Word document."""
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return "<w:tbl>" + "".join(f"<w:tr>{one}</w:tr>" for one in cells) + "</w:tbl>"


def xlsx(sheets: Mapping[str, Sequence[Sequence[object]]], **more: str | bytes) -> bytes:
    """A spreadsheet: numbers and texts by sheet and row."""
    base = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{base}.worksheet+xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES.format(
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{base}.sheet.main+xml"/>{parts}'
        ),
        "_rels/.rels": relations(("r1", "officeDocument", "xl/workbook.xml")),
        "xl/_rels/workbook.xml.rels": relations(
            *((f"r{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1))
        ),
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>'
        + "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1))
        + "</sheets></workbook>",
    }
    for n, rows in enumerate(sheets.values(), 1):
        lines = "".join(
            f'<row r="{r}">' + "".join(_cell(f"{chr(64 + c)}{r}", value) for c, value in enumerate(row, 1)) + "</row>"
            for r, row in enumerate(rows, 1)
        )
        files[f"xl/worksheets/sheet{n}.xml"] = f'<worksheet xmlns="{SHEET}"><sheetData>{lines}</sheetData></worksheet>'
    return packed(files | more)


def _cell(place: str, value: object) -> str:
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def pptx(slides: Sequence[Sequence[str]], notes: Mapping[int, str] | None = None, **more: str | bytes) -> bytes:
    """A presentation: lines by slide, and notes by slide. The package holds the slides in reverse order."""
    count = len(slides)
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES.format(""),
        "_rels/.rels": relations(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/_rels/presentation.xml.rels": relations(
            *((f"r{n}", "slide", f"slides/slide{count + 1 - n}.xml") for n in range(1, count + 1))
        ),
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{SLIDE}" xmlns:r="{OFFICE}"><p:sldIdLst>'
        + "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in range(1, count + 1))
        + "</p:sldIdLst></p:presentation>",
    }
    for n, lines in enumerate(slides, 1):
        name = f"slide{count + 1 - n}.xml"
        files[f"ppt/slides/{name}"] = _drawn(lines)
        if notes and n in notes:
            files[f"ppt/slides/_rels/{name}.rels"] = relations(("r9", "notesSlide", f"../notesSlides/n{n}.xml"))
            files[f"ppt/notesSlides/n{n}.xml"] = _drawn([notes[n], str(n)])
    return packed(files | more)


def _drawn(lines: Sequence[str]) -> str:
    texts = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines)
    return f'<p:sld xmlns:p="{SLIDE}" xmlns:a="{DRAWING}"><p:txBody>{texts}</p:txBody></p:sld>'


def epub(chapters: Sequence[str], before: str = "") -> bytes:
    """A book with these chapter bodies, which the package holds in reverse order; `before` precedes the root of its
    table."""
    names = [f"c{len(chapters) - n}.xhtml" for n in range(len(chapters))]
    files: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": f'{before}<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        + "".join(f'<item id="{name}" href="{name}"/>' for name in reversed(names))
        + "</manifest><spine>"
        + "".join(f'<itemref idref="{name}"/>' for name in names)
        + "</spine></package>",
    }
    page = '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "x.dtd"><html><body>{}</body></html>'
    files |= {f"OEBPS/{name}": page.format(body) for name, body in zip(names, chapters, strict=True)}
    return packed(files)


def odt(*paragraphs: str, more: str = "", **files: str | bytes) -> bytes:
    """A text document in LibreOffice's format; `more` precedes the paragraphs."""
    base = "urn:oasis:names:tc:opendocument:xmlns"
    kinds = {name: name for name in ("office", "text", "table", "style")}
    kinds |= {"draw": "drawing", "svg": "svg-compatible"}
    names = " ".join(f'xmlns:{name}="{base}:{kind}:1.0"' for name, kind in kinds.items())
    names += ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    body = "".join(f"<text:p>{one}</text:p>" for one in paragraphs)
    return packed(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {names}>{more}{body}</office:document-content>",
        }
        | files
    )


def ole(stream: str) -> bytes:
    """Bytes that look like an old Office file with a stream of this name."""
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 1024 + stream.encode("utf-16-le") + b"\0\0" + b"\0" * 512

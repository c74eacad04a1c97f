"""Files made to take long or to expand: each takes time in proportion to its size."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable

import pytest

from relay.clients.processes.file_extractor import LEAST, FileExtractor
from relay.core.errors import MediaRefused
from relay.core.models import Attachment
from relay.media.documents import is_kind
from relay.media.extraction import file_types
from relay.media.extraction.document import work
from relay.media.extraction.failure import Unusable
from tests import papers
from tests.sampled import sampled

LENGTH = 100_000
SECONDS = 3.0
"""Maximum processor time for `LENGTH` characters; quadratic time would be minutes."""
UNITS = (
    "<!---->", "<a ", "<a", "<", "<!", "<!--", "<?", "</", "<a='", "<a =\"'", "<svg>", "</svg>", "<svg></p>",
    "<script>", "<pre>", "</script", "&", "&#1", "&#x1", "=", "'", "<p>", "<td>", "<table>", " ", " \n", "\n ", "\t",
    "\r", "\f", "\n", "]]>", "<meta ", "%PDF-", "9", "я", "\x01",
)  # fmt: skip
BEGINNINGS = ("", "<html>", "<!--", "<html><script>", "<html><svg>", '<html><a x="', "&#", "<?xml ", "<html><pre>")
OPEN = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
DECLARED = '<!DOCTYPE x [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'


def seconds(content: bytes) -> float:
    """How much processor time a file takes, whatever the result."""
    began = time.process_time()
    with contextlib.suppress(Unusable):
        work(content)
    return time.process_time() - began


def nested(begin: str, end: str) -> str:
    times = LENGTH // len(begin + end)
    return begin * times + end * times


@pytest.mark.parametrize("beginning", sampled(BEGINNINGS, 3))
def test_reading_takes_time_in_proportion_to_the_length(beginning: str) -> None:
    for unit in UNITS:
        text = beginning + unit * (LENGTH // len(unit)) + "x"
        assert seconds(text.encode()) < SECONDS, (beginning, unit)


def test_nested_elements_are_read_once() -> None:
    for begin, end in (("<text:p>a", "</text:p>"), ("<text:h>", "</text:h>")):
        body = f'<o:d xmlns:o="urn:o" xmlns:text="{OPEN}">{nested(begin, end)}</o:d>'
        kind = "application/vnd.oasis.opendocument.text"
        assert seconds(papers.packed({"mimetype": kind, "content.xml": body})) < SECONDS
    row = "<a:tr><a:tc><a:p><a:r><a:t>x</a:t></a:r>", "</a:p></a:tc></a:tr>"
    slide = f'<p:sld xmlns:p="{papers.SLIDE}" xmlns:a="{papers.DRAWING}">{nested(*row)}</p:sld>'
    assert seconds(papers.pptx([["one"]], **{"ppt/slides/slide1.xml": slide})) < SECONDS


def test_empty_cells_of_a_sheet_are_skipped() -> None:
    far = papers.xlsx({"S": [["first"], *[[]] * 9_000, [*[""] * 25, "last"]]})
    assert seconds(far) < SECONDS
    answer, _ = work(far)
    assert "first" in answer["parts"][0]
    assert "last" in answer["parts"][0]


def test_a_malformed_web_page_is_read_as_far_as_possible() -> None:
    for page, text in (
        ("<html><p>one<p>two <a hr", "one\n\ntwo"),
        ("<html>one<!-- two", "one"),
        ("<html>1 < 2 &lt; 3", "1 < 2 < 3"),
        ("<html>one<script>if (a </b) { '</p>' }</SCRIPT >two", "onetwo"),
        ("<html><svg><svg></svg>no</svg>yes", "yes"),
        ('<html><a title="a > b" href=x>link</a><br/>on', "link\non"),
        ("<html><p title=it's>one<p>two's", "one\n\ntwo's"),
        ("<html>&#" + "9" * 5000 + ";!", "\ufffd!"),
    ):
        answer, _ = work(page.encode())
        assert (answer["kind"], answer["parts"]) == ("web page", [text])


def why_not(content: bytes) -> str:
    with pytest.raises(Unusable) as refused:
        work(content)
    return str(refused.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("before", ["", "\n  ", " " * 2**21])
def test_hidden_xml_with_entities_is_detected_by_its_beginning(encoding: str, before: str) -> None:
    text = f'{before}{DECLARED}<w:document xmlns:w="{papers.WORD}"><w:body>&b;</w:body></w:document>'
    hidden = {
        "_rels/.rels": papers.relations(("r1", "officeDocument", "word/document.bin")),
        "word/document.bin": text.encode(encoding),
    }
    assert "unusual XML" in why_not(papers.docx("", **hidden))


def test_a_file_that_is_not_xml_may_contain_entity_declarations() -> None:
    answer, _ = work(papers.docx(papers.paragraph("words"), **{"word/media/a.png": b"\x89PNG <!ENTITY"}))
    assert answer["parts"] == ["words"]


def test_a_document_type_without_declarations_is_accepted() -> None:
    named = '<?xml version="1.0"?><!DOCTYPE package PUBLIC "+//ISBN 0-9673008-1-9//DTD OEB 1.2 Package//EN" "oeb.dtd">'
    answer, _ = work(papers.epub(["<p>It began.</p>"], before=named))
    assert answer["parts"] == ["It began."]
    for declared in (DECLARED, '<!DOCTYPE x SYSTEM ">" [<!ATTLIST item more CDATA "much">]>'):
        assert "unusual XML" in why_not(papers.epub(["<p>x</p>"], before=declared))


@pytest.mark.parametrize("second", [0xE3, 0xF1, 0xF2, 0xF3, 0xF9, 0xFA, 0xFB])
def test_sound_without_a_header_is_detected_as_a_recording(second: int) -> None:
    frames = bytes([0xFF, second, 0x90, 0x64, 0x00, 0x1F]) + bytes(range(1, 256)) * 8
    assert file_types.detect_type(frames) == file_types.RECORDING


def test_texts_that_begin_like_sound_are_detected_as_text() -> None:
    for text in ("яблоко от яблони недалеко падает".encode("cp1251"), "words".encode("utf-16"), b"\xff"):
        assert file_types.detect_type(text) == file_types.PLAIN


def test_heic_and_avif_are_detected_as_pictures() -> None:
    for brand in (*file_types.HEIC_BRANDS, *file_types.AVIF_BRANDS):
        assert file_types.detect_type(b"\0\0\0\x18ftyp" + brand) == file_types.PICTURE
    assert file_types.detect_type(b"\0\0\0\x18ftypisom") == file_types.RECORDING
    assert is_kind(Attachment("document", "id", "unique", name="a.HEIF"), "image/", file_types.PICTURES)


LIMITED = pytest.mark.skipif(sys.platform != "linux", reason="limits are tested where they all are")


@LIMITED
@pytest.mark.parametrize(
    ("make", "words"),
    sampled(
        [
            (lambda: papers.docx("", **{"word/big.xml": b" " * 2**28 + b"<x/>"}), "unpacks to more"),
            (lambda: papers.docx("", **{"word/a.bin": DECLARED}), "unusual XML"),
            (lambda: papers.xlsx({"S": [["x"]]}, **{"xl/worksheets/sheet1.xml": b"<a>" * 2**24}), ""),
            (lambda: papers.docx("<w:tbl><w:tr><w:tc>" * 50_000), "damaged"),
            (lambda: papers.docx("<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 200_000), "unpacks to more"),
            (lambda: papers.docx(f"<w:p><w:r><w:t>{'a' * 10**8}</w:t></w:r></w:p>"), "unpacks to more"),
            (lambda: papers.docx("<w:p " + "".join(f" w:a{n}=''" for n in range(10**6)) + "/>"), "unpacks to more"),
        ],
        3,
    ),
)
async def test_a_decompression_bomb_is_refused_by_the_process(make: Callable[[], bytes], words: str) -> None:
    with pytest.raises(MediaRefused) as refused:
        await FileExtractor(seconds=30).open("document", make(), name="it", pages=100)
    assert words in str(refused.value)


MANY, LONG = "<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 60_000, f"<w:p><w:r><w:t>{'a' * 15 * 10**6}</w:t></w:r></w:p>"


@LIMITED
@pytest.mark.parametrize("body", sampled([LONG, MANY], 2))
async def test_the_largest_document_can_be_opened_on_a_small_machine(body: str) -> None:
    told, _ = await FileExtractor(memory=LEAST).open("document", papers.docx(body), name="it.docx", pages=100)
    assert told["parts"][0].startswith("a")


@LIMITED
async def test_a_zip_bomb_is_listed_and_not_unpacked() -> None:
    content = papers.packed({f"{number}.txt": b"a" * 2**26 for number in range(3)})
    told, _ = await FileExtractor(seconds=30).open("document", content, name="it.zip", pages=100)
    assert "67,108,864 bytes" in told["parts"][0]
    assert sum(map(len, told["parts"])) <= 1_500_000


@pytest.mark.slow("test_a_decompression_bomb_is_refused_by_the_process")
@LIMITED
async def test_a_pdf_bomb_ends_within_its_limits() -> None:
    began = time.monotonic()
    content = papers.pdf_of_streams(2**30)
    with contextlib.suppress(MediaRefused):
        told, _ = await FileExtractor(seconds=30).open("document", content, name="it.pdf", pages=100)
        assert sum(map(len, told["parts"])) <= 1_500_000
    assert time.monotonic() - began < 60


async def test_long_documents_are_read_within_seconds() -> None:
    page = "\n".join(f"Line {number} of the deed, in which nothing is said." for number in range(50))
    words = ("A paragraph of a very long text.\n" * 62_000).encode()
    for content, part in ((papers.pdf([page] * 100), "[page 1]"), (words, "A paragraph")):
        began = time.monotonic()
        told, _ = await FileExtractor().open("document", content, name="long", pages=100)
        assert told["parts"][0].startswith(part)
        assert time.monotonic() - began < 15

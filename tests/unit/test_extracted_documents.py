"""Documents of every kind become text, by their content; unusable ones say why."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.media.extraction.document import work
from relay.media.extraction.failure import Unusable
from relay.media.extraction.parts import MOST, PART, cut
from tests import papers
from tests.strategies import damaged, examples

ENTITIES = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


def told(content: bytes, name: str = "", pages: int = 100) -> dict[str, Any]:
    answer, made = work(content, name=name, pages=pages, shown=5_000_000)
    assert made == []
    return answer


def text_of(content: bytes, name: str = "") -> str:
    return "\n\n".join(told(content, name)["parts"])


def why_not(content: bytes, name: str = "", pages: int = 100) -> str:
    with pytest.raises(Unusable) as refused:
        work(content, name=name, pages=pages)
    return str(refused.value)


def test_a_pdf_is_shown_unchanged_and_its_text_is_kept_by_page() -> None:
    found = told(papers.pdf(["Notice period: six weeks", "Signed by Ada"]), "deed.pdf")
    assert found == {
        "kind": "PDF", "pages": 2, "whole": True, "note": "",
        "parts": ["[page 1]\nNotice period: six weeks\n\n[page 2]\nSigned by Ada"],
    }  # fmt: skip


def test_what_is_filled_into_the_form_of_a_pdf_is_kept() -> None:
    assert text_of(papers.pdf_form("Name:", "Ada Lovelace")) == "[page 1]\nName:\nAda Lovelace"


def test_a_hyphen_at_the_end_of_a_line_of_a_pdf_stays_unless_it_divides_a_word() -> None:
    content = papers.pdf(["The docu-\nment is signed by Anna-\nLena, COVID-\n19."])
    assert text_of(content) == "[page 1]\nThe document is signed by Anna-Lena, COVID-19."


def test_a_pdf_with_more_pages_than_can_be_shown_is_kept_as_text() -> None:
    found = told(papers.pdf(["one", "two", "three"]), pages=2)
    assert not found["whole"]
    assert "3 pages" in found["note"]
    assert "[page 3]\nthree" in found["parts"][0]
    assert "scans" in why_not(papers.pdf(["", "", ""]), pages=2)
    assert told(papers.pdf([""]))["whole"], "a scan is shown"


def test_a_pdf_with_a_password_says_so() -> None:
    assert "password" in why_not(papers.pdf(["secret"], password="hunter2"))
    found = told(papers.pdf(["restricted words"], password=""))
    assert "restricted words" in found["parts"][0]
    assert not found["whole"], "the model accepts no encrypted PDF"


def test_a_word_document_keeps_its_tables_and_lists() -> None:
    body = papers.paragraph("Lease &amp; notice") + papers.table(["Rent", "900"], ["Deposit", "1800"])
    found = told(papers.docx(body), "lease.docx")
    assert (found["kind"], found["whole"], found["note"]) == ("Word document", False, "")
    assert found["parts"] == ["Lease & notice\n\n| Rent | 900 |\n| --- | --- |\n| Deposit | 1800 |"]


MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
"""The namespace of equations."""


def sign(text: str) -> str:
    return f"<m:r><m:rPr/><m:t>{text}</m:t></m:r>"


def part(name: str, **parts: str) -> str:
    return f"<m:{name}>{''.join(f'<m:{one}>{text}</m:{one}>' for one, text in parts.items())}</m:{name}>"


SQUARE = part("sSup", e=sign("b"), sup=sign("2"))
EQUATIONS = {
    "x=(-b±√(b^2-4ac))/(2a)": sign("x=") + part(
        "f", num=sign("-b±") + part("rad", deg="", e=SQUARE + sign("-4ac")), den=sign("2a")),
    "∑_(i=0)^n x_i": part("nary", naryPr='<m:chr m:val="∑"/>', sub=sign("i=0"), sup=sign("n"), e=part(
        "sSub", e=sign("x"), sub=sign("i"))),
    "∫_0^1 (x|y]": part("nary", sub=sign("0"), sup=sign("1"), e="<m:d><m:dPr><m:endChr m:val=']'/></m:dPr>"
        f"<m:e>{sign('x')}</m:e><m:e>{sign('y')}</m:e></m:d>"),
    "(n¦2)": "<m:d><m:e><m:f><m:fPr><m:type m:val='noBar'/></m:fPr>"
        f"<m:num>{sign('n')}</m:num><m:den>{sign('2')}</m:den></m:f></m:e></m:d>",
    "[1, 0; 0, 1]": f"<m:m><m:mr><m:e>{sign('1')}</m:e><m:e>{sign('0')}</m:e></m:mr>"
        f"<m:mr><m:e>{sign('0')}</m:e><m:e>{sign('1')}</m:e></m:mr></m:m>",
    "lim_(x→0) sin x": part("func", fName=part("limLow", e=sign("lim"), lim=sign("x→0")), e=sign("sin x")),
    "8^(1/3)": part("rad", deg=sign("3"), e=sign("8")),
}  # fmt: skip


@pytest.mark.parametrize("line", EQUATIONS)
def test_an_equation_becomes_a_line_of_text(line: str) -> None:
    inline = f"<m:oMath {MATH}>{EQUATIONS[line]}</m:oMath>"
    body = f"<w:p><w:r><w:t>So </w:t></w:r>{inline}<w:r><w:t> holds.</w:t></w:r></w:p>"
    alone = f"<w:p><m:oMathPara {MATH}><m:oMathParaPr/>{inline}</m:oMathPara></w:p>"
    assert text_of(papers.docx(body + alone)) == f"So {line} holds.\n\n{line}"
    slide = papers.pptx([[f"So </a:t></a:r>{inline}<a:r><a:t> holds."]])
    assert text_of(slide) == f"[slide 1]\nSo {line} holds."


LETTERS = {name: f"<mi>{name}</mi>" for name in ("a", "b", "x", "i", "n", "ac", "sin", "lim")}
ROOT = f"<msqrt><mrow><msup>{LETTERS['b']}<mn>2</mn></msup><mo>−</mo><mn>4</mn>{LETTERS['ac']}</mrow></msqrt>"
MATHML = {
    "x=(−b±√(b^2−4ac))/(2a)": f"{LETTERS['x']}<mo>=</mo><mfrac><mrow><mo>−</mo>{LETTERS['b']}<mo>±</mo>{ROOT}</mrow>"
        f"<mrow><mn>2</mn>{LETTERS['a']}</mrow></mfrac>",
    "∑_(i=0)^nx_i": f"<munderover><mo>∑</mo><mrow>{LETTERS['i']}<mo>=</mo><mn>0</mn></mrow>{LETTERS['n']}</munderover>"
        f"<msub>{LETTERS['x']}{LETTERS['i']}</msub>",
    "8^(1/3)=2": "<mroot><mn>8</mn><mn>3</mn></mroot><mo>=</mo><mn>2</mn>",
    "[1, 0; 0, 1]": "<mtable>" + "".join(
        f"<mtr><mtd><mn>{one}</mn></mtd><mtd><mn>{1 - one}</mn></mtd></mtr>" for one in (1, 0)) + "</mtable>",
    "lim_(x→0)sin x": f"<munder>{LETTERS['lim']}<mrow>{LETTERS['x']}<mo>→</mo><mn>0</mn></mrow></munder>"
        f"{LETTERS['sin']}{LETTERS['x']}",
    "v\u20d7>0 if a": f"<mover><mi>v</mi><mo>\u20d7</mo></mover><mo>></mo><mn>0</mn><mtext> if </mtext>{LETTERS['a']}",
}  # fmt: skip


@pytest.mark.parametrize("line", MATHML)
def test_an_equation_of_libreoffice_or_a_book_becomes_a_line_of_text(line: str) -> None:
    annotation = "<annotation encoding='StarMath 5.0'>source</annotation>"
    math = f"<math xmlns='http://www.w3.org/1998/Math/MathML'><semantics><mrow>{MATHML[line]}</mrow>{annotation}</semantics></math>"
    frame = "<draw:frame><draw:object xlink:href='./Object 1'/><draw:image/><svg:desc>formula</svg:desc></draw:frame>"
    paper = papers.odt(f"So {frame} holds.", more=f"<draw:page>{frame}</draw:page>", **{"Object 1/content.xml": math})
    assert text_of(paper) == f"{line}\n\nSo {line} holds."
    assert (
        text_of(papers.odt(f"So <draw:frame><draw:object>{math}</draw:object></draw:frame> holds."))
        == f"So {line} holds."
    )
    assert text_of(papers.epub([f"<p>So {math} holds.</p>"])) == f"So {line} holds."


def test_an_object_that_is_no_equation_and_a_damaged_equation_are_left_out() -> None:
    frame = "<draw:frame><draw:object xlink:href='./Object {}'/></draw:frame>"
    paper = papers.odt(*(f"So{frame.format(number)}." for number in (1, 2, 3)), **{
        "Object 1/content.xml": "<chart><p>Sales</p></chart>", "Object 2/content.xml": "<math"})  # fmt: skip
    assert text_of(paper) == "So.\n\nSo.\n\nSo."
    assert text_of(b"<html><p>a <math>&b;</math> c <math><mi>d") == "a &b; c d"


def test_the_lines_above_and_below_the_pages_are_read_once() -> None:
    root = f'<w:hdr xmlns:w="{papers.WORD}">{{}}</w:hdr>'
    header = papers.paragraph("ACME Ltd, 1 Main Street") + papers.paragraph("1")
    margins = {"word/header1.xml": root.format(header), "word/header2.xml": root.format(header)}
    margins["word/footer1.xml"] = root.format(papers.paragraph("Invoice 4711"))
    expected = "Dear Ada\n\nHeaders and footers:\nInvoice 4711\nACME Ltd, 1 Main Street"
    assert text_of(papers.docx(papers.paragraph("Dear Ada"), **margins)) == expected
    base = "urn:oasis:names:tc:opendocument:xmlns"
    names = f'xmlns:style="{base}:style:1.0" xmlns:text="{base}:text:1.0"'
    page = "<style:header><text:p>ACME Ltd</text:p></style:header><style:footer><text:p>4</text:p></style:footer>"
    styles = f"<style:master-page {names}>{page}</style:master-page>"
    assert text_of(papers.odt("Dear Ada", **{"styles.xml": styles})) == "Dear Ada\n\nHeaders and footers:\nACME Ltd"


def test_raised_digits_stay_raised() -> None:
    raised = "<w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr><w:t>6</w:t></w:r>"
    assert text_of(papers.docx(f"<w:p><w:r><w:t>10</w:t></w:r>{raised}</w:p>")) == "10⁶"
    assert text_of(b"<html><p>5 m<sup>-2</sup>, the 1<sup>st</sup>, H<sub>2</sub>O") == "5 m⁻², the 1st, H2O"
    slide = papers.pptx([["10</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>6"]])
    assert text_of(slide) == "[slide 1]\n10⁶"
    style = "<style:style style:name='T1'><style:text-properties style:text-position='super 58%'/></style:style>"
    span = "<text:span text:style-name='{}'>6</text:span>"
    assert text_of(papers.odt(f"10{span.format('T1')}, 10{span.format('T2')}", more=style)) == "10⁶, 106"


def test_a_spreadsheet_is_read_sheet_by_sheet() -> None:
    rows = [["Item", "Price"], ["Tea", 3], ["Cake", 4.5], ["Total", 1.1 * 3]]
    assert text_of(papers.xlsx({"Bill": rows, "Empty": []})) == (
        "## Bill\n\nItem | Price\nTea | 3\nCake | 4.5\nTotal | 3.3\n\n## Empty"
    )
    assert why_not(papers.xlsx({"Empty": []})) == "There's no text in it."


def test_slides_are_read_in_order_with_their_notes() -> None:
    content = papers.pptx([["Plan", "First point"], ["End"]], {2: "Thank them"})
    assert text_of(content) == "[slide 1]\nPlan\nFirst point\n\n[slide 2]\nEnd\nNotes:\nThank them"


def test_the_charts_and_diagrams_of_a_slide_are_read() -> None:
    chart = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    pairs = {"cat": ("East", "West"), "val": ("19.2", "21.4")}
    rows = "".join(f"<c:{tag}>{''.join(f'<c:v>{one}</c:v>' for one in row)}</c:{tag}>" for tag, row in pairs.items())
    series = f"<c:ser><c:tx><c:v>Revenue</c:v></c:tx>{rows}</c:ser>"
    content = papers.pptx([["Sales"]], **{
        "ppt/slides/_rels/slide1.xml.rels": papers.relations(
            ("r1", "chart", "../charts/chart1.xml"), ("r2", "diagramData", "../diagrams/data1.xml")),
        "ppt/charts/chart1.xml": f'<c:chart xmlns:c="{chart}">{series}</c:chart>',
        "ppt/diagrams/data1.xml": f'<x xmlns:a="{papers.DRAWING}"><a:p><a:r><a:t>First step</a:t></a:r></a:p></x>',
    })  # fmt: skip
    assert text_of(content) == "[slide 1]\nSales\nRevenue: East 19.2, West 21.4\nFirst step"


def test_a_book_is_read_in_the_order_of_its_chapters() -> None:
    content = papers.epub(["<h1>One</h1><p>It began.</p>", "<h1>Two</h1><p>It <i>ended</i>.</p>"])
    assert text_of(content) == "# One\n\nIt began.\n\n# Two\n\nIt *ended*."


def test_an_opendocument_file_is_read() -> None:
    assert text_of(papers.odt("Dear Ada", "Yours, Ben")) == "Dear Ada\n\nYours, Ben"


def test_an_opendocument_file_is_read_without_comments_and_deleted_words() -> None:
    space, note = "<text:s text:c='2'/>", "<text:note><text:note-citation>1</text:note-citation>{}</text:note>"
    body = "<text:note-body><text:p>a month</text:p></text:note-body>"
    remark = "<office:annotation><text:p>too high</text:p></office:annotation>"
    deleted = "<text:deletion><text:p>deleted</text:p></text:deletion>"
    row = f"<table:table-cell><text:p>{{}}</text:p>{remark}</table:table-cell>"
    content = papers.odt(
        f"Ada<text:line-break/>1 Main Street<text:tab/>Bern{space}CH",
        f"Rent{remark} is 900{note.format(body)}.",
        "before<text:section><text:p>boxed</text:p></text:section>after",
        more=f"<text:tracked-changes>{deleted}</text:tracked-changes>"
        f"<table:table><table:table-row>{row.format('A')}<table:table-cell/>{row.format('B')}</table:table-row></table:table>",
    )
    assert (
        text_of(content) == "A |  | B\n\nAda\n1 Main Street\tBern CH\n\nRent is 900 (a month).\n\nbefore\nboxed\nafter"
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_a_text_is_read_in_its_encoding(encoding: str) -> None:
    words = "Kündigungsfrist: sechs Wochen – größer"
    assert text_of(words.encode(encoding), "note.txt") == words


def test_a_text_in_an_eastern_encoding_is_guessed() -> None:
    words = "Срок уведомления составляет шесть недель, договор подписан сторонами в Москве."
    assert text_of(words.encode("cp1251")) == words


OLD = {
    "Zażółć. Proszę o przesłanie podpisanej umowy najmu do końca września, a klucze zostawię u sąsiada.": (
        "cp1250", "iso-8859-2"),
    "Prosím o zaslání podepsané nájemní smlouvy do konce září. Klíče nechám u souseda, který bydlí vedle.": (
        "cp1250", "iso-8859-2"),
    "A bérleti szerződést kérjük aláírva visszaküldeni. A kulcsokat a szomszédnál hagyom, ő itthon lesz.": (
        "cp1250", "iso-8859-2"),
    "İmzalı kira sözleşmesini ay sonuna kadar göndermenizi rica ederim. Anahtarları komşuya bırakacağım.": (
        "cp1254", "iso-8859-9"),
    "Прошу прислать подписанный договор аренды до конца сентября. Ключи оставлю у соседа.": ("cp1251", "koi8-r"),
    "אנא שלחו את חוזה השכירות החתום עד סוף החודש. את המפתחות אשאיר אצל השכן, שגר בקומה השנייה."
    " תודה רבה על הסבלנות, ולהתראות בשבוע הבא במשרד": ("cp1255", "iso-8859-8"),
    "Prašome atsiųsti pasirašytą nuomos sutartį iki mėnesio pabaigos. Raktus paliksiu kaimynui šalia.": ("cp1257",),
    "Παρακαλώ να στείλετε το υπογεγραμμένο μισθωτήριο μέχρι το τέλος Σεπτεμβρίου.": ("cp1253", "iso-8859-7"),
    "Merci d’envoyer le bail signé avant la fin août ; les clés « de réserve » sont à côté.": ("cp1252",),
    "Leigusamningurinn rennur út í lok mars og lyklarnir eru hjá nágrannanum, sem býr við hliðina.": ("cp1252",),
    "È arrivata la bolletta, perché non l’hai pagata? Lunedì la pagherò, ma costa di più della metà.": ("cp1252",),
    "Der Mietvertrag läuft – wie üblich – bis Ende März; die Schlüssel sind größtenteils zurück.": ("cp1252",),
    "Solicito o envio do contrato até amanhã; não há ninguém em casa à noite, só o cão.": ("cp1252", "iso-8859-1"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "encoding"), [(words, one) for words, codes in OLD.items() for one in codes])
def test_a_text_in_an_old_encoding_is_read(words: str, encoding: str) -> None:
    assert text_of(words.encode(encoding), "a.txt") == words


@pytest.mark.parametrize(("words", "encoding"), [("Сумма: Покупка", "cp1251"), ("Ημερομηνία;Ποσό;Περιγραφή", "cp1253")])
def test_a_table_with_a_few_words_in_an_eastern_encoding_is_read(words: str, encoding: str) -> None:
    table = f"{words}\n" + "01.02.2026;100;200\n" * 20
    assert text_of(table.encode(encoding), "a.csv") == table.strip()


def test_a_table_with_a_few_western_words_is_read() -> None:
    western = "Größe;Café “Ü”;§§ 5\n" + "01.02.2026;100;200\n" * 20
    assert text_of(western.encode("cp1252"), "a.csv") == western.strip()


@pytest.mark.parametrize(
    "words",
    [
        "Total: £5.00 and £10", "© 2026 ACME™ and Foo® are ours", "The tank holds 5 m³ on 20 m²", "It is 20 °C",
        "10 µm ±2, 5 µg", "• one\n• two", "¿Qué tal? Señor Núñez pagó £5", "¾ of it, ¼ left", "1º piso, 2ª puerta",
        "50 ¥", "x × y ÷ z", "add ½ cup", "It’s “fine” – really…", "We met in the Café", "Paid to Müller: £5 • thanks",
    ],
)  # fmt: skip
def test_a_sign_in_a_western_text_is_no_letter(words: str) -> None:
    assert text_of(words.encode("cp1252"), "a.txt") == words


@pytest.mark.parametrize("words", ["Łódź i Kraków; a ŁUKASZ zjadł", "Ľubomír pozval ľudí, ŽLTÝ dom a kôň ostali"])
@pytest.mark.parametrize("encoding", ["cp1250", "iso-8859-2"])
def test_letters_that_are_signs_elsewhere_are_read(words: str, encoding: str) -> None:
    assert text_of(words.encode(encoding), "a.txt") == words


@pytest.mark.parametrize("encoding", ["cp850", "mac_roman"])
def test_a_german_text_in_the_encoding_of_dos_or_an_old_mac_is_read(encoding: str) -> None:
    words = "Die Schlüssel für die Wohnung hängen an der Tür, größer als üblich."
    assert text_of(words.encode(encoding), "a.txt") == words


def test_a_text_in_utf8_with_a_damaged_character_is_still_read_as_utf8() -> None:
    content = "Grüße aus Köln. ".encode() * 20 + b"\xff" + "Schöne Straße".encode()
    assert text_of(content, "a.log") == "Grüße aus Köln. " * 20 + "\ufffdSchöne Straße"


def test_the_declared_encoding_of_xml_counts_and_a_wrong_one_of_a_page_does_not() -> None:
    xml = '<?xml version="1.0" encoding="iso-8859-2"?><a>Łódź, žluť</a>'
    assert text_of(xml.encode("iso-8859-2"), "a.xml") == xml
    assert text_of('<html><meta charset="utf-8"><p>Größe und Maß'.encode("cp1252")) == "Größe und Maß"


def test_a_web_page_becomes_its_text() -> None:
    page = b"<!-- x --><!doctype html><title>T</title><script>evil()</script><ul><li>one<li>two</ul><p>caf&eacute;"
    assert text_of(page, "page.txt") == "T\n\n- one\n- two\n\ncafé"
    declared = '<html><meta charset="iso-8859-2"><p>Łódź'.encode("iso-8859-2")
    assert text_of(declared) == "Łódź"


def test_soft_hyphens_split_no_words() -> None:
    assert text_of(papers.epub(["<p>Die Kün&#173;di&shy;gung"])) == "Die Kündigung"
    assert text_of("Kün\u00addi\u00adgung".encode(), "a.txt") == "Kündigung"


def test_json_and_code_stay_unchanged() -> None:
    code = '{"a": [1, 2],\n    "b": "<html>"}'
    assert text_of(code.encode(), "a.json") == code


def test_an_archive_is_listed_and_its_texts_are_read() -> None:
    inner = papers.packed({"deep.txt": "not reached"})
    content = papers.packed(
        {"docs/a.txt": "alpha", "../../etc/passwd": "beta", "inner.zip": inner, "p.png": b"\x89PNG\r\n\x1a\n\0\0"}
    )
    found = told(content, "things.zip")
    (part,) = found["parts"]
    assert "An archive of 4 files:" in part
    assert "- ../../etc/passwd (4 bytes)" in part
    assert "=== docs/a.txt ===\nalpha" in part
    assert "beta" in part
    assert "not reached" not in part
    assert "2 other files" in found["note"]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_file_in_an_archive_is_named_and_the_others_are_read(method: int) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as made:
        for name in ("a", "b", "c"):
            made.writestr(f"{name}.txt", f"{name} is here " * 40)
    content = bytearray(archive.getvalue())
    begin = content.index(b"b.txt") + len("b.txt")
    for at in range(begin + 9, content.index(b"PK", begin)):
        content[at] ^= 0x5A
    found = told(bytes(content), "things.zip")
    assert "a is here" in found["parts"][0]
    assert "b is here" not in found["parts"][0]
    assert "c is here" in found["parts"][0]
    assert found["note"] == "I couldn't unpack b.txt."


@pytest.mark.parametrize(
    ("damaged", "names"), [(2, "0.txt and 1.txt"), (3, "0.txt, 1.txt and 2.txt"), (5, "0.txt, 1.txt, 2.txt and 2 more")]
)
def test_damaged_files_in_an_archive_are_named_as_a_list(damaged: int, names: str) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        for number in range(6):
            made.writestr(f"{number}.txt", f"{number} is here")
    content = archive.getvalue()
    for number in range(damaged):
        content = content.replace(f"{number} is here".encode(), f"{number} is gone".encode())
    assert told(content, "things.zip")["note"] == f"I couldn't unpack {names}."


def test_an_archive_made_on_a_mac_shows_its_names_and_no_files_of_its_own() -> None:
    content = papers.packed({"Kuxxndigung.txt": "alpha", "__MACOSX/._Kuxxndigung.txt": b"\0\5\x16\7"})
    found = told(content.replace(b"uxx", "u\u0308".encode()))
    assert found["parts"] == ["An archive of 1 file:\n- Kündigung.txt (5 bytes)\n\n=== Kündigung.txt ===\nalpha"]
    assert found["note"] == ""


def test_a_long_text_in_an_archive_is_cut_with_a_note() -> None:
    found = told(papers.packed({"a.log": "line\n" * 300_000, "p.png": b"\x89PNG\r\n\x1a\n\0\0"}))
    assert found["note"] == (
        "I read the texts in it, and didn't open 1 other file. I read only the beginning of texts over 1 MB."
    )
    assert told(papers.packed({"a.log": "line\n" * 200_000}))["note"] == ""


def test_a_locked_archive_lists_its_file_names() -> None:
    found = told(papers.locked(papers.packed({"secret.txt": "x"})))
    assert "secret.txt" in found["parts"][0]
    assert "password" in found["note"]
    assert "password" in why_not(papers.locked(papers.docx(papers.paragraph("x"))))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (papers.ole("WordDocument"), "save it as .docx"),
        (papers.ole("PowerPoint Document"), "save it as .pptx"),
        (papers.ole("EncryptedPackage"), "password"),
        (papers.packed({"Index/Document.iwa": b"x"}), "Pages"),
        (b"Rar!\x1a\x07\x00", ".rar"),
        (b"7z\xbc\xaf\x27\x1c", ".7z"),
        (b"\x1f\x8b\x08", ".gz"),
        (b"{\\rtf1", "RTF"),
        (b"\x7fELF\0\0\0", "I can't read .run files"),
        (b"  \n ", "empty"),
        (b"%PDF-1.7 and nothing more", "damaged"),
        (papers.docx("x")[:-40], "damaged"),
        (papers.packed({}), "empty archive"),
    ],
)
def test_an_unreadable_file_says_why(content: bytes, words: str) -> None:
    assert words in why_not(content, "it.run")


def test_a_wrong_file_extension_is_noted_and_ignored() -> None:
    found = told(papers.docx(papers.paragraph("words")), "holiday.pdf")
    assert found["note"] == "It's called .pdf, but it's a Word document."
    assert found["parts"] == ["words"]
    assert told(b"just words", "a.docx")["note"] == "It's called .docx, but it's a text."
    assert told(b"\x89PNG\r\n\x1a\n", "a.pdf") == {"kind": "picture"}
    assert told(b"OggS" + b"\0" * 50, "a.txt") == {"kind": "recording"}
    assert told(papers.pdf(["x"]), "a.txt")["kind"] == "PDF"


def test_a_binary_file_named_as_text_is_refused() -> None:
    assert why_not(b"\0\1\2" * 50, "note.txt") == "It isn't what its name says, or it's damaged."


def test_xml_entities_are_not_expanded() -> None:
    assert "unusual XML" in why_not(papers.docx(papers.paragraph("&b;"), before=ENTITIES))
    slides = papers.pptx([["x"]])
    assert told(slides)["kind"] == "presentation"
    wide = papers.docx("", **{"word/styles.xml": ENTITIES.encode("utf-16-le")})
    assert "unusual XML" in why_not(wide)


@pytest.mark.slow("test_a_zip_bomb_is_listed_and_not_unpacked")
def test_files_that_unpack_to_too_much_are_not_unpacked() -> None:
    bomb = b" " * 2**28 + b"<x/>"
    assert "unpacks to more" in why_not(papers.docx("", **{"word/big.xml": bomb}))
    found = told(papers.packed({"big.txt": b"a" * 2**26, "small.txt": "kept"}))
    assert sum(map(len, found["parts"])) <= MOST
    assert any("kept" in part for part in found["parts"])


def test_a_long_text_is_cut_at_paragraphs_and_bounded() -> None:
    paragraphs = [f"Paragraph {number}. " + "word " * 100 for number in range(3000)]
    found = told("\n\n".join(paragraphs).encode(), "long.txt")
    assert all(PART / 2 < len(part) <= PART for part in found["parts"][:-1])
    assert all(part.startswith("Paragraph ") for part in found["parts"])
    assert "1,500,000" in found["note"]
    assert sum(map(len, found["parts"])) <= MOST


@given(st.text(max_size=30_000))
@examples(60)
def test_the_parts_hold_the_whole_text(text: str) -> None:
    parts, kept, full = cut(text)
    assert kept == full
    assert all(parts)
    assert all(len(part) <= PART for part in parts)
    lost = set(text) - set("".join(parts))
    assert all(not c.isprintable() or c.isspace() for c in lost)


FILES = [
    papers.docx(papers.paragraph("words") + papers.table(["a", "b"])),
    papers.xlsx({"S": [["a", 1], ["b", 2]]}),
    papers.pptx([["one"], ["two"]], {1: "note"}),
    papers.epub(["<p>one</p>", "<p>two</p>"]),
    papers.odt("one"),
    papers.packed({"a.txt": "alpha", "b/c.md": "beta"}),
    papers.pdf(["one", "two"]),
    papers.pdf(["one"], password=""),
    "Grüße – Привет".encode("utf-16"),
    b"<html><table><tr><td><ul><li>x</table>",
]


@given(st.sampled_from(FILES).flatmap(damaged))
@examples(300)
def test_a_damaged_file_gives_a_text_or_is_refused(content: bytes) -> None:
    try:
        answer, _ = work(content, name="x.docx", pages=10)
    except Exception:  # the separate process reports every unforeseen error as "damaged"
        return
    assert answer["kind"]
    assert sum(map(len, answer.get("parts", []))) <= MOST


def test_a_pdf_of_more_bytes_than_can_be_shown_is_kept_as_text() -> None:
    content = papers.pdf(["one", "two"])
    told, _ = work(content, "a.pdf", shown=len(content))
    assert told["whole"]
    told, _ = work(content, "a.pdf", shown=len(content) - 1)
    assert not told["whole"]
    assert "too large for me to look at" in told["note"]
    assert "two" in told["parts"][0]

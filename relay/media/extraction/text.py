"""Plain text, code, tables and web pages, in any encoding."""

from __future__ import annotations

import codecs
import re
from typing import Any

from relay.media.extraction.failure import Unusable
from relay.media.extraction.file_types import ENDINGS
from relay.media.extraction.markup import to_markdown
from relay.media.extraction.parts import MOST

SAMPLE = 65_536
BYTES = 4 * MOST
"""How many bytes are read: enough for the text that is stored."""
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
CONTROLS = re.compile(r"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
WEB_PAGE = re.compile(
    r"\s*+(?:<\?xml[^>]{0,500}+>\s*+)?+(?:<!--.*?-->\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Matches the beginning of a web page. Its quantifiers are possessive, so a comment ends at the first possible
place."""
DECLARED = re.compile(
    rb"(?:<meta[^>]{0,200}charset=|<\?xml[^>]{0,100}encoding=)[\"']?(?!utf)([\w-]{2,20})", re.IGNORECASE
)
"""Matches the encoding that a page or an XML file declares. Text that isn't UTF-8 may still be declared as that."""
NEIGHBOURS = re.compile(rb"[\x80-\xff](?=[\x80-\xff])")
"""Matches letters beyond ASCII that are next to each other, as they rarely are in a language with Latin letters."""
EASTERN = (
    "ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž", "ăâîşţ",
)  # fmt: skip
CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяё"
LATIN = {
    "cp1254": ("çğıöşüâîû\u0307",),
    "cp1252": (
        "äöüß", "àâæçéèêëîïôœùûüÿ", "áéíóúüñ¿¡ªº", "àèéìíòóùú", "ãõáéíóúâêôàçªº", "ëïéèöüáóê", "åäöéæø", "áðéíóúýþæö",
        "àçèéíïòóúü·",
    ),
    "cp1250": EASTERN,
    "iso-8859-2": EASTERN,
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž"),
}  # fmt: skip
"""The letters beyond ASCII of languages, by encoding. In doubt, a text is in the first encoding, which differs from the
next only in Turkish letters."""
OLDER = {"cp850": ("äöüß", "àâæçéèêëîïôùûü"), "mac_roman": ("äöüß", "àâæçéèêëîïôœùûüÿ")}
"""The same for encodings of DOS and old Macs, for texts with hardly any other letters beyond ASCII."""
ALONE = re.compile(
    rb"(?<![A-Za-z\x80-\xff])(?:[\xa1-\xbf](?![A-Za-z\xc0-\xff])|\xb0(?=[CF]\b)|\xb5(?=[AFVWglms]\b))"
    rb"|(?<=m)[\xb2\xb3](?![A-Za-z\x80-\xff])|(?<=[a-z])[\xa1-\xaf](?![A-Za-z\x80-\xff])"
)
"""Matches symbols such as £, ©, ² and °, which are letters in other encodings, where no letter can be."""
OTHERS = {
    "cp1255": ("אבגדהוזחטיךכלםמןנסעףפץצקרשת",),
    "cp1251": (CYRILLIC, CYRILLIC + "іїєґў"),
    "koi8-r": (CYRILLIC,),
    "cp1253": ("αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώ",),
}
"""The same for languages that use no ASCII letters. Their capitals are small letters in another encoding. Hebrew
letters are Russian ones in cp1251, but a Russian text of any length has others, too."""
SIGNS = "«»„“”‚‘’–—…°§€\xa0×÷•™†‡‰‹›"
"""Punctuation and symbols of all these languages."""
TEXTS = ("txt", "md", "csv", "tsv", "json", "xml", "html", "htm", "log", "py", "js", "ts", "yaml", "yml", "ini", "sql")
NOT_SO = "It isn't what its name says, or it's damaged."
UNKNOWN = (
    "I can't read {what}. I read PDF, Word, Excel, PowerPoint and EPUB files, texts of every kind, web pages and zip "
    "archives."
)


def read(content: bytes, name: str) -> dict[str, Any]:
    """Returns `{kind, text, note}`. Raises `Unusable` if it is not text."""
    text = decode(content)
    if text is None:
        ending = name.rpartition(".")[2].lower() if "." in name else ""
        if ending in TEXTS or ending in ENDINGS:
            raise Unusable(NOT_SO)
        raise Unusable(UNKNOWN.format(what=f".{ending} files" if ending.isalnum() else "this kind of file"))
    if WEB_PAGE.match(text[:SAMPLE]):
        return {"kind": "web page", "text": to_markdown(text), "note": ""}
    return {"kind": "text", "text": text, "note": ""}


def decode(content: bytes) -> str | None:
    """Returns a text, decoded by its byte order mark, as UTF-8, or in the most likely encoding; None if it is not
    text."""
    content = content[:BYTES]
    encoding = next((encoding for mark, encoding in MARKS if content.startswith(mark)), None) or _wide(content)
    if encoding is None and b"\0" in content[:SAMPLE]:
        return None
    text = content.decode(encoding, "replace") if encoding else _utf8(content) or _guess(content)
    head = text[:SAMPLE]
    return None if len(CONTROLS.findall(head)) > len(head) / 100 else text


def _wide(content: bytes) -> str | None:
    """Detects UTF-16 without a mark, in which every other byte of Western text is zero."""
    head = content[:SAMPLE]
    half = len(head) // 2
    for encoding, zeros in (("utf-16-le", head[1::2].count(0)), ("utf-16-be", head[::2].count(0))):
        if zeros > 0.6 * half and head.count(0) < 1.1 * zeros:
            return encoding
    return None


def _utf8(content: bytes) -> str | None:
    """Returns the text if it is UTF-8, even if its last character is cut off, or a few are damaged; else None."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        if error.start >= len(content) - 3 and not content[: error.start].isascii():
            return content[: error.start].decode()
    text = content.decode(errors="replace")
    damaged = text.count("\ufffd")
    return text if len(text) - len(text.encode("ascii", "ignore")) > 5 * damaged else None


def _guess(content: bytes) -> str:
    """Decodes other text: as a page declares, else in the encoding that gives the letters of one language. If much of
    it or whole words are beyond ASCII, and no encoding does, as detected."""
    declared = DECLARED.search(content[:4096])
    head = ALONE.sub(b"", content[:SAMPLE])
    high = bytes(byte for byte in head if byte >= 0x80)
    if declared:
        encoding = declared[1].decode()
    elif len(high) <= len(head) / 4 and 2 * len(NEIGHBOURS.findall(head)) <= len(high):
        letters = {one: _count(high.decode(one, "replace").lower(), used) for one, used in (LATIN | OLDER).items()}
        encoding = max(LATIN, key=letters.__getitem__)
        older = max(OLDER, key=letters.__getitem__)
        if letters[older] > max(letters[encoding], 0.9 * len(high)):
            encoding = older
    else:
        letters = {one: _count(high.decode(one, "replace"), OTHERS[one]) for one in OTHERS}
        encoding = max(letters, key=letters.__getitem__)
        if letters[encoding] < 0.9 * len(high) or (encoding == "cp1255" and len(high) < 100):
            from charset_normalizer import from_bytes

            guess = from_bytes(head, cp_exclusion=["mac_cyrillic", "mac_greek"]).best()
            encoding = guess.encoding if guess else "cp1252"
    try:
        return content.decode(encoding, "replace")
    except (LookupError, ValueError):
        return content.decode("cp1252", "replace")


def _count(text: str, alphabets: tuple[str, ...]) -> int:
    """Returns how many letters of a text are those of one language."""
    return max(sum(map(text.count, letters + SIGNS)) for letters in alphabets)

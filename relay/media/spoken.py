"""Converts a text to a form for speech: without markup, code, addresses, tables and emoji, and not too long. Pure;
never raises."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pyromark
import structlog

from relay.clients.speech.language import language_of

log = structlog.get_logger()

MOST = 1_500
"""How many characters are spoken: about a minute and a half."""
_WRITTEN = 10
"""How many times as many characters are examined, including code and tables."""
_PROSE = 4
"""How many times as many characters of prose are examined."""
_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_MATH
)
_IN_THE_TEXT = {
    "en": ("The code is in the text.", "The table is in the text."),
    "de": ("Der Code steht im Text.", "Die Tabelle steht im Text."),
    "fr": ("Le code est dans le texte.", "Le tableau est dans le texte."),
    "es": ("El código está en el texto.", "La tabla está en el texto."),
    "it": ("Il codice è nel testo.", "La tabella è nel testo."),
    "pt": ("O código está no texto.", "A tabela está no texto."),
    "nl": ("De code staat in de tekst.", "De tabel staat in de tekst."),
    "ru": ("Код есть в тексте.", "Таблица есть в тексте."),
    "pl": ("Kod jest w tekście.", "Tabela jest w tekście."),
    "tr": ("Kod metinde.", "Tablo metinde."),
    "ar": ("الرمز موجود في النص.", "الجدول موجود في النص."),
    "ja": ("コードは本文にあります。", "表は本文にあります。"),
    "zh": ("代码在文字中。", "表格在文字中。"),
}
"""The text that is said instead of code and of a table, by language."""
_ENDS = frozenset({"Paragraph", "Heading", "Item", "BlockQuote", "CodeBlock", "Table", "HtmlBlock"})
"""Elements that end with a pause."""
_ADDRESS = re.compile(
    r"(?:[\w+.-]{0,20}+://|www\.)\S*"
    r"|(?<![\w-])(?<![\w-]\.)[\w-]++(?:\.[\w-]++)++(?<=[^\W\d_])(?::\d++)?+/\S*"
    r"|(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++",
    re.I,
)
"""Matches an address. Tried only at the start of a name and without backtracking, so a long word is read once. A host
ends with a letter; 4.5/5 is a number."""
_WORDS = re.compile(r"[\w .,:'’+-]{1,40}")
"""Matches code that can be spoken like words."""
_MARKS = re.compile(r"[*_`#~|<>\[\]{}\\^\u200b\u2060\ufeff]+")
_SAID = "°№%"
"""Signs that a voice can speak."""
_SILENT = ("So", "Sk", "Cs", "Co", "Cn", "Cc", "Cf")
"""Categories of characters that a voice can't speak: emoji and their parts."""
_JOINERS = "\u200c\u200d"
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)]*+(?=\s)|[。！？।؟]++[\"'”’»」)]*+")
_PAUSE = tuple(".!?…:;,。！？、।؟،")


def to_speech(markdown: str, most: int = MOST) -> str:
    """Returns Markdown as speech, at most `most` characters, cut at a sentence; empty if nothing can be spoken."""
    markdown = markdown[: _WRITTEN * most].encode("utf-8", "replace").decode()
    try:
        written = _collect_words(markdown, _PROSE * most)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the Rust parser is not an Exception
        log.warning("spoken without parsing its Markdown", error=type(error).__name__)
        written = markdown
    lines = (_clean(line) for line in written[: _PROSE * most].split("\n") if line)
    text = " ".join(line if line.endswith(_PAUSE) else f"{line}." for line in lines if re.search(r"\w", line))
    return _cut(text, most)


def _collect_words(markdown: str, most: int) -> str:
    """Returns the words of a text, one line per pause; at least about `most` characters."""
    words: list[str] = []
    length = 0
    skipping = 0
    code, table = _IN_THE_TEXT.get(language_of(_prose(markdown)), _IN_THE_TEXT["en"])
    said: set[str] = set()
    for event in pyromark.events(markdown, options=_OPTIONS):
        if length > most:
            break
        key, value = _payload(event)
        name = _name(value) if key in ("Start", "End") else ""
        if name in ("CodeBlock", "Table"):
            skipping += 1 if key == "Start" else -1
            line = code if name == "CodeBlock" else table
            if key == "Start" and line not in said:
                said.add(line)
                words.append(f"\n{line}")
        if name in _ENDS:
            words.append("\n")
        elif skipping:
            continue
        elif key == "Text" or (key in ("Code", "InlineMath", "DisplayMath") and _WORDS.fullmatch(value)):
            words.append(value)
            length += len(value)
        elif key in ("SoftBreak", "InlineHtml"):
            words.append(" ")
        elif key in ("HardBreak", "Rule"):
            words.append("\n")
    return "".join(words)


def _prose(markdown: str) -> str:
    """Removes fenced code and tables, approximately, to detect the language."""
    return re.sub(r"(?ms)^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)|^[ \t]*\|[^\n]*", " ", markdown)


def _payload(event: Any) -> tuple[str, Any]:
    return (event, None) if isinstance(event, str) else next(iter(event.items()))


def _name(tag: Any) -> str:
    return tag if isinstance(tag, str) else str(next(iter(tag)))


def _clean(line: str) -> str:
    """Removes addresses, markup and emoji from a line."""
    line = _MARKS.sub(" ", _ADDRESS.sub(" ", line))
    signs = [
        sign if sign in _SAID or sign in _JOINERS or unicodedata.category(sign) not in _SILENT else " " for sign in line
    ]
    line = re.sub(r"(?<!\w)[\u200c\u200d]+|[\u200c\u200d]+(?!\w)|[\ufe0e\ufe0f\u20e3]", "", "".join(signs))
    line = re.sub(r"\([,;:.\s]*+\)", " ", line)
    # The rest may look like an address now that something inside it is gone.
    line = _ADDRESS.sub(" ", line)
    return re.sub(r"\s+([,.;:!?])", r"\1", " ".join(line.split()))


def _cut(text: str, most: int) -> str:
    """Returns the sentences that fit; if the first doesn't, its words."""
    if len(text) <= most:
        return text
    head = text[: most + 1]
    ends = [found.end() for found in _END.finditer(head) if found.end() <= most]
    if ends and ends[-1] > most // 4:
        return head[: ends[-1]]
    return head[: max(head.rfind(" ", 0, most), 0) or most].rstrip(" ,;:–-")

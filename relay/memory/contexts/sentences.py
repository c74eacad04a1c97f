"""Splits texts into whole sentences, and finds what may matter later in each. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from relay.core.frozen import frozen

CODE = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^[ \t]*+\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
"""A fenced code block, which stays whole."""
TABLE = re.compile(rf"{CODE.pattern}|(?P<table>(?:^[ \t]*+\|[^\n]*+(?:\n|\Z))++)", CODE.flags)
"""The lines of a table, or a block of code, which may look like one."""
RULE = re.compile(r"[\s|:-]++")
"""The line under the names of a table's columns."""
END = re.compile(r"(?:(?<![.!?…؟۔])[.!?…؟۔]++[\"'”’»)\]*_]*+(?=\s)|[。！？｡]+[」』”’]*)\s*")
SHORT = re.compile(
    r"(?:^|[\s(])(?:\w|\d+|[A-Za-z]\.[A-Za-z]|[DMS]r|Mrs|Ms|St|Prof|bzw|ca|Nr|No|vgl|etc|approx|usw|inkl|evtl"
    r"|Hr|Fr|Str|Tel|[DS]ra|Srta|Uds?|Avda?|Mme|Mlle|[Ss]ig|Dott(?:\.ssa)?|[Пп]роф|[Уу]л|[Uu]l|np|tzn"
    r"|godz|inż|mgr|Sn|Doç|Cad|Sok|örn)\.$"
)
"""Words that end with a full stop without ending a sentence: an initial, a day of a month, an abbreviation."""
SHORT_LENGTH = 40
"""The most characters at the end of a sentence in which one is searched for."""
WORD = re.compile(r"[^\W\d_][\w'’-]+")
NUMBER_WORD = re.compile(r"\d+")
DATES = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|august|"
    r"september|october|november|december|to(?:day|morrow|night)|yesterday|week|month|year|(?:mon|diens|donners|frei|"
    r"sams|sonn)tag|mittwoch|januar|februar|märz|mai|juni|juli|oktober|dezember|heute|morgen|gestern|woche|monat|jahr)",
    re.IGNORECASE,
)
SETTLES = re.compile(
    r"\b(?:decid|agree|settl|chose|choos|final|result|conclu|recommend|go with|went with|in total|deadline|plan is|"
    r"entschied|entscheid|einig|ergebnis|beschloss|beschluss|empfehl|insgesamt|fest(?:gelegt|halten)|frist)",
    re.IGNORECASE,
)
"""Words for decisions and results."""


@frozen
class Sentence:
    """A whole sentence of a text, or a block of code."""

    place: int
    """Its place among the sentences of its text."""
    text: str
    begins_line: bool

    @property
    def size(self) -> int:
        """Returns its size in bytes."""
        return len(self.text.encode("utf-8", "replace"))


def sentences_of(text: str) -> list[Sentence]:
    """Returns the sentences of a text. A line break ends a sentence; a code block is one. Only white space is lost."""
    found: list[tuple[str, bool]] = []
    at = 0
    for code in CODE.finditer(text):
        found += [*_prose(text[at : code.start()]), (code[0].strip(), True)]
        at = code.end()
    found += _prose(text[at:])
    return [Sentence(place, said, begins) for place, (said, begins) in enumerate(found)]


def with_headings(text: str) -> str:
    """Returns a text whose tables are lists: each row names its columns, so that it tells something by itself."""
    return TABLE.sub(lambda found: _as_list(found["table"]) if found["table"] else found[0], text)


def _as_list(table: str) -> str:
    lines = table.splitlines()
    if len(lines) < 3 or not RULE.fullmatch(lines[1]):
        return table
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    named = (zip_longest(rows[0], row, fillvalue="") for row in rows[2:])
    told = (", ".join(f"{name}: {cell}" if name else cell for name, cell in cells if cell) for cells in named)
    return "\n".join(told) + "\n"


def _prose(text: str) -> list[tuple[str, bool]]:
    return [
        (sentence, not place)
        for line in text.splitlines()
        if line.strip()
        for place, sentence in enumerate(_line(line.strip()))
    ]


def _line(line: str) -> list[str]:
    sentences, begin = [], 0
    for end in END.finditer(line):
        stop = end.start() + len(end[0].rstrip())
        if not SHORT.search(line[max(begin, stop - SHORT_LENGTH) : stop]):
            sentences.append(line[begin:stop])
            begin = end.end()
    if rest := line[begin:].strip():
        sentences.append(rest)
    return sentences


def cut_to_sentences(text: str, tokens: int) -> str:
    """Returns as many of a text's first whole sentences as fit; empty if not even one does."""
    kept = ""
    for one in sentences_of(text):
        longer = f"{kept}{chr(10) if one.begins_line else ' '}{one.text}" if kept else one.text
        if len(longer.encode("utf-8", "replace")) > tokens * 4:
            break
        kept = longer
    return kept


def cut_to_words(text: str, tokens: int) -> str:
    """Returns as many of a text's first words as fit, or the beginning of a longer word."""
    held = text.encode("utf-8", "replace")[: max(tokens, 1) * 4].decode("utf-8", "ignore")
    return held if len(held) == len(text) else held.rpartition(" ")[0].rstrip() or held


def words_of(text: str) -> list[str]:
    """Returns a text's words in lower case."""
    return [word.lower().replace("’", "'") for word in WORD.findall(text)]


def rarities(texts: Iterable[Sequence[str]]) -> dict[str, float]:
    """Returns how rare each word is, from 0 (in every text) to 1 (in one)."""
    seen: Counter[str] = Counter()
    number = 0
    for words in texts:
        seen.update(set(words))
        number += 1
    most = math.log(max(number, 2))
    return {word: math.log(number / count) / most if number > 1 else 1.0 for word, count in seen.items()}

"""Tells two similar facts apart: by names, numbers, “not”, dates, family. Pure.

Similarity is no help here: “Tom” and “Tim”, 5 mg and 15 mg, allowed and not allowed are nearly the same text. A model
decides how two facts relate; the result may lose none of these words.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from difflib import SequenceMatcher

from relay.core.text import plain_digits
from relay.memory.review.telling_words import (
    COMPOUND,
    DATES,
    DENYING,
    DENYING_ELSEWHERE,
    EACH,
    GROUPS,
    INFLECTED,
    KIN,
    KNOWN,
    KNOWN_LETTERS,
    MEASURES,
    NEGATION,
    NUMBERS,
    TELLING,
)

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
"""Letters of scripts without spaces. Each counts as a word, and may belong to a name: 京都 is not 東京."""
LETTER = re.compile(f"[{UNSPACED}]")
IN_WORD = rf"(?:[^\W\d_{UNSPACED}]|[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0970-\u0dff])"
"""A letter, or a sign that belongs to one, such as the vowels of Hindi and Tamil."""
TOKEN = re.compile(
    rf"[{UNSPACED}]|[+-]?\d+(?:[.,:/-]\d+)*{IN_WORD}*|{IN_WORD}+(?:['’]{IN_WORD}+)*[+#]*|[$€£¥₹₽₺%°<>≤≥]"
    "|[☀-➿\U0001f1e6-\U0001faff]"
)
CLOCK = re.compile(r"\d+:\d+")
JOINED = re.compile(rf"({IN_WORD}+)[-‐‑–]({IN_WORD}+)")
HAN_DATE = re.compile("[一二三四五六七八九十月日周週曜火水木金土]")
MINIMAL = 0.6
"""The share of common words at which two facts count as one sentence with a few words changed."""
MINIMAL_ELSEWHERE = 0.5
"""The same in a language whose words aren't known."""
DENIED = 0.85
"""The share of common words at which a “not” on one side denies the other fact."""
FORM = 0.75
"""The share of its letters with which a word begins like another form of it."""


def find_telling_words(text: str) -> Counter[str]:
    """Returns the words of a fact that must not get lost: numbers with units, negations, dates, family, and names
    (capitalised words that don't begin a sentence)."""
    found: Counter[str] = Counter()
    plain, last = _plain(text), ""
    for match in TOKEN.finditer(plain):
        word, lower = match[0], match[0].lower()
        before = plain[: match.start()].rstrip(" \"'“„«(")
        begins = not before or before[-1] in ".!?:"
        if NEGATION.fullmatch(lower):
            found["not"] += 1
        if (
            _is_number(lower)
            or lower in TELLING
            or (_holds_capital(word) and not (begins and word[0].isupper()))
            or (lower in MEASURES and (_is_number(last) or last in EACH))
        ):
            found[lower] += 1
            if lower in KIN and before.endswith("-"):  # ex-wife, petit-fils
                found[last] += 1
        elif stem := _stem(lower):
            found[stem] += 1
        last = lower
    return found


def name_other_days(one: str, other: str) -> bool:
    """Tests whether two wordings may name different days: their numbers, apart from times of day, or dates differ."""
    first, second = (
        [one for one in find_telling_words(CLOCK.sub("", text)) if _is_number(one) or one in DATES or "…" in one]
        + HAN_DATE.findall(text)
        for text in (one, other)
    )
    return sorted(first) != sorted(second)


def _is_number(lower: str) -> bool:
    return any(c.isdigit() for c in lower) or lower in NUMBERS or bool(COMPOUND.fullmatch(lower))


def _holds_capital(word: str) -> bool:
    """Tests whether a word, or the part of it after an apostrophe, is written like a name: d'Anna."""
    return any(part[:1].isupper() for part in word.split("'"))


def _stem(lower: str) -> str:
    """Returns a word of `INFLECTED` without its ending, as сестр…; empty for other words."""
    match = INFLECTED.fullmatch(lower)
    return f"{match[1]}…" if match else ""


def difference(one: str, other: str) -> tuple[str, str]:
    """Returns the words that only one of two facts has, in order, to show a model."""
    first, second = _tokens(one), _tokens(other)
    of_first, of_second = Counter(map(str.lower, first)), Counter(map(str.lower, second))
    return _only(first, of_second), _only(second, of_first)


def tell_apart(one: str, other: str) -> bool:
    """Tests whether two facts differ in a distinguishing word, so that neither can replace the other. If only a few
    words of a sentence changed, each of these that may be a name distinguishes, even the first word. Other words, such
    as synonyms, are the model's to judge, unless they are in a language whose words aren't known."""
    if loses(one, other) or loses(other, one) or _lists_joined(one, other):
        return True
    return bool(_find_changed_names(one, other))


def loses_in_merge(merged: str, one: str, other: str) -> bool:
    """Tests whether a merged sentence lacks a distinguishing word of either fact, or all words of one, or one fact
    denies the other, so that no sentence can say both."""
    if any(_is_unrelated(merged, fact) or _lists_joined(merged, fact) for fact in (one, other)):
        return True
    if loses(merged, one, other) or not _find_changed_names(one, other) <= set(map(str.lower, _tokens(merged))):
        return True
    denied = find_telling_words(one)["not"] > 0, find_telling_words(other)["not"] > 0
    return denied[0] != denied[1] and _matcher(_find_words(one), _find_words(other)).ratio() >= DENIED


def _lists_joined(one: str, other: str) -> bool:
    """Tests whether one of two facts lists words that only the other joins with a hyphen: Anna, Lena and Anna-Lena."""
    return any(
        re.search(rf"\b{first}[,;،、]\s*{second}\b", text, re.IGNORECASE)
        and not re.search(rf"\b{first}[-‐‑–]{second}\b", text, re.IGNORECASE)
        for text, hyphened in itertools.permutations((_plain(one), _plain(other)))
        for first, second in JOINED.findall(hyphened)
    )


def _is_unrelated(merged: str, fact: str) -> bool:
    """Tests whether a sentence has no word of a fact, nor one that begins like it. Short words count if there are no
    others."""
    has = {word[:4] for word in map(str.lower, _tokens(merged))}
    words = set(map(str.lower, _tokens(fact)))
    long = {word for word in words if len(word) > 3 or LETTER.fullmatch(word)} or words
    return bool(long) and not has & {word[:4] for word in long}


def _find_changed_names(one: str, other: str) -> set[str]:
    """Returns the lower-case words that may be names and replace each other, if only a few words changed. Any word of a
    script without capitals may be one; without spaces, it need not replace another. The empty word, which no sentence
    has: one fact denies the other."""
    first, second = _tokens(one), _tokens(other)
    matcher, known = _matcher(first, second), _is_known(f"{one} {other}")
    if matcher.ratio() < (MINIMAL if known else MINIMAL_ELSEWHERE):
        return set()
    changes = [(change, first[a:b], second[c:d]) for change, a, b, c, d in matcher.get_opcodes() if change != "equal"]
    if not known and any(word.lower() in DENYING_ELSEWHERE for _, *both in changes for word in itertools.chain(*both)):
        return {""}
    return {
        word.lower()
        for change, old, new in changes
        for word in (*old, *new)
        if (not word[0].islower() or _holds_capital(word)) and (change == "replace" or LETTER.fullmatch(word))
    } | {
        word.lower()
        for _, old, new in changes
        for beside in [set(zip(old, new, strict=False))]
        for pair in itertools.product(old, new)
        if _are_opposites(*pair) or (pair in beside and (_are_apart(*pair) or not (known or _are_forms(*pair))))
        for word in pair
    }


def _is_known(text: str) -> bool:
    """Tests whether a text is in a language of the lists of telling words."""
    return bool(KNOWN_LETTERS.search(text.lower())) or not KNOWN.isdisjoint(map(str.lower, _tokens(text)))


def _are_forms(one: str, other: str) -> bool:
    """Tests whether two words may be forms of one: tablett, tabletter."""
    alike = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one.lower(), other.lower(), strict=False))
    return len(list(alike)) >= FORM * max(len(one), len(other))


def _are_apart(one: str, other: str) -> bool:
    """Tests whether two words are hardly forms of one: they differ in one letter before the last (tim, tom), or one
    denies the other (able, unable)."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    if short == long:
        return False
    if long.endswith(short) and long.removesuffix(short) in DENYING:
        return True
    return len(short) > 2 and any(
        short[:n] == long[:n] and long[n + 1 :] in (short[n:], short[n + 1 :]) for n in range(len(short) - 1)
    )


def _are_opposites(one: str, other: str) -> bool:
    """Tests whether two words belong to one group of `OPPOSITES` (before, after)."""
    first, second = (GROUPS.get(word.lower(), ()) for word in (one, other))
    return any(group == same and place != there for group, place in first for same, there in second)


def _find_words(text: str) -> list[str]:
    """Returns how the words of a text begin, without negations and endings."""
    return [word[:4] for word in _tokens(text) if not NEGATION.fullmatch(word.lower())]


def is_nearly_same(one: str, other: str) -> bool:
    """Tests whether two facts differ in a few words only."""
    return _matcher(_tokens(one), _tokens(other)).ratio() >= MINIMAL


def _matcher(first: list[str], second: list[str]) -> SequenceMatcher[str]:
    return SequenceMatcher(None, [w.lower() for w in first], [w.lower() for w in second], autojunk=False)


def loses(merged: str, *facts: str) -> bool:
    """Tests whether a merged sentence lacks a distinguishing word of the facts."""
    has = Counter(form for word in map(str.lower, _tokens(merged)) for form in (word, _stem(word)))
    has["not"] += sum(1 for word in list(has) if NEGATION.fullmatch(word))
    return any(not has[word] for fact in facts for word in find_telling_words(fact))


def _plain(text: str) -> str:
    plain = plain_digits(unicodedata.normalize("NFKC", text).replace("’", "'").replace("İ", "I"))
    return re.sub(r"(?<=\w)'s\b", "", re.sub(r"\b([ap])\.\s?m\b\.?", r"\1m", plain, flags=re.IGNORECASE))


def _tokens(text: str) -> list[str]:
    return TOKEN.findall(_plain(text))


def _only(words: list[str], others: Counter[str]) -> str:
    return " ".join(word for word in words if not others[word.lower()])

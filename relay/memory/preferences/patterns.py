"""Patterns: what people can like or dislike about an answer, in a few words. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import Literal

from relay.core.errors import WrongArgument
from relay.core.frozen import frozen
from relay.core.limits import PATTERN_LENGTH, TAGGED_PATTERNS
from relay.memory.intents import WHOLE
from relay.memory.preferences.judgements import drop_judgements
from relay.memory.rows.turns.preferences import ObservedPattern

TYPES = (
    "length", "form", "tone", "language", "depth", "examples", "initiative", "sources", "code", "voice", "other",
)  # fmt: skip
WEIGHTS = {
    "accept": 0.15, "refine": 0.20, "tag": 0.30, "thumbs": 0.10, "abandon": 0.02, "revert": 0.25, "compare": 0.40,
    "said": 1.60,
}  # fmt: skip
"""The weight of each kind of act. Half of it is added to the strength of a pattern."""
REINFORCING = {"refine": 1, "tag": 1, "revert": 1, "compare": 1, "said": 2}
"""How many reinforcing observations an act counts as. They make a pattern more than provisional."""
NOT = re.compile(
    r"(?:(?:answers|replies|antworten|réponses)\s+(?=without|with no|ohne|sans))?"
    r"(?:no(?: more(?! than))?|not(?: too| so)?(?: many| much)?|with no|less|fewer|without|don['’]t(?: use)?"
    r"|keine?n?|nicht(?: so)?(?: viele?)?|ohne|weniger|pas de|sans|moins de"
    r"|sin|menos|senza|meno|sem|без|меньше|bez|mniej|daha az|بدون|بلا)\s+|(?:pas|moins) d['’]"
    r"|不要|不用|[别別少]用?(?=\w)",
    re.IGNORECASE,
)
"""What turns a statement that somebody likes something, or doesn't, into its opposite: they prefer no emoji."""
AVOID = re.compile(rf"(?:avoid|stop|vermeide|évite|evita|избегай|unikaj)\s+|{NOT.pattern}", re.IGNORECASE)
TOO = re.compile(
    r"(?:(?:that|this|it|das|es|c['’]est|c['’]était|это|to)\s+)?(?:(?:is|was|ist|war|было|jest|było)\s+)?"
    r"(?:(?:an? (?:bit|little)|much|way|far|(?:ein )?bisschen|etwas|viel|un peu|bien|un po[ck]o?|немного|trochę|biraz)"
    r"\s+)?"
    r"(?:太(?=\w)|(?:너무|too|zu(?! (?:jede|alle|mein|de|die|das))|trop|demasiad[oa]s?|troppo|слишком|za(?! każd)"
    r"|zbyt|fazla|aşırı|çok(?!\s+(?:iyi|güzel|hoş|doğru|net|açık|faydalı|yararlı|başarılı)))\s+)"
    r"(?:(?:many|much|viele?|de|много|dużo|fazla)\s+)?",
    re.IGNORECASE,
)
"""Words that say that an answer has more of something than it should."""
ENOUGH = re.compile(
    r"(?:(?:that|this|it|das|es)\s+)?(?:(?:is|was|ist|war)\s+)?(?:(?:much|far|way|etwas|viel)\s+)?(?:"
    r"(?:not (?:nearly )?enough|too (?:few|little)|nicht gen(?:ug|ügend)|zu wenige?)\s+(?P<lacks>\w.*)"
    r"|(?:not|nicht)\s+(?P<less>\w.*?)\s+(?:enough|genug))",
    re.IGNORECASE,
)
"""Words that say that an answer has less of something than it should."""
LESS = re.compile(r"(?:less|fewer|weniger|moins d|menos|meno|меньше|mniej|daha az)\b", re.IGNORECASE)
"""Words that ask for less of something, but not for none of it."""
_PLEASE = r"(?:please|pls|bitte|s['’]il (?:te|vous) pla[iî]t|por favor|per favore)"
POLITE = re.compile(rf"^(?:{_PLEASE}[\s,]+)?(?:(?:be|sei|seid)\s+)?|[\s,]+{_PLEASE}[.!]*$", re.IGNORECASE)
"""Words that people add to be polite."""
ENDING = re.compile(
    r"(?!(?:جيد|رائع|ممتاز|مفيد|واضح|جميل)ة?\s)(\w.*?)\s?"
    r"(?:(?P<too>[はが]?(?:すぎ(?:る|ます|です)?|過ぎる?)|\s(?:جد(?:ا|اً|ًا)|للغاية|أكثر من اللازم))"
    r"|[はが]?(?:なし|不要|やめて)|없이|빼고)$"
)
"""Words that say so at the end, in Japanese, Korean and Arabic."""
PREFER = re.compile(r"^(?:prefer|more|mehr|plus de|más|больше|więcej|daha çok)\s+", re.IGNORECASE)
NOT_A_PATTERN = (
    f"Name what you like in words: 3 to {PATTERN_LENGTH} letters or digits, no other characters: "
    "/preferences prefer short answers"
)
NOT_A_TAG = (
    f"Say what's good or bad in words: 3 to {PATTERN_LENGTH} letters or digits, no other characters: "
    "/tag too long, no jokes"
)
NO_TAG = "Say what's good or bad about the answer: /tag too long, no jokes"
TOO_MANY = (
    f"That's more than {TAGGED_PATTERNS} at once. Separate up to {TAGGED_PATTERNS} with commas: /tag too long, no jokes"
)


@frozen
class Pattern(ObservedPattern):
    """What answers should be like (polarity 1), or should not be like (-1)."""

    def as_observed(self, kind: str) -> dict[str, object]:
        """Returns the pattern as `relay_feedback` takes it from an act of this kind."""
        return asdict(self) | {"weight": WEIGHTS[kind], "reinforcing": REINFORCING[kind]}


@frozen
class Tag:
    """A tag that people can put on an answer with one tap."""

    label: str
    words: str
    pattern: Pattern


TAGS = {
    "long": Tag("✂ too long", "too long", Pattern("length", "short answers", 1)),
    "short": Tag("📏 too short", "too short", Pattern("length", "short answers", -1)),
    "structure": Tag("🧱 more structure", "more structure", Pattern("form", "lists and tables", 1)),
    "prose": Tag("📝 less structure", "less structure", Pattern("form", "lists and tables", -1)),
    "formal": Tag("🎩 too formal", "too formal", Pattern("tone", "formal tone", -1)),
    "casual": Tag("🙂 too casual", "too casual", Pattern("tone", "formal tone", 1)),
    "humour": Tag("😂 good humour", "good humour", Pattern("tone", "humour", 1)),
    "serious": Tag("🙅 no jokes", "no jokes", Pattern("tone", "humour", -1)),
    "emoji": Tag("🚫 fewer emoji", "fewer emoji", Pattern("tone", "emoji", -1)),
    "detail": Tag("🔍 more detail", "more detail", Pattern("depth", "step by step", 1)),
    "examples": Tag("💡 more examples", "more examples", Pattern("examples", "examples", 1)),
    "sources": Tag("🔗 more sources", "more sources", Pattern("sources", "sources and links", 1)),
    "ask": Tag("❓ ask me first", "ask me first", Pattern("initiative", "questions back", 1)),
    "noask": Tag("⛔ don't ask back", "don't ask back", Pattern("initiative", "questions back", -1)),
    "plain": Tag("🗣 simpler words", "simpler words", Pattern("language", "plain words", 1)),
}
"""The tags by the name in their button's data. Opposites share a pattern, so that they cancel each other."""
KNOWN_TYPES = {tag.pattern.pattern: tag.pattern.type for tag in TAGS.values()}
LAST_SIGNS, EMOJI = " .!?…。！？\ufe0f", ("So", "Sk", "Cf")
"""What is removed from the end of a pattern: punctuation, and the Unicode categories of emoji."""
DIGIT = re.compile(r"\d")
SAME_PATTERN = 0.85
"""How similar each word of a pattern must be to one of a known pattern, whose name it then takes."""


def clean_pattern(text: str, numbers: bool = False) -> str | None:
    """Returns a pattern in its normal form: single spaces, 3 to 60 letters (1 to 60 where a letter can be a word),
    marks, apostrophes and hyphens. Capitals stay, as names have some, unless all letters are. `numbers`: digits may be
    among them. None: it is not valid."""
    plain = " ".join(unicodedata.normalize("NFKC", text).split()).rstrip(".!。")
    plain = plain.lower() if plain.isupper() else plain
    kinds = "LMN" if numbers else "LM"
    if (
        not (1 if WHOLE.search(plain) else 3) <= len(plain) <= PATTERN_LENGTH
        or unicodedata.category(plain[0])[0] not in kinds
        or not any(map(str.isalpha, plain))
    ):
        return None
    allowed = all(sign in " '’-" or unicodedata.category(sign)[0] in kinds for sign in plain)
    return plain if allowed else None


def drop_last_signs(words: str) -> str:
    """Returns words without the full stops, exclamation marks and emoji at their end."""
    return words.rstrip("".join({one for one in words if one in LAST_SIGNS or unicodedata.category(one) in EMOJI}))


def resolve_name(pattern: str, known: Iterable[str]) -> str:
    """Returns the known pattern that is the same but for capitals and how its words end, or else the pattern itself.
    Patterns with another beginning can be opposites: formal and informal, shorter and longer sentences."""
    names = {name.casefold(): name for name in known}
    folded = pattern.casefold()
    if folded in names:
        return names[folded]
    words = folded.split()
    return next((name for other, name in names.items() if _are_alike(words, other.split())), pattern)


def _are_alike(words: Sequence[str], others: Sequence[str]) -> bool:
    return len(words) == len(others) and all(
        one == other
        if DIGIT.search(one + other)  # 1000 is not 10000
        else one[0] == other[0] and SequenceMatcher(None, one, other, autojunk=False).ratio() >= SAME_PATTERN
        for one, other in zip(words, others, strict=True)
    )


def split_direction(words: str, polarity: Literal[-1, 1] | None = None) -> tuple[str, Literal[-1, 1]]:
    """Returns what a person's words are about, and whether they like that (1) or not (-1). `polarity` None: the words
    alone say so (“no jokes” avoids). Otherwise words such as “no” turn it around."""
    if lacking := ENOUGH.fullmatch(words):
        return lacking["lacks"] or lacking["less"], 1
    negated = (AVOID if polarity is None else NOT).match(words)
    words = words[negated.end() :] if negated else PREFER.sub("", words, count=1)
    too = TOO.match(words)
    words = words[too.end() :] if too else words
    if not (negated or too) and (ended := ENDING.match(words)):
        words, too, negated = ended[1], ended if ended["too"] else None, None if ended["too"] else ended
    sign: Literal[-1, 1] = polarity or 1
    if negated or (too and sign > 0):
        sign = -1 if sign > 0 else 1
    return words, sign


def opposite(pattern: Pattern) -> Pattern:
    """Returns a pattern with the other polarity."""
    return replace(pattern, polarity=-1 if pattern.polarity > 0 else 1)


def _tagged() -> Iterator[tuple[str, Pattern]]:
    for tag in TAGS.values():
        yield tag.pattern.pattern, replace(tag.pattern, polarity=1)
        words, polarity = split_direction(tag.words)
        yield words, tag.pattern if polarity > 0 else opposite(tag.pattern)


_SHORT, _LONG = Pattern("length", "short answers", 1), Pattern("length", "short answers", -1)
SAME_AS = {
    **dict(_tagged()),
    **dict.fromkeys(("shorter", "shorter answers", "less text", "brief", "concise", "kurz", "kürzer"), _SHORT),
    **dict.fromkeys(("kurze antworten", "kürzere antworten", "weniger text"), _SHORT),
    **dict.fromkeys(("longer", "long answers", "longer answers", "more text", "lang", "länger"), _LONG),
    **dict.fromkeys(("lange antworten", "längere antworten", "mehr text"), _LONG),
    "detailed": Pattern("depth", "step by step", 1),
    "informal tone": Pattern("tone", "formal tone", -1),
    "casual tone": Pattern("tone", "formal tone", -1),
}
"""The patterns of tags by their names, by the words of the tags (jokes are humour), and by their plain opposites."""


def as_tagged(pattern: Pattern) -> Pattern:
    """Returns the pattern of the tag that says the same, or else the pattern itself."""
    same = SAME_AS.get(resolve_name(pattern.pattern, SAME_AS))
    return pattern if same is None else same if pattern.polarity > 0 else opposite(same)


def read_pattern(
    text: str, polarity: Literal[-1, 1] | None = None, known: Mapping[str, str] = MappingProxyType({})
) -> Pattern:
    """Returns the pattern in a person's words about answers, under the name and type of a tag's or a `known` one (types
    by name) if it is the same. `polarity`: see `split_direction`.

    Raises `CommandRefused` if it is not a valid pattern.
    """
    said = drop_last_signs(POLITE.sub("", " ".join(text.split())))
    if (same := SAME_AS.get(said.casefold())) is not None:
        return opposite(same) if polarity == -1 else same
    words, sign = split_direction(said, polarity)
    if polarity is not None and LESS.match(said) and resolve_name(words, named := {*SAME_AS, *known}) not in named:
        words, sign = said, polarity
    pattern = clean_pattern(words, numbers=True)
    if pattern is None:
        raise WrongArgument(NOT_A_TAG if polarity is None else NOT_A_PATTERN)
    name = resolve_name(pattern, known)
    if lessened := next((row for row in known if lessens(row, pattern)), None):  # more irony, after less irony
        return Pattern(known[lessened], lessened, -1 if sign > 0 else 1)
    return as_tagged(Pattern(known.get(name, "other"), name, sign))


def lessens(known: str, pattern: str) -> bool:
    """Tests whether a known pattern is less of another one: less irony, irony."""
    less = LESS.match(known)
    return less is not None and bool(found := known[less.end() :].strip()) and resolve_name(pattern, [found]) == found


def read_patterns(text: str, known: Mapping[str, str] = MappingProxyType({})) -> Sequence[Pattern]:
    """Returns up to three patterns, separated by commas, without words that only judge; of a repeated one, the last.
    Raises `CommandRefused` for more, and for invalid ones."""
    parts = drop_judgements(POLITE.sub("", text.strip()))
    if not parts:
        raise WrongArgument(NO_TAG)
    if len(parts) > TAGGED_PATTERNS:
        raise WrongArgument(TOO_MANY)
    found = (read_pattern(part, known=known) for part in parts)
    return list({(one.type, one.pattern.casefold()): one for one in found}.values())

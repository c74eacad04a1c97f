"""Judgements: words that say whether an answer was good, but not what about it. Pure."""

from __future__ import annotations

import re

COMMAS = re.compile("[,،、，]")
RIGHT = frozenset({"just right", "genau richtig", "juste comme il faut", "en su punto", "в самый раз", "w sam raz"})
"""The tag of an answer that was as it should be."""
GOOD = frozenset({
    "👍", "good", "great", "nice", "perfect", "excellent", "awesome", "helpful", "useful", "right", "correct", "thanks",
    "thank you", "gut", "super", "toll", "prima", "perfekt", "hilfreich", "nützlich", "richtig", "danke",
})  # fmt: skip
BAD = frozenset({
    "👎", "bad", "terrible", "awful", "boring", "wrong", "incorrect", "nonsense", "useless", "unhelpful", "rude",
    "confusing", "schlecht", "langweilig", "falsch", "unsinn", "nutzlos", "unhöflich", "verwirrend",
})  # fmt: skip
AROUND = re.compile(
    r"(?:(?:that|this|it|das|es)\s+)?(?:(?:is|was|ist|war)\s+)?(?P<not>(?:not|nicht|no)\s+)?"
    r"(?P<how>(?:(?:so|too|very|really|pretty|quite|an?|bit|little|sehr|zu|etwas|ziemlich|ein|bisschen)\s+)*)"
    r"(?P<word>.+?)(?:\s+(?:answers?|reply|replies|antworte?n?))?",
    re.DOTALL,
)
"""Words that may surround such a word."""
TOO, SO = re.compile(r"\b(?:too|zu)\b"), re.compile(r"\bso\b")


def says_right(words: str) -> bool:
    """Whether the words of a tag say that an answer was just right."""
    return " ".join(words.split()).casefold().strip("🎯 .!") in RIGHT


def read_judgement(words: str) -> bool | None:
    """Returns whether words say only that an answer was good (True) or bad (False). None: they say something else."""
    verdicts = [_judge(part) for part in COMMAS.split(words) if part.strip()]
    return None if None in verdicts or not verdicts else all(verdicts)


def drop_judgements(words: str) -> list[str]:
    """Returns the parts of words, separated by commas, that say more than that an answer was good or bad."""
    return [part for part in COMMAS.split(words) if part.strip() and _judge(part) is None]


def _judge(part: str) -> bool | None:
    around = AROUND.fullmatch(" ".join(part.split()).casefold().strip(" .!"))
    if around is None or around["word"] not in GOOD | BAD:
        return None
    too, so, negated = TOO.search(around["how"]), SO.search(around["how"]), around["not"]
    if too or (negated and (so or negated.startswith("no "))):
        return False  # too nice; not so boring, please; no nonsense
    return (around["word"] in GOOD) is not bool(negated)

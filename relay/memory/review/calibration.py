"""How much short messages weigh: which are worth a judge's look, and what praise and assent are worth. Pure."""

from __future__ import annotations

import re
import unicodedata

from relay.memory.review.distinction import DATES
from relay.memory.review.words import (
    ANSWERS,
    AROUND_ASSENT,
    ASSENTS,
    COMMON_STARTS,
    FEELING,
    HALF_ASSENTS,
    THANKS,
    words_of,
)

SHORT = 50
"""Characters; whatever is as long is always judged."""
CASELESS = 3
"""So many letters of a script without capitals tell something."""
LEAST = 5
"""The importance from which something is kept."""
FEELING_WORTH, ACKNOWLEDGEMENT_WORTH = 6, 5
EMPHASIS = re.compile(r"[❤♥😀-🙏🤗🤩🥰🥳🥺💔💕💖😭]")


def worth_judging(text: str) -> bool:
    """Whether a message is worth a judge's look: it is not short, or it holds a feeling, an acknowledgement, a name, a
    number or a date; in a script without capitals, where names cannot be told, it holds a few letters."""
    text = text.strip()
    if len(text) >= SHORT or weight(text):
        return True
    return holds_number(text) or holds_date(text) or holds_name(text) or tells_no_names(text)


def weight(text: str) -> tuple[str, int] | None:
    """What a short message is, `feeling` or `acknowledgement`, and its worth; None: neither, or it is not short."""
    text = text.strip()
    if len(text) >= SHORT:
        return None
    if is_acknowledgement(text):
        return "acknowledgement", ACKNOWLEDGEMENT_WORTH
    if EMPHASIS.search(text) or THANKS.search(text) or FEELING.intersection(word.lower() for word in words_of(text)):
        return "feeling", FEELING_WORTH
    return None


def is_acknowledgement(text: str) -> bool:
    """Whether a message says that what it answers was right, or worked, and little else."""
    words = words_of(text.lower())
    if ASSENTS.union(HALF_ASSENTS, AROUND_ASSENT).issuperset(words) and (
        ASSENTS.intersection(words) or (len(words) > 1 and HALF_ASSENTS.intersection(words))
    ):
        return True
    said = " ".join(words)
    return any(said == one or (said.startswith(f"{one} ") and len(said) <= len(one) + 12) for one in ANSWERS)


def holds_number(text: str) -> bool:
    return any(character.isdigit() for character in text)


def holds_date(text: str) -> bool:
    return bool(DATES.intersection(word.lower() for word in words_of(text)))


def holds_name(text: str) -> bool:
    """Whether a word is written like a name: with a capital, and not because a sentence begins with it; a sentence's
    first word only where it stands alone."""
    for sentence in re.split(r"[.!?…\n]+", text):
        words = words_of(sentence)
        later = words[1:] if len(words) > 1 else words
        if any(word[0].isupper() and word.lower() not in COMMON_STARTS for word in later):
            return True
    return False


def tells_no_names(text: str) -> bool:
    """Whether a text is written in a script that has no capitals, as Chinese, Korean, Arabic, Hebrew, Thai or Hindi."""
    return sum(unicodedata.category(character) == "Lo" for character in text) >= CASELESS

"""Weighs short messages: which to judge, and how much praise and assent count. Pure."""

from __future__ import annotations

import re
import unicodedata

from relay.memory.contexts.sentences import sentences_of
from relay.memory.review.distinction import DATES, NEGATION
from relay.memory.review.words import (
    ANSWERS,
    AROUND_ASSENT,
    ASSENTS,
    COMMON_STARTS,
    DOUBT,
    FEELING,
    HALF_ASSENTS,
    POLITE,
    SMALL_TALK,
    THANKS,
    lower_words,
    words_of,
)

SHORT = 50
"""Messages with fewer characters are short; longer ones are always judged."""
CASELESS = 3
"""How many letters make a text in a script without capitals worth judging."""
LEAST = 5
"""The least importance of what is stored."""
FEELING_WORTH, ACKNOWLEDGEMENT_WORTH = 6, 5
PUNCTUATION = dict.fromkeys(map(ord, "،。！、，؟？.!,~～…"), " ")
EMPHASIS = re.compile(r"[❤♥😀-🙏🤗🤩🥰🥳🥺💔💕💖😭]")


def worth_judging(text: str) -> bool:
    """Tests whether to judge a message: long ones, and short ones with a feeling, an acknowledgement, a name, a number
    or a date; in a script without capitals, where names can't be recognized, ones with a few letters."""
    text = text.strip()
    if len(text) >= SHORT or holds_feeling(text) or is_acknowledgement(text):
        return True
    return holds_number(text) or holds_date(text) or holds_name(text) or tells_no_names(text)


def weight(text: str) -> tuple[str, int] | None:
    """Returns a short message's kind, `feeling` or `acknowledgement`, and its weight; None: neither, or not short.
    A question is neither: “Is that right?” confirms nothing. An emoji is a feeling only by itself."""
    if len(text.strip()) >= SHORT:
        return None
    said = " ".join(one.text for one in sentences_of(text) if not is_question(one.text))
    if is_acknowledgement(said):
        return "acknowledgement", ACKNOWLEDGEMENT_WORTH
    alone = EMPHASIS.search(said) and not any(map(str.isalnum, said))
    return ("feeling", FEELING_WORTH) if alone or says_feeling(said) else None


def is_question(text: str) -> bool:
    """Tests whether a sentence ends with a question mark, before closing signs. Reads it once, from its end."""
    last = next((sign for sign in reversed(text) if sign in "?？؟_" or sign.isalnum()), "_")
    return not (last == "_" or last.isalnum())


def holds_feeling(text: str) -> bool:
    """Tests for a word or sign of a feeling, or thanks beyond politeness."""
    return bool(EMPHASIS.search(text)) or says_feeling(text)


def says_feeling(text: str) -> bool:
    """Tests for a word of a feeling, or thanks beyond politeness."""
    return bool(THANKS.search(text) or FEELING.intersection(lower_words(POLITE.sub(" ", text))))


def is_acknowledgement(text: str) -> bool:
    """Tests whether a message says that something was right or worked, and little else."""
    words = lower_words(text)
    if ASSENTS.union(HALF_ASSENTS, AROUND_ASSENT).issuperset(words) and (
        ASSENTS.intersection(words) or (len(words) > 1 and HALF_ASSENTS.intersection(words))
    ):
        return True
    said = " ".join(words)
    rests = (said[len(one) :] for one in ANSWERS if said == one or said.startswith(f"{one} "))
    return any(
        len(rest) <= 12 and not any(map(NEGATION.fullmatch, rest.split())) and not DOUBT.search(rest) for rest in rests
    )


def holds_number(text: str) -> bool:
    return any(character.isdigit() for character in text)


def holds_date(text: str) -> bool:
    return bool(DATES.intersection(lower_words(text)))


def holds_name(text: str) -> bool:
    """Tests for a word written like a name: capitalized other than at the start of a sentence; the first word only if
    it stands alone."""
    for sentence in re.split(r"[.!?…\n]+", text):
        words = words_of(sentence)
        later = words[1:] if len(words) > 1 else words
        if any(word[0].isupper() and word.lower() not in COMMON_STARTS for word in later):
            return True
    return False


def tells_no_names(text: str) -> bool:
    """Tests for a script without capitals, such as Chinese, Korean, Arabic, Hebrew, Thai or Hindi, and more than small
    talk."""
    letters = sum(unicodedata.category(character) == "Lo" for character in text)
    return letters >= CASELESS and not SMALL_TALK.issuperset(text.translate(PUNCTUATION).split())

"""Intents: a reply's tags parsed into actions, and the text without them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from relay.core.errors import ModelRefused
from relay.core.frozen import frozen
from relay.core.limits import FORGET_LETTERS, TAGGED_FACT_LENGTH
from relay.core.models import Step
from relay.core.text import join_names
from relay.memory.tags import Remembered, Scanner, one_line, storable

MAX_LEARN, MAX_FORGET, MAX_REMEMBER = 5, 3, 5
CONTENT_LENGTH, TAG_LENGTH, MAX_TAGS = 2000, 40, 10
WHOLE = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A letter of a script in which one or two letters make a word."""
VOICE_REPLY = ("VOICE_REPLY", "")
ECHO = "it was in the message itself"
_CODE_AND_QUOTES = re.compile(r"[`~]|\\(?=\[)|^[ \t>]+", re.M)
"""Markup that makes what follows code, a quote or plain text."""
_SAID, _DAYS = (re.compile(rf" \({words} \d{{4}}-\d\d-\d\d\)") for words in ("said", "(?:said|by)"))
"""The days that a prompt adds to memories: a model may copy a whole line. What it learns may have its own “by”."""
CATEGORIES = ("identity", "knowledge", "operational")


@frozen
class Learn:
    """Store a fact about the user."""

    text: str


@frozen
class Forget:
    """Retire the one fact that matches these words."""

    text: str


@frozen
class Remember:
    """Store a learning; `category` is one of CATEGORIES."""

    content: str
    category: str
    tags: tuple[str, ...]


@frozen
class Rejected:
    """An intent that was not understood or not allowed; `reason` is a fragment such as "longer than 200 …"."""

    tag: str
    text: str
    reason: str


Action = Learn | Forget | Remember


@frozen
class Intents:
    """A reply, parsed: the text to show, what to do, what was refused, and whether to send a voice note too."""

    text: str
    actions: tuple[Action, ...]
    rejected: tuple[Rejected, ...]
    voice_reply: bool


def process_intents(reply: str) -> Intents:
    """Parses the whole reply of the model. Never fails: what can't be parsed is text, or listed in `rejected`."""
    scanner = Scanner(reply.strip(), growing=False)
    text = scanner.run()
    limits: dict[type[Action], int] = {Learn: MAX_LEARN, Forget: MAX_FORGET, Remember: MAX_REMEMBER}
    actions: dict[Action, None] = {}
    rejected: dict[Rejected, None] = {}
    for tag, payload, data in scanner.found:
        verdict = _judge(tag, payload, data)
        if isinstance(verdict, str):
            rejected[Rejected(tag, payload, verdict)] = None
        elif verdict not in actions:
            limit = limits[type(verdict)]
            if sum(isinstance(action, type(verdict)) for action in actions) >= limit:
                rejected[Rejected(tag, payload, f"more than {limit} in one reply")] = None
            else:
                actions[verdict] = None
    return Intents(text, tuple(actions), tuple(rejected), scanner.voice_reply)


def read_words(step: Step) -> str:
    """Returns what a step of a model says, without tags. Raises `ModelRefused` for a refusal."""
    if step.stop_reason == "refusal":
        raise ModelRefused()
    return process_intents("".join(block.get("text", "") for block in step.blocks)).text.strip()


def remove_echoes(intents: Intents, texts: Iterable[str]) -> Intents:
    """Returns the intents without those whose tag is in `texts`: a model that repeats what it read requests nothing."""
    if not (intents.actions or intents.voice_reply):
        return intents
    read = {key for text in texts if "[" in text for key in _tags_in(text)}
    kept = tuple(action for action in intents.actions if _key(action) not in read)
    echoes = (Rejected(*_format_action(action), ECHO) for action in intents.actions if _key(action) in read)
    voice_reply = intents.voice_reply and VOICE_REPLY not in read
    return replace(intents, actions=kept, rejected=(*intents.rejected, *echoes), voice_reply=voice_reply)


def remove_known(intents: Intents, lent: Iterable[str]) -> Intents:
    """Returns the intents without those that would store what was only lent (the contents of someone's own
    memories)."""
    known = set(map(_plain, lent))
    kept = (action for action in intents.actions if isinstance(action, Forget) or _key(action)[1] not in known)
    return replace(intents, actions=tuple(kept))


def _tags_in(text: str) -> Iterable[tuple[str, str]]:
    """Yields the tags in a text, including those in code and quotes, which do nothing until they are repeated."""
    scanner = Scanner(_CODE_AND_QUOTES.sub("", text), growing=False, most=len(text))
    scanner.run()
    yield from ((tag, _plain(str(payload))) for tag, payload, _ in scanner.found)
    if scanner.voice_reply:
        yield VOICE_REPLY


def _format_action(action: Action) -> tuple[str, str]:
    """Returns an action's tag and text."""
    if isinstance(action, Remember):
        return "REMEMBER", action.content
    return ("LEARN" if isinstance(action, Learn) else "FORGET"), action.text


def _key(action: Action) -> tuple[str, str]:
    tag, text = _format_action(action)
    return tag, _plain(text)


def _plain(text: str) -> str:
    """Returns the letters and digits of a text, to compare repetitions despite case, spaces and punctuation."""
    return "".join(filter(str.isalnum, text.casefold()))


def visible(partial: str) -> str:
    """Returns what may be shown of a growing reply: no tags, and no partial tag at the end."""
    return Scanner(partial.strip(), growing=True).run()


def is_long_enough(words: str, least: int = FORGET_LETTERS) -> bool:
    """Tests whether words are long enough to identify a memory."""
    letters = sum(c.isalnum() or unicodedata.category(c)[0] == "M" for c in words)
    return letters >= least or bool(WHOLE.search(words))


def _judge(tag: str, payload: str, data: Any) -> Action | str:
    """Returns the action of a tag, or the reason why it is refused. `data`: the tag's JSON, or already a reason."""
    if isinstance(data, str):
        return data
    if tag == "REMEMBER":
        return _remember(data)
    payload = (_DAYS if tag == "FORGET" else _SAID).sub("", payload)
    letters = sum(map(str.isalnum, payload))
    if tag == "FORGET":
        return Forget(payload) if is_long_enough(payload) else f"fewer than {FORGET_LETTERS} letters to match"
    if not letters:
        return "empty"
    return Learn(payload) if len(payload) <= TAGGED_FACT_LENGTH else f"longer than {TAGGED_FACT_LENGTH} characters"


def _remember(data: Remembered) -> Remember | str:
    """Returns the learning in a JSON object, or the reason why there is none."""
    content, category, tags = data.get("content"), data.get("category"), data.get("tags")
    if not isinstance(content, str) or not (content := storable(content).strip()):
        return "without content"
    if len(content) > CONTENT_LENGTH:
        return f"longer than {CONTENT_LENGTH} characters"
    category = "knowledge" if category is None else category
    if not isinstance(category, str) or (category := category.strip().lower()) not in CATEGORIES:
        return f"its category isn't {join_names(CATEGORIES, 'or')}"
    tags = [] if tags is None else tags
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return "with tags that are not a list of words"
    names = tuple(filter(None, dict.fromkeys(one_line(tag) for tag in tags)))
    if len(names) > MAX_TAGS:
        return f"with more than {MAX_TAGS} tags"
    if any(len(name) > TAG_LENGTH for name in names):
        return f"with a tag longer than {TAG_LENGTH} characters"
    return Remember(content, category, names)

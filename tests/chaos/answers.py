"""The model's answers: each question's word once, and with some a memory that no other answer has."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from tests.standins.anthropic import Recorded, Reply
from tests.standins.anthropic.blocks import as_blocks, plain

WORD = re.compile(r"\bq(\d+)\b")
KEPT = re.compile(r"\bf(\d+)\b")
TAUGHT = "please"
"""Nothing is kept from a question without this word."""
ABOUT = re.compile(r"<(context|summary)>.*?</\1>", re.DOTALL)
"""What surrounds a message in a prompt."""
MOST = 5
"""The most tags of a kind that are heeded in one answer."""
SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]


def made_up(number: int) -> str:
    """Returns four words that are unique to a number and unlike those of any other."""
    digest = hashlib.sha256(str(number).encode()).digest()
    names = ("".join(SYLLABLES[byte % len(SYLLABLES)] for byte in digest[at : at + 4]) for at in range(0, 16, 4))
    return " ".join(names).capitalize()


def learned(number: int) -> bool:
    """Whether the answer to a question contains a fact."""
    return number % 4 == 0


def remembered(number: int) -> bool:
    """Whether it contains a learning."""
    return number % 14 == 3


def whole_answer(numbers: list[int], taught: bool = True) -> str:
    """Returns the answer to these questions. After "kept" it names those from which it keeps something."""
    facts = [number for number in numbers if taught and learned(number)][:MOST]
    learnings = [number for number in numbers if taught and remembered(number)][:MOST]
    text = "Answer: " + " ".join(f"q{number}" for number in numbers)
    if facts or learnings:
        text += ", kept " + " ".join(f"f{number}" for number in facts + learnings)
    lines = [text + "."]
    lines += [f"[LEARN: {made_up(number)}]" for number in facts]
    entries = ({"content": made_up(number), "category": "knowledge", "tags": []} for number in learnings)
    lines += [f"[REMEMBER] {json.dumps(entry)}" for entry in entries]
    return "\n".join(lines)


def heard(messages: list[dict[str, Any]]) -> tuple[list[int], bool, str]:
    """Returns the numbers of the latest questions, whether something may be kept from them, and the part of their
    answer that was already said."""
    told: list[str] = []
    for message in reversed(messages):
        blocks = as_blocks(message.get("content"))
        if message.get("role") == "assistant":
            told.append(plain(message.get("content")))
        elif not any(block.get("type") == "tool_result" for block in blocks):
            asked = ABOUT.sub("", plain(message.get("content")))
            numbers = [int(number) for number in WORD.findall(asked)]
            if numbers:
                return numbers, TAUGHT in asked, "".join(reversed(told))
    return [], False, ""


def answer(request: Recorded) -> Reply:
    """Returns the model's answer, or the rest of it after a cut stream. A tool's result adds nothing."""
    numbers, taught, told = heard(request.messages)
    whole = whole_answer(numbers, taught)
    rest = whole[len(told) :] if whole.startswith(told) else ""
    return Reply(rest or "That is all.", spread=0.4)

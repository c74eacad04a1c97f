"""Decides from a record whether each promise was kept. Pure: it reads nothing but the record."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from textwrap import indent

from tests.chaos.record import Place, Question, Record, Shown


@dataclass
class Verdict:
    """The kept and broken promises. Each breach is a line that says where."""

    asked: int = 0
    once: int = 0
    windows: list[str] = field(default_factory=list)
    """Questions answered twice because the bot can't know that a first answer arrived."""
    broken: dict[str, list[str]] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether every promise was kept."""
        return not any(self.broken.values())

    def lines(self) -> list[str]:
        """Returns the verdict as text."""
        lines = [f"{self.asked} questions, {self.once} answered exactly once, {len(self.windows)} in a window"]
        lines += [f"  window: {window}" for window in self.windows]
        for promise, trouble in self.broken.items():
            lines.append(f"{'BROKEN' if trouble else 'kept  '}  {promise}" + (f": {len(trouble)}" if trouble else ""))
            lines += [indent(line, "  ") for line in trouble[:20]]
        return lines


def verdict(record: Record, content: Callable[[int], str]) -> Verdict:
    """Returns the verdict on a run. `content` gives the memory that a question leaves, if any."""
    shown: dict[tuple[Place, int], list[Shown]] = defaultdict(list)
    for message in sorted(record.shown, key=lambda message: message.message_id):
        for number in message.answers:
            shown[message.place, number].append(message)
    told = Verdict(asked=len(record.asked))
    lost, doubled = [], []
    for question in record.asked:
        found = shown.pop((question.place, question.number), [])
        if not found:
            lost.append(f"q{question.number} in {question.place} has no answer")
        elif len(found) == 1:
            told.once += 1
        elif reason := excuse(found):
            told.windows.append(f"q{question.number} in {question.place}: {reason}")
        else:
            doubled.append(f"q{question.number} in {question.place} is answered {len(found)} times")
    strays = [f"q{number} is answered in {place}, where nobody asked it" for place, number in shown]
    lost += [f"q{number} was edited, and is offered no new answer" for number in record.unoffered]
    for (place, command), given in record.commands.items():
        replies = [message for message in record.shown if (message.place, message.command) == (place, command)]
        if len(replies) < given:
            lost.append(f"{command} in {place} has {len(replies)} replies, and was given {given} times")
        elif reason := excuse(replies, given):
            told.windows.append(f"{command} in {place}: {reason}")
        elif len(replies) > given:
            doubled.append(f"{command} in {place} has {len(replies)} replies, and was given {given} times")
    told.broken = {
        "nothing is lost": lost,
        "nothing is answered twice": doubled,
        "answers are where the question was": strays,
        "the order of each thread is kept": swapped(record.asked, record.shown),
        **memories(record, content),
        "what is counted is right": [
            f"{count.what}: {count.found}, and not {count.wanted}"
            for count in record.counts
            if count.found != count.wanted
        ],
        "nothing is left behind": record.left,
        "no error comes as a surprise": record.logged,
    }
    return told


def excuse(found: list[Shown], wanted: int = 1) -> str:
    """Explains surplus answers by deliveries that the bot never heard of. Empty if these don't account for them, or if
    there are none."""
    unheard = [message.unheard for message in found if not message.known and message.unheard]
    return "; ".join(unheard) if len(unheard) >= len(found) - wanted > 0 else ""


def swapped(asked: list[Question], shown: list[Shown]) -> list[str]:
    """Returns the places where a later question was answered first."""
    order: dict[Place, list[int]] = defaultdict(list)
    for message in sorted(shown, key=lambda message: message.message_id):
        order[message.place] += [number for number in message.answers if number not in order[message.place]]
    wanted: dict[Place, list[int]] = defaultdict(list)
    for question in asked:
        if question.ordered:
            wanted[question.place].append(question.number)
    broken = []
    for place, numbers in wanted.items():
        answered = [number for number in order[place] if number in set(numbers)]
        expected = [number for number in numbers if number in set(answered)]
        late = [f"q{number}" for number, right in zip(answered, expected, strict=True) if number != right]
        if late:
            broken.append(f"{place}: {', '.join(late[:6])}")
    return broken


def memories(record: Record, content: Callable[[int], str]) -> dict[str, list[str]]:
    """Compares the stored memories with those that the answers claim."""
    owner = {question.number: question.user_id for question in record.asked}
    owner |= {number: owner.get(old, 0) for number, old in record.edited.items()}
    promised = {number for message in record.shown for number in message.kept} - record.undone
    wanted = {(content(number).lower(), owner.get(number, 0)): number for number in promised}
    counted = Counter((kept.content.lower(), kept.user_id) for kept in record.kept)
    return {
        "no memory is lost": [f"f{wanted[key]} is not kept" for key in wanted if not counted[key]],
        "no memory is doubled": [f"{key[0]!r} is kept {count} times" for key, count in counted.items() if count > 1],
        "no memory came unasked": [f"{key[0]!r} is kept of {key[1]}" for key in counted if key not in wanted],
    }

"""An answer as Telegram messages: one notification sound, the line about memory, the buttons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from relay.core.errors import DeliveryUncertain, MessengerError, MessengerRefused, MessengerThrottled
from relay.core.models import Button
from relay.core.text import shorten
from relay.media.files import OWN_SERVER
from relay.memory.rows.changes import Failure, MemoryChange
from relay.memory.rows.choices import Choices
from relay.memory.rows.delivery import Announcement
from relay.memory.rows.turns.answer import Answer
from relay.surfaces.chat.changes import changes_keyboard, choice_text, memory_line
from relay.surfaces.chat.reply import ButtonReply, button
from relay.surfaces.telegram.outgoing import replies
from relay.surfaces.telegram.outgoing.render import ASKS_FIRST, answer_buttons, answer_parts, message_parts
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.turns.announcements import ends_with_line
from tests.standins.fakes import FakeMessenger

DM = Place(1001, 0, True)
TOPIC = Place(-1001234567890, 8, False, reply_to=55)
Json = dict[str, Any]


def change(action: str = "learn", status: str = "applied", content: str = "likes tea", **more: Any) -> MemoryChange:
    base = {"id": 1, "action": action, "status": status, "memory_id": 4, "kind": "fact", "content": content}
    return MemoryChange(**base | {"subject": "Ada", "subject_id": 1001, "before": None} | more)


def data(rows: list[list[Button]]) -> list[str]:
    return [one.callback_data for row in rows for one in row]


def test_a_short_answer_is_one_message() -> None:
    (part,) = answer_parts(Answer("Hello **you**"), DM, 9)
    assert (part.seq, part.chat_id) == (1, 1001)
    request = part.request
    assert request["text"] == "Hello you"
    assert request["entities"][0]["type"] == "bold"
    assert request["link_preview_options"] == {"is_disabled": True}
    for key in ("disable_notification", "message_thread_id", "reply_parameters", "parse_mode"):
        assert key not in request


def test_only_the_first_part_notifies_and_only_the_last_has_buttons() -> None:
    parts = answer_parts(Answer("word " * 3000, changes=[change()]), TOPIC, 9)
    assert len(parts) > 2
    assert [part.seq for part in parts] == list(range(1, len(parts) + 1))
    assert [part.request.get("disable_notification", False) for part in parts] == [False, *[True] * (len(parts) - 1)]
    assert ["reply_markup" in part.request for part in parts] == [*[False] * (len(parts) - 1), True]
    assert ["reply_parameters" in part.request for part in parts] == [True, *[False] * (len(parts) - 1)]
    assert {part.request["message_thread_id"] for part in parts} == {8}
    assert all(len(part.request["text"].encode("utf-16-le")) // 2 <= 4096 for part in parts)
    assert "🧠 Learned: likes tea" in parts[-1].request["text"]


def test_a_notice_is_silent() -> None:
    (part,) = message_parts("Done.", DM, silent=True)
    assert part.request["disable_notification"] is True
    assert message_parts("", DM) == []


def test_each_used_tool_is_named_once() -> None:
    (part,) = answer_parts(Answer("Here.", tools=("search_memory", "search_memory", "web_fetch", "new_tool")), DM, 9)
    assert "🔎 searched memory, read a web page, new_tool" in part.request["text"]
    assert part.request["text"].count("searched memory") == 1


def test_a_note_and_the_memory_changes_share_one_line() -> None:
    (part,) = answer_parts(Answer("Text.", changes=[change()], note="Stopped."), DM, 9)
    assert part.request["text"].endswith("Stopped. · 🧠 Learned: likes tea")


NOTICES = [
    f"⚠️ I couldn't use your file {'a long name of a report ' * 3}{n}.pdf. It's too large: 34 MB; I can take 20 MB."
    + OWN_SERVER
    for n in range(4)
]


def test_a_note_about_four_files_leaves_room_for_memory_and_budget() -> None:
    warning = "⚠️ Today's budget is nearly used up"
    told = Answer("Text.", changes=[change()], note=" ".join(NOTICES), unlearned=True, warning=warning)
    (part,) = answer_parts(told, DM, 9)
    text = part.request["text"]
    assert all(notice in text for notice in NOTICES)
    assert text.endswith(f" · 🧠 Learned: likes tea · 🧠 Learning is off (/settings) · {warning}")


@pytest.mark.parametrize(
    ("sign", "line"),
    [("private", "🕶 Off the record"), ("unlearned off", "Not learned: memory is off")],
)
def test_the_reason_why_nothing_was_learned_is_given_once(sign: str, line: str) -> None:
    (part,) = answer_parts(Answer("Text.", unlearned=True, signs=(sign,)), DM, 9)
    assert part.request["text"] == f"Text.\n\n{line}"


def test_a_line_that_waits_because_of_a_file_says_so() -> None:
    def line(*taints: str, status: str = "pending") -> str:
        told = Answer("Text.", changes=[change(status=status)], tainted_by=taints)
        return str(answer_parts(told, DM, 9)[-1].request["text"])

    assert line("recent").endswith(f"Waiting for your tap · {ASKS_FIRST}")
    for other in (line(), line("recalled"), line("recent", "people"), line("recent", status="applied")):
        assert ASKS_FIRST not in other


@pytest.mark.parametrize("sign", ["x", "🐈"])
def test_a_very_long_note_is_cut_but_the_text_after_it_is_not(sign: str) -> None:
    several = [change("forget", "pending", f"cat {n}", id=n) for n in range(10)]
    failed = [Failure("FORGET", "the trumpet", "nothing matches")]
    told = Answer("Text.", changes=several, failed=failed, note=f"{sign * 9000}", warning="The budget.")
    text = answer_parts(told, DM, 9)[-1].request["text"]
    assert f"{sign} … · 🧠 Which one should I forget? 1 cat 0 " in text
    assert text.endswith("⚠️ Not forgotten (nothing matches): the trumpet · The budget.")


def test_a_shown_line_is_recognized_even_if_its_note_was_cut() -> None:
    told = Answer("Text.", note="x" * 9000, warning="The budget.")
    text = answer_parts(told, DM, 9)[-1].request["text"]
    due = Announcement(
        turn_id=9, tells=(), changes=(), told=told, keeps=False, chat_id=1, topic_id=0, private=True, owner_id=1,
        shown=None, before={"text": text},
    )  # fmt: skip
    assert ends_with_line(due, text, [])


def test_an_answer_has_the_buttons_that_apply() -> None:
    assert data(answer_buttons(Answer("x"), 9)) == ["k:9"]
    assert answer_buttons(Answer("x", choices=Choices(keep=False)), 9) == []
    assert answer_buttons(Answer("x", resting=True), 9) == [], "while memory is off, nothing can be kept"
    assert answer_buttons(Answer("x", signs=("private",)), 9) == []
    assert answer_buttons(Answer(""), 9) == []
    assert data(answer_buttons(Answer("x", changes=[change()]), 9)) == ["u:9", "k:9"]
    assert data(answer_buttons(Answer("", changes=[change()]), 9)) == ["u:9"]
    assert data(answer_buttons(Answer("x", retry=True, web=True), 9)) == ["k:9", "r:9", "w:9"]
    pending = answer_buttons(Answer("x", changes=[change(), change(status="pending")]), 9)
    assert "Keep or discard" in pending[0][0].text


def test_people_who_want_it_are_asked_which_answer_was_better() -> None:
    again = Answer("x", before=8, replaced=True)
    assert data(answer_buttons(again, 9)) == ["k:9", "b:9"]
    wanted = replace(again, choices=Choices(compare=True))
    assert data(answer_buttons(wanted, 9)) == ["k:9", "f:9", "wt:9:8", "t:9"], (
        "the button First also restores the earlier answer"
    )
    assert answer_parts(wanted, DM, 9)[-1].request["text"] == "x\n\n⚖ Which was better?"
    for other in (replace(wanted, before=None), replace(wanted, signs=("private",)), replace(wanted, other="y")):
        assert "⚖" not in answer_parts(other, DM, 9)[-1].request["text"]


@pytest.mark.parametrize(
    ("one", "line"),
    [
        (change(), "🧠 Learned: likes tea"),
        (change(kind="learning"), "◆ Kept: likes tea"),
        (change(status="pending"), "🧠 To remember: likes tea. Waiting for your tap"),
        (change("refresh", before="liked tea"), "🧠 Updated: likes tea (was: liked tea)"),
        (change("refresh", before="likes tea"), "🧠 Already knew: likes tea"),
        (change("forget"), "🧠 Forgot: likes tea"),
        (change("forget", "pending"), "🧠 Forget “likes tea”? Waiting for your tap"),
        (change(status="undone"), "↩ Undone: likes tea"),
        (change("forget", "discarded"), "✖ Not forgotten: likes tea"),
    ],
)
def test_each_memory_change_has_its_wording(one: MemoryChange, line: str) -> None:
    assert memory_line([one], []) == line


def test_several_memories_to_choose_from_are_one_question() -> None:
    several = [change("forget", "pending", f"cat {n}", id=n) for n in range(3)]
    line = memory_line([change(), *several], [])
    assert line == "🧠 Which one should I forget? 1 cat 0  2 cat 1  3 cat 2 · 🧠 Learned: likes tea"
    rows = answer_buttons(Answer("x", changes=[change(id=9), *several]), 9)
    labels = [[one.text for one in row] for row in rows]
    assert labels == [["🗑 1", "🗑 2", "🗑 3"], ["✖ None of these"], ["↩ Undo / Edit…", "◆ Keep this"]]
    assert data(rows) == ["d:0:k", "d:1:k", "d:2:k", "d:0:n", "u:9", "k:9"]


def test_ten_memories_to_choose_from_fit_the_line_and_the_buttons() -> None:
    several = [change("forget", "pending", f"cat {n} {'x' * 200}", id=n) for n in range(10)]
    line = memory_line([*several, *[change(content="y" * 200)] * 5], [])
    assert all(f" {number} cat {number - 1} x" in line[:350] for number in range(1, 11))
    assert [len(row) for row in answer_buttons(Answer("x", changes=several), 9)] == [5, 5, 1, 1]
    text = choice_text(several, more=True, named=True)
    assert "- **10** · Ada: cat 9" in text
    assert text.endswith("There are more. Use more specific words to find them.")
    assert choice_text(several[:2], more=False, named=False).splitlines()[2].startswith("- **1** · cat 0")


def test_the_chosen_memory_can_be_undone_and_the_others_are_one_line() -> None:
    decided = [change("forget", "applied", "cat 0", id=1)]
    decided += [change("forget", "discarded", f"cat {n}", id=n) for n in (2, 3)]
    rows = changes_keyboard(decided, 9, opened=True)
    assert [row[0].text for row in rows] == ["↩ Undo: cat 0", "✖ Not forgotten: 2 of these", "‹ Close"]
    rows = changes_keyboard(decided[:2], 9, opened=True)
    assert rows[1][0].text == "✖ Not forgotten: cat 2"


def test_failed_memory_changes_are_shown() -> None:
    failed = [
        Failure("FORGET", "the trumpet", "nothing matches"),
        Failure("LEARN", "x" * 300, "longer than 200 characters"),
        Failure("ODD", "t", "why", "/how"),
    ]
    line = memory_line([], failed)
    assert line.startswith("⚠️ Not forgotten (nothing matches): the trumpet · ⚠️ Not learned (longer than")
    assert line.endswith("Not done (why, /how): t")
    assert len(line) < 250


def test_without_changes_there_is_no_memory_line() -> None:
    assert memory_line([], []) == ""


def test_the_opened_keyboard_offers_the_open_decisions() -> None:
    changes = [
        change(id=1), change("forget", id=2), change(status="pending", id=3), change("forget", "pending", id=4),
        change(status="undone", id=5),
    ]  # fmt: skip
    rows = changes_keyboard(changes, 9, opened=True)
    assert data(rows) == ["d:1:u", "e:4", "d:2:u", "d:3:k", "d:3:x", "d:4:k", "d:4:x", "n", "c:9"]
    assert data(changes_keyboard(changes, 9, opened=False)) == ["u:9"]


def test_callback_data_fits_telegram() -> None:
    rows = changes_keyboard([change(id=2**62, memory_id=2**62)], 2**62, opened=True)
    assert all(0 < len(value.encode()) <= 64 for value in data(rows))


def test_long_texts_are_shortened_to_one_line() -> None:
    assert shorten("a\n b\tc") == "a b c"
    assert shorten("x" * 200) == "x" * 89 + "…"
    assert shorten("x" * 90) == "x" * 90


def test_learned_text_is_shown_literally() -> None:
    (part,) = answer_parts(Answer("Ok.", changes=[change(content="*not* <b>bold</b> [x](http://y)")]), DM, 9)
    assert "*not* <b>bold</b> [x](http://y)" in part.request["text"]


@pytest.mark.parametrize("place", [Place(-100, 1, False), Place(1001, 0, True)])
def test_the_general_topic_has_no_thread_id(place: Place) -> None:
    assert "message_thread_id" not in place.address()


@pytest.mark.parametrize(
    ("troubles", "confirmed"),
    [
        ([MessengerThrottled(0.01), DeliveryUncertain()], True),
        ([MessengerThrottled(60)], False),
        ([MessengerRefused("Bad Request: message can't be edited")], False),
        ([MessengerRefused("Bad Request: message is not modified")], True),
    ],
)
async def test_a_button_is_redrawn_although_telegram_asks_for_a_moment(
    troubles: list[MessengerError], confirmed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "REDRAW_SECONDS", 2.0 if len(troubles) > 1 else 0.05)
    stored: list[str] = []

    class Hurried(FakeMessenger):
        async def call(self, method: str, **parameters: Any) -> Any:
            await super().call(method, **parameters)
            if troubles:
                raise troubles.pop(0)

    class Shown:
        async def start_redrawing(self, *_: Any, **given: Any) -> bool:
            stored.append("may show")
            return True

        async def may_redraw_still(self, *_: Any, **given: Any) -> bool:
            return True

        async def store_redrawn(self, *_: Any, **given: Any) -> None:
            stored.append("shows")

    done = ButtonReply("Noted.", rows=[[button("✓ too long", "n")]])
    await replies.redraw_pressed(Shown(), Hurried(), 7, Place(9, 0, True), 5, done)  # type: ignore[arg-type]
    assert stored == (["may show", "shows"] if confirmed else ["may show"])

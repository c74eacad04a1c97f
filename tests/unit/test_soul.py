"""The commands for the soul and personas: what is accepted, what is refused and why, and who may press what."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.commands.registry import ADMINS_ONLY
from relay.core.limits import PERSONA_TOKENS, SOUL_TOKENS
from relay.core.models import Button, File
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.dispatch import hear_answer, press_button, run_command
from relay.surfaces.chat.reply import ButtonReply, CommandReply
from relay.surfaces.chat.soul.documents import MOST_BYTES
from relay.surfaces.telegram.formatting.format import format_reply
from relay.surfaces.telegram.parsing.updates import command_of
from tests.standins.fakes import FakeMessenger
from tests.telegram_objects import as_message
from tests.unit.test_commands import ADA, BEN, Canned, call
from tests.unit.test_updates import BOT, message

ACTIVE = {
    "version": 3, "text": "You are kind.", "author_id": BEN, "author": "Ben", "reason": "fun", "active": True,
    "created_at": "2026-01-01T00:00:00Z",
}  # fmt: skip
OURS = ("sh", "sv", "sr", "sa", "sx", "se", "pc", "pu", "pe")
PARTS = {"sa": 2, "pu": 2}


def asked(database: Canned | None = None, text: str = "", **more: Any) -> ChatContext:
    return call(database, text, admin=True, **more)


async def soul(made: ChatContext) -> CommandReply:
    return await run_command(made, "soul")


def document(name: str = "soul.md", size: int = 10, **more: Any) -> dict[str, Any]:
    return {"file_id": "F", "file_name": name, "file_size": size, "mime_type": "text/markdown"} | more


async def sent(content: bytes, **more: Any) -> tuple[CommandReply, Canned]:
    """The reply to a document with the caption /soul set."""
    database = Canned(soul=ACTIVE, draft_soul=8)
    made = asked(database, "set", message={"message_id": 1, "document": document(**more)})
    messenger = made.messenger
    assert isinstance(messenger, FakeMessenger)
    messenger.files["F"] = content
    return await soul(made), database


def labels(told: CommandReply | ButtonReply) -> list[str]:
    return [one.text for row in told.rows or () for one in row]


# Showing and setting


async def test_the_active_soul_is_shown_with_author_date_reason_and_length() -> None:
    told = await soul(asked(Canned(soul=ACTIVE)))
    (shown,) = format_reply(told.text)
    assert shown.text == (
        "Soul, version 3 (active)\nby Ben · 2026-01-01 00:00 · fun · about 4 of at most 4,000 tokens\n\nYou are kind."
    )
    assert labels(told) == ["✎ Edit", "History"]
    mine = await soul(asked(Canned(soul=ACTIVE | {"author_id": ADA})))
    assert "by you · 2026" in mine.text
    first = await soul(asked(Canned(soul=ACTIVE | {"author_id": None, "author": None})))
    assert "\n2026-01-01" in first.text


@pytest.mark.parametrize("text", ["set You are a pirate.", "set\nYou are a pirate.", "SET  You are a pirate. "])
async def test_a_typed_soul_is_active_at_once_and_can_be_undone(text: str) -> None:
    database = Canned(soul=ACTIVE, activate_soul=4)
    told = await soul(asked(database, text))
    (shown,) = format_reply(told.text)
    assert shown.text == (
        "Soul version 4 is active from the next message on (about 5 of at most 4,000 tokens). "
        "What changed since version 3:\n\nYou are kind. a pirate."
    )
    assert [one["type"] for one in shown.entities] == ["bold", "strikethrough", "bold"]
    assert told.rows == [[Button("↩ Back to version 3", "sr:3")]]
    assert database.calls[-1][1] == {
        "text": "You are a pirate.", "author_id": ADA, "author": "Ada", "reason": "set in the chat",
    }  # fmt: skip


async def test_the_same_soul_again_is_no_new_version() -> None:
    told = await soul(asked(Canned(soul=ACTIVE, activate_soul=3), "set You are kind."))
    assert told.text == "That's already my soul, version 3."


@pytest.mark.parametrize(
    "text", ["set", "set ", "setting x", "x", "set\n", "edit x", "history x", "restore", "restore x"]
)
async def test_an_incomplete_soul_command_shows_its_usage(text: str) -> None:
    database = Canned()
    assert "/soul set" in format_reply((await soul(asked(database, text))).text)[0].text
    assert database.calls == []


async def test_the_length_of_a_soul_is_limited() -> None:
    database = Canned()
    assert "at most" in (await soul(asked(database, "set " + "x" * (SOUL_TOKENS * 4 + 5)))).text
    cut = "set " + "x" * 3996
    assert "may be only the first part" in (await soul(asked(database, cut, message={"text": cut}))).text
    in_shell = await soul(asked(Canned(soul=ACTIVE, activate_soul=4), cut, message={"text": cut}, bot_id=0))
    assert "Soul version 4 is active" in format_reply(in_shell.text)[0].text, "a shell cuts nothing"
    long = "x" * (PERSONA_TOKENS * 4 + 5)
    too_long = asked(database, long, message={"text": f"/persona {long}"})
    assert "at most 1000" in (await run_command(too_long, "persona")).text, "this limit is checked first"
    assert database.calls == []


async def test_a_missing_soul_is_reported() -> None:
    assert "I don't have a soul yet" in (await soul(asked(Canned(soul=None)))).text


async def test_a_version_or_page_that_does_not_exist_is_refused() -> None:
    assert "There's no version 9" in (await soul(asked(Canned(soul_version=None), "restore 9"))).text
    empty = Canned(souls={"total": 3, "souls": []})
    assert "There's no page 9" in (await soul(asked(empty, "history 9"))).text


# Texts from documents and replies


@pytest.mark.parametrize("content", [b"You are\r\ncalm.\r\n", b"\xef\xbb\xbf  You are\ncalm."])
async def test_a_document_makes_a_draft(content: bytes) -> None:
    told, database = await sent(content)
    assert "Nothing has changed yet" in told.text
    assert labels(told) == ["✅ Activate", "✖ Discard", "🧪 Try"]
    assert [one.callback_data for row in told.rows for one in row] == ["sa:8:3", "sx:8", "so:8"]
    assert database.calls[-1] == ("draft_soul", {
        "turn_id": 1, "text": "You are\ncalm.", "author_id": ADA, "author": "Ada",
        "reason": "from the document soul.md", "based_on": 3,
    })  # fmt: skip


@pytest.mark.parametrize(
    ("content", "more", "words"),
    [
        (b"\xff\xfe\x00x", {}, "isn't UTF-8 text"),
        (b"a\x00b", {}, "isn't UTF-8 text"),
        (b" \n ", {}, "empty"),
        (b"x", {"size": MOST_BYTES + 1}, "The limit is 64 KB"),
        (b"x" * (MOST_BYTES + 1), {}, "The limit is 64 KB"),
        (b"x" * MOST_BYTES, {}, "a soul can have at most 4000"),
        (b"x", {"name": "soul.pdf", "mime_type": "application/pdf"}, "only read .md and .txt documents"),
        (b"x", {"file_id": "gone"}, "couldn't download"),
    ],
)
async def test_a_document_that_cannot_be_a_soul_is_refused(content: bytes, more: dict[str, Any], words: str) -> None:
    told, database = await sent(content, **more)
    assert words in told.text
    assert "draft_soul" not in [name for name, _ in database.calls]


@pytest.mark.parametrize(
    ("replied", "expected"),
    [
        ({"reply_to_message": {"text": " You are calm. "}}, "You are calm."),
        ({"reply_to_message": {"caption": "You are calm.", "photo": [{}]}}, "You are calm."),
        ({"reply_to_message": {"text": "x You are calm."}, "quote": {"text": "You are calm.", "is_manual": True}},
         "You are calm."),
        ({"reply_to_message": {"text": "You are calm."}, "quote": {"text": "calm", "position": 0}}, "You are calm."),
        ({"external_reply": {"origin": {}}, "quote": {"text": "calm", "is_manual": True}}, "calm"),
    ],
)  # fmt: skip
async def test_a_replied_message_makes_a_draft(replied: dict[str, Any], expected: str) -> None:
    database = Canned(soul=ACTIVE, draft_soul=8)
    await soul(asked(database, "set", message={"message_id": 1, **replied}))
    assert database.calls[-1][1]["text"] == expected
    assert database.calls[-1][1]["reason"] == "from a message"


async def test_a_replied_message_without_text_is_refused() -> None:
    told = await soul(asked(Canned(), "set", message={"message_id": 1, "reply_to_message": {"photo": [{}]}}))
    assert told.text == "That message has no text."
    in_a_topic = {"message_id": 1, "reply_to_message": {"forum_topic_created": {"name": "x"}}}
    assert "What should I be?" in (await soul(asked(Canned(), "set", message=in_a_topic))).text


async def test_set_without_a_text_says_how_to_give_one_here() -> None:
    told = (await soul(asked(Canned(), "set"))).text
    assert "caption" in told
    assert "history" not in told
    at_a_terminal = (await soul(replace(asked(Canned(), "set"), bot_id=0))).text
    assert at_a_terminal == "What should I be? Write it after the command: /soul set &#60;text&#62;"


def test_a_caption_is_a_command_only_if_the_command_takes_a_document() -> None:
    given = {"document": {"file_id": "F"}}
    assert command_of(as_message(message(None, caption="/soul set", **given)), BOT) is not None
    assert command_of(as_message(message(None, caption="/soul@relay_bot set", **given)), BOT) is not None
    for body in (
        message(None, caption="/soul set", photo=[{}]),
        message(None, caption="/remember x", **given),
        message(None, caption="/soul@other_bot set", **given),
        message(None, caption="/soul set", forward_date=1, **given),
    ):
        assert command_of(as_message(body), BOT) is None


# Editing


async def test_edit_sends_the_soul_to_copy() -> None:
    told = await soul(asked(Canned(soul=ACTIVE | {"text": "Use ```code``` and *stars*.\n\n# x"}), "edit"))
    (shown,) = format_reply(told.text)
    assert shown.text.startswith("✎ soul #3 – reply to this message")
    assert shown.text.endswith("\nUse ```code``` and *stars*.\n\n# x")
    assert [one["type"] for one in shown.entities] == ["pre"]
    assert told.asks


async def test_a_soul_too_long_for_a_message_is_sent_as_a_document() -> None:
    text = "ä" * 3600
    told = await soul(asked(Canned(soul=ACTIVE | {"text": text}), "edit"))
    assert told.text.startswith("✎ soul #3 ")
    assert told.file == File("soul-3.md", text.encode())


async def test_the_reply_becomes_a_draft_based_on_the_version_that_was_sent() -> None:
    database = Canned(soul=ACTIVE, draft_soul=8)
    told = await hear_answer(asked(database, "You are kind and calm."), "soul", 2)
    assert "based on version 2, but version 3 is active now" in told.text
    assert database.calls[-1][1]["based_on"] == 2
    told = await hear_answer(asked(database, "You are kind and calm."), "soul", 3)
    assert "is active now" not in told.text
    assert (await hear_answer(call(Canned(), "You are evil."), "soul", 3)).text == ADMINS_ONLY


# Buttons


@pytest.mark.parametrize("kind", OURS)
async def test_the_buttons_are_only_for_admins(kind: str) -> None:
    done = await press_button(
        call(Canned(persona={"id": 1, "text": "x"})), ":".join([kind, *["1"] * PARTS.get(kind, 1)])
    )
    assert (done.toast, done.rows, done.says) == (ADMINS_ONLY, None, None)


@given(st.sampled_from(OURS), st.lists(st.text(max_size=20), min_size=2, max_size=2))
async def test_malformed_button_data_gets_an_answer(kind: str, given_parts: list[str]) -> None:
    database = Canned(
        souls={"total": 0, "souls": []}, soul_version=None, soul=None, decide_soul_draft=None, persona=None,
        set_persona={"present": None, "before": None},
    )  # fmt: skip
    made = asked(database, message={"message_id": 1, "reply_markup": {"inline_keyboard": [[{"text": "x"}]]}})
    done = await press_button(made, ":".join([kind, *given_parts[: PARTS.get(kind, 1)]]))
    assert done.toast or done.says


@pytest.mark.parametrize(
    ("status", "decision", "toast", "rows"),
    [
        ("activated", "sa", "Version 4 is active from the next message on.",
         ["✅ Activated as version 4", "↩ Back to version 3"]),
        ("activated", "sx", "Version 4 is already active.", ["✅ Activated as version 4", "↩ Back to version 3"]),
        ("discarded", "sx", "Draft discarded.", ["✖ Discarded"]),
        ("discarded", "sa", "Draft discarded.", ["✖ Discarded"]),
    ],
)  # fmt: skip
async def test_the_outcome_of_a_draft_is_shown_under_it(
    status: str, decision: str, toast: str, rows: list[str]
) -> None:
    version = 4 if status == "activated" else None
    database = Canned(decide_soul_draft={"id": 8, "status": status, "version": version, "text": "x", "based_on": 3})
    done = await press_button(asked(database), ":".join([decision, "8", *(["3"] if decision == "sa" else [])]))
    assert (done.toast, labels(done)) == (toast, rows)


async def test_an_outdated_draft_must_be_confirmed_again() -> None:
    draft = {"id": 8, "status": "open", "version": None, "text": "You are kind and calm.", "based_on": 2}
    done = await press_button(asked(Canned(decide_soul_draft=draft, soul=ACTIVE)), "sa:8:2")
    assert "Version 3 has become active in the meantime" in done.toast
    assert done.rows == ()
    assert "The difference to version 3" in done.says.text
    assert done.says.rows[0][0].callback_data == "sa:8:3"


# Personas


async def test_the_length_of_a_persona_is_limited() -> None:
    database = Canned()
    told = await run_command(asked(database, "x" * (PERSONA_TOKENS * 4 + 5)), "persona")
    assert f"at most {PERSONA_TOKENS}" in told.text
    assert database.calls == []


async def test_a_persona_is_shown_with_author_and_date() -> None:
    row = {"id": 6, "text": "You teach *Spanish*.\n- slowly", "author_id": ADA, "author": "Ada",
           "created_at": "2026-01-01T00:00:00Z"}  # fmt: skip
    told = await run_command(asked(Canned(persona=row)), "persona")
    (shown,) = format_reply(told.text)
    assert shown.text == (
        "My role here\nby you · 2026-01-01 00:00 · about 8 of at most 1,000 tokens\n\nYou teach *Spanish*.\n- slowly"
    )
    assert [one.callback_data for one in told.rows[0]] == ["pe:6", "pc:6"]
    for nothing in (None, row | {"text": ""}):
        assert "I don't have a role here" in (await run_command(asked(Canned(persona=nothing)), "persona")).text

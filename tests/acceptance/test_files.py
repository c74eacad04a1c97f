"""Files and pictures in the chat arrive whole and once, and no text is lost with them."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from tests.acceptance.shared_relay import SharedRelay
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat, StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")

CODE = "".join(f"print('line {number} of a long program, which no phone wants to scroll')\n" for number in range(300))
ANSWER = f"Here it is, take care of it.\n\n```python\n{CODE}```\n\nAnd that is all."


@pytest.fixture
def shared_relay(module_relay: SharedRelay) -> SharedRelay:
    module_relay.quiet()
    module_relay.model.rule("program", Reply(ANSWER))
    return module_relay


def documents(shared_relay: SharedRelay, chat: Chat) -> list[StoredMessage]:
    return [message for message in shared_relay.replies(chat) if "document" in message.raw]


def content(shared_relay: SharedRelay, message: StoredMessage) -> bytes:
    """Returns what somebody who taps a file gets."""
    media = message.raw.get("document") or message.raw["photo"][-1]
    return shared_relay.tg.files[media["file_id"]].upload.data


async def arrived(shared_relay: SharedRelay, chat: Chat, timeout: float = 40) -> tuple[StoredMessage, StoredMessage]:
    """Waits for the answer's text and file and returns them. There must be nothing else."""
    await shared_relay.tg.wait_for(lambda: documents(shared_relay, chat) and not shared_relay.sql(
        "select 1 from relay.turn where user_id = %s and status <> 'done'", chat.user.id if chat.user else 0
    ), timeout)  # fmt: skip
    text, file = shared_relay.replies(chat)
    return text, file


async def test_long_code_arrives_as_a_file_after_the_text(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    await shared_relay.asked(chat, "write me a program")
    text, file = await arrived(shared_relay, chat)
    assert text.text == "Here it is, take care of it.\n\n📎 code.py (300 lines)\n\nAnd that is all."
    assert not text.silent
    assert file.raw["document"]["file_name"] == "code.py"
    assert content(shared_relay, file).decode() == CODE
    assert file.silent
    # The model reads its code again in the next turn.
    await shared_relay.asked(chat, "and now")
    await shared_relay.model.wait_requests(2)
    assert CODE.strip() in str(shared_relay.model.last.messages).replace("\\n", "\n").replace('\\"', '"').replace(
        "\\'", "'"
    )


async def test_a_reply_to_a_file_shows_it_to_the_model_in_another_conversation(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    await shared_relay.asked(chat, "write me a program")
    _, file = await arrived(shared_relay, chat)
    await shared_relay.tg.say(chat, None, "/new")
    word = shared_relay.word()
    await shared_relay.tg.say(chat, None, f"what is in it? {word}", reply_to=file)
    await shared_relay.tg.wait_for(lambda: word in shared_relay.model.last.last_text)
    assert "line 250 of a long program" in shared_relay.model.last.last_text


async def test_a_file_is_sent_to_the_topic_of_its_answer(shared_relay: SharedRelay) -> None:
    room = shared_relay.room(forum=True)
    topic = shared_relay.tg.topic(room, "Code")
    await shared_relay.asked(room, "a program", topic=topic)
    await shared_relay.tg.wait_for(lambda: documents(shared_relay, room))
    assert {message.topic_id for message in shared_relay.replies(room)} == {topic}


@pytest.mark.parametrize("fault", ["lost", "late", "timeout", "disconnect", "500", "429"])
async def test_a_file_arrives_once_despite_faults(shared_relay: SharedRelay, fault: str) -> None:
    chat = shared_relay.guest()
    order = shared_relay.tg.fault("sendDocument", fault, chat_id=chat.id, delay=0.5)
    await shared_relay.asked(chat, "a program")
    await shared_relay.struck(order)
    if fault == "timeout":
        await shared_relay.crash()
    _, file = await arrived(shared_relay, chat)
    assert content(shared_relay, file).decode() == CODE
    assert not file.buttons


@pytest.mark.parametrize("fault", ["lost", "timeout"])
async def test_a_kill_while_a_file_is_sent_neither_loses_nor_doubles_it(shared_relay: SharedRelay, fault: str) -> None:
    chat = shared_relay.guest()
    order = shared_relay.tg.fault("sendDocument", fault, chat_id=chat.id)
    await shared_relay.asked(chat, "a program")
    await shared_relay.struck(order)
    await shared_relay.crash()
    _, file = await arrived(shared_relay, chat)
    assert content(shared_relay, file).decode() == CODE
    assert not file.buttons


async def test_a_kill_before_a_file_is_queued_neither_loses_nor_doubles_it(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    with shared_relay.locked("outbox", "share"):
        word = await shared_relay.asked(chat, "a program")
        await shared_relay.until("select count(*) from relay.turn where status = 'answered' and user_id = %s", chat.id)
        await shared_relay.relay.kill()
    await shared_relay.again()
    _, file = await arrived(shared_relay, chat)
    assert content(shared_relay, file).decode() == CODE
    assert len([one for one in shared_relay.model.requests if word in one.last_text]) == 1


async def test_the_persons_settings_survive_a_kill_before_the_answer_is_queued(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    shared_relay.sql("insert into relay.choice (user_id, choices) values (%s, '{\"sound\": false}')", chat.id)
    with shared_relay.locked("outbox", "share"):
        await shared_relay.asked(chat, "a program")
        await shared_relay.until("select count(*) from relay.turn where status = 'answered' and user_id = %s", chat.id)
        await shared_relay.relay.kill()
    shared_relay.sql("delete from relay.choice")
    await shared_relay.again()
    text, _ = await arrived(shared_relay, chat)
    assert text.silent


async def test_a_refused_file_does_not_lose_the_text(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    shared_relay.tg.fault("sendDocument", "error", -1, chat.id, description="Bad Request: DOCUMENT_INVALID")
    await shared_relay.asked(chat, "a program")
    await shared_relay.until_said(chat, "Telegram refused some or all of my answer")
    assert "And that is all." in shared_relay.said(chat)[0]
    shared_relay.tg.clear_faults()
    word = await shared_relay.asked(chat)
    await shared_relay.answered(chat, word)


async def test_usage_sends_a_chart(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    await shared_relay.tg.say(chat, None, "/usage")
    await shared_relay.tg.wait_for(lambda: any("photo" in message.raw for message in shared_relay.replies(chat)))
    *_, text, picture = shared_relay.replies(chat)
    assert "Usage in the last 14 days" in text.text
    assert "claude-sonnet-5-5: 1 answer" in text.text
    image = Image.open(io.BytesIO(content(shared_relay, picture)))
    assert (image.format, image.size) == ("JPEG", (800, 400))
    assert picture.silent
    order = shared_relay.tg.fault("sendPhoto", "lost", chat_id=chat.id)
    await shared_relay.tg.say(chat, None, "/usage 30")
    await shared_relay.struck(order)
    await shared_relay.crash()
    await shared_relay.polled()
    done = "select count(*) = 2 from relay.turn where user_id = %s and status = 'done' and kind = 'control'"
    await shared_relay.until(done, chat.id, timeout=30)
    *_, text, picture = shared_relay.replies(chat)
    assert "last 30 days" in text.text
    assert not picture.buttons
    assert sum("photo" in message.raw for message in shared_relay.replies(chat)) == 2


async def test_sent_files_do_not_stay_in_the_database(shared_relay: SharedRelay) -> None:
    assert shared_relay.sql("select count(*) from relay.outbox where request -> 'file' ? 'content'") == [(0,)]

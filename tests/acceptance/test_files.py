"""Files and pictures in the chat: they arrive whole, once, and nothing of the text is lost with them."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from tests.acceptance.house import House
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat, StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")

CODE = "".join(f"print('line {number} of a long program, which no phone wants to scroll')\n" for number in range(300))
ANSWER = f"Here it is, take care of it.\n\n```python\n{CODE}```\n\nAnd that is all."


@pytest.fixture
def house(shared: House) -> House:
    shared.quiet()
    shared.model.rule("program", Reply(ANSWER))
    return shared


def documents(house: House, chat: Chat) -> list[StoredMessage]:
    return [message for message in house.replies(chat) if "document" in message.raw]


def content(house: House, message: StoredMessage) -> bytes:
    """What somebody who taps a file gets."""
    media = message.raw.get("document") or message.raw["photo"][-1]
    return house.tg.files[media["file_id"]].upload.data


async def arrived(house: House, chat: Chat, timeout: float = 40) -> tuple[StoredMessage, StoredMessage]:
    """The text and the file of the answer, which is all there is."""
    await house.tg.wait_for(lambda: documents(house, chat) and not house.sql(
        "select 1 from relay.turn where user_id = %s and status <> 'done'", chat.user.id if chat.user else 0
    ), timeout)  # fmt: skip
    text, file = house.replies(chat)
    return text, file


async def test_long_code_arrives_as_a_file_after_the_text(house: House) -> None:
    chat = house.guest()
    await house.asked(chat, "write me a program")
    text, file = await arrived(house, chat)
    assert text.text == "Here it is, take care of it.\n\n📎 code.py (300 lines)\n\nAnd that is all."
    assert not text.silent
    assert file.raw["document"]["file_name"] == "code.py"
    assert content(house, file).decode() == CODE
    assert file.silent
    # the model reads its code again in the next turn
    await house.asked(chat, "and now")
    await house.model.wait_requests(2)
    assert CODE.strip() in str(house.model.last.messages).replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'")


async def test_in_a_topic_the_file_stays_there(house: House) -> None:
    room = house.room(forum=True)
    topic = house.tg.topic(room, "Code")
    await house.asked(room, "a program", topic=topic)
    await house.tg.wait_for(lambda: documents(house, room))
    assert {message.topic_id for message in house.replies(room)} == {topic}


@pytest.mark.parametrize("fault", ["lost", "late", "timeout", "disconnect", "500", "429"])
async def test_whatever_happens_to_the_file_it_comes_once(house: House, fault: str) -> None:
    chat = house.guest()
    order = house.tg.fault("sendDocument", fault, chat_id=chat.id, delay=0.5)
    await house.asked(chat, "a program")
    await house.struck(order)
    if fault == "timeout":
        await house.crash()
    _, file = await arrived(house, chat)
    assert content(house, file).decode() == CODE
    assert not file.buttons


@pytest.mark.parametrize("fault", ["lost", "timeout"])
async def test_a_kill_while_the_file_is_sent_loses_and_doubles_nothing(house: House, fault: str) -> None:
    chat = house.guest()
    order = house.tg.fault("sendDocument", fault, chat_id=chat.id)
    await house.asked(chat, "a program")
    await house.struck(order)
    await house.crash()
    _, file = await arrived(house, chat)
    assert content(house, file).decode() == CODE
    assert not file.buttons


async def test_a_kill_between_store_and_send_loses_and_doubles_nothing(house: House) -> None:
    chat = house.guest()
    with house.locked("outbox", "share"):
        word = await house.asked(chat, "a program")
        await house.until("select count(*) from relay.turn where status = 'answered' and user_id = %s", chat.id)
        await house.relay.kill()
    await house.again()
    _, file = await arrived(house, chat)
    assert content(house, file).decode() == CODE
    assert len([one for one in house.model.requests if word in one.last_text]) == 1


async def test_what_one_chose_outlives_a_kill_between_store_and_send(house: House) -> None:
    chat = house.guest()
    house.sql("insert into relay.choice (user_id, choices) values (%s, '{\"sound\": false}')", chat.id)
    with house.locked("outbox", "share"):
        await house.asked(chat, "a program")
        await house.until("select count(*) from relay.turn where status = 'answered' and user_id = %s", chat.id)
        await house.relay.kill()
    house.sql("delete from relay.choice")
    await house.again()
    text, _ = await arrived(house, chat)
    assert text.silent


async def test_a_file_that_is_refused_takes_no_text_with_it(house: House) -> None:
    chat = house.guest()
    house.tg.fault("sendDocument", "error", -1, chat.id, description="Bad Request: DOCUMENT_INVALID")
    await house.asked(chat, "a program")
    await house.until_said(chat, "Telegram refused some or all of my answer")
    assert "And that is all." in house.said(chat)[0]
    house.tg.clear_faults()
    word = await house.asked(chat)
    await house.answered(chat, word)


async def test_the_picture_of_usage_arrives(house: House) -> None:
    chat = house.guest()
    await house.answered(chat, await house.asked(chat))
    await house.tg.say(chat, None, "/usage")
    await house.tg.wait_for(lambda: any("photo" in message.raw for message in house.replies(chat)))
    *_, text, picture = house.replies(chat)
    assert "Usage of the last 14 days" in text.text
    assert "claude-sonnet-5-5: 1 answer" in text.text
    image = Image.open(io.BytesIO(content(house, picture)))
    assert (image.format, image.size) == ("JPEG", (800, 400))
    assert picture.silent
    order = house.tg.fault("sendPhoto", "lost", chat_id=chat.id)
    await house.tg.say(chat, None, "/usage 30")
    await house.struck(order)
    await house.crash()
    await house.polled()
    done = "select count(*) = 2 from relay.turn where user_id = %s and status = 'done' and kind = 'control'"
    await house.until(done, chat.id, timeout=30)
    *_, text, picture = house.replies(chat)
    assert "last 30 days" in text.text
    assert not picture.buttons
    assert sum("photo" in message.raw for message in house.replies(chat)) == 2


async def test_what_was_sent_does_not_stay_in_the_database(house: House) -> None:
    assert house.sql("select count(*) from relay.outbox where request -> 'file' ? 'content'") == [(0,)]

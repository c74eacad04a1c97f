"""Tests text, voice, photo and document as input: the effects are the same for all four."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

import pytest

from relay.archive.export import pages
from relay.archive.readable.text import Readable
from relay.core.errors import MediaRefused
from relay.core.models import Attachment, ModelRequest, Space
from relay.media.reading import FileContents, Reader, report_refusal
from tests.integration.conftest import Server
from tests.integration.inside import Inside, Json, inside
from tests.integration.turn_driver import ADA, BEN, EVE, GROUP
from tests.integration.work import summarise_due
from tests.standins.telegram import Chat, StoredMessage, Upload, User

FACT = "my cello is called Bertha"
WAYS: dict[str, Json] = {
    "text": {"text": FACT},
    "voice": {"voice": Upload(b"sound", "a.oga", "audio/ogg")},
    "photo": {"text": FACT, "photo": Upload(b"picture", "a.jpg", "image/jpeg")},
    "document": {"document": Upload(FACT.encode(), "notes.txt", "text/plain")},
}
OWN_WORDS = ("text", "voice")


class Sounds:
    """Transcribes every recording as the same fact."""

    async def read(self, attachment: Attachment) -> FileContents:
        return FileContents([{"type": "text", "text": FACT, "file": asdict(attachment)}], FACT)


class Pictures:
    async def read(self, attachment: Attachment) -> FileContents:
        return FileContents([{"type": "image", "file": asdict(attachment), "untrusted": "photo"}], "(photo)")


class Documents:
    """Reads every document as the same fact. Refuses documents named `broken…`."""

    async def read(self, attachment: Attachment) -> FileContents:
        if attachment.name.startswith("broken"):
            return report_refusal(attachment, MediaRefused("It's damaged."))
        text = {"type": "text", "text": FACT, "untrusted": "document", "file": asdict(attachment)}
        return FileContents([text], f"(file {attachment.name})\n{FACT}")


class Requests(list[ModelRequest]):
    """Records the requests to the model, and answers them."""

    def answers(self, request: ModelRequest) -> list[Json]:
        self.append(request)
        if request.model == "small":
            return [{"type": "text", "text": "They spoke of a cello."}]
        learned = " [LEARN: Ada's cello is called Bertha]" if "Bertha" in str(request.messages[-1]) else ""
        return [{"type": "text", "text": f"Noted.{learned}"}]

    @property
    def last(self) -> str:
        """The current message of the last request, as the model reads it."""
        return str(self[-1].messages[-1]["content"])


@pytest.fixture
def asked() -> Requests:
    return Requests()


@pytest.fixture
async def relay(embedded: Server, asked: Requests) -> AsyncIterator[Inside]:
    reader = Reader(Sounds(), Pictures(), Documents())
    async with inside(embedded, asked.answers, frozenset([EVE]), frozenset([ADA, BEN]), reader) as opened:
        yield opened


async def said(relay: Inside, chat: Chat, user: User | None = None, **what: Any) -> StoredMessage:
    message = await relay.tg.say(chat, user, **what)
    await relay.settled()
    return message


def replies(relay: Inside, chat: Chat) -> list[StoredMessage]:
    return [message for message in relay.tg.messages(chat) if message.from_bot]


@pytest.mark.parametrize("way", list(WAYS))
async def test_memory_works_for_every_kind_of_input(relay: Inside, asked: Requests, way: str) -> None:
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    await said(relay, chat, **WAYS[way])
    (reply,) = replies(relay, chat)
    (row,) = await relay.sql("select text, untrusted from message where role = 'user'")
    assert FACT in row[0]
    assert row[1] is (way not in OWN_WORDS)
    ((status,),) = await relay.sql("select status from memory")
    assert status == ("active" if way in OWN_WORDS else "pending")
    if way not in OWN_WORDS:
        for label in ("Keep or discard", "Keep: "):
            pressed = next(data for name, data in replies(relay, chat)[0].buttons.items() if label in name)
            relay.tg.press(chat, None, reply, pressed)
            await relay.settled()
    assert await relay.sql("select status from memory") == [("active",)]
    topic = relay.tg.topic(chat, "Elsewhere")
    await said(relay, chat, text="what is it called?", topic=topic)
    assert "cello is called Bertha" in str(asked[-1].system)


@pytest.mark.parametrize("way", list(WAYS))
async def test_exchanges_summaries_and_search_work_for_every_kind_of_input(
    relay: Inside, asked: Requests, way: str
) -> None:
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    for _ in range(5):
        await said(relay, chat, **WAYS[way])
    assert await relay.sql("select exchange_count from thread") == [(5,)]
    assert await summarise_due(relay.summariser) == 1
    summary = str(asked[-1].messages)
    assert asked[-1].model == "small"
    assert summary.count(FACT) == 5
    assert summary.count("<untrusted") == (0 if way in OWN_WORDS else 5)
    assert await relay.sql("select tainted from summary") == [(way not in OWN_WORDS,)]
    await said(relay, chat, text="/search cello Bertha")
    assert "Bertha" in replies(relay, chat)[-1].text


@pytest.mark.parametrize("way", list(WAYS))
async def test_an_export_contains_every_kind_of_input(relay: Inside, way: str) -> None:
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    await said(relay, chat, **WAYS[way])
    readable = Readable("Ada", relay.worker._services.zone)
    space = Space("private", owner_id=ADA)
    text = "".join([readable.add(page) async for page in pages(relay.store, space, "1")]) + readable.end()
    line = {"voice": "[voice note]", "photo": "[photo]", "document": "[file notes.txt]"}.get(way, "")
    assert FACT in text
    assert line in text
    assert text.count("[") == bool(line)


@pytest.mark.parametrize("way", ["voice", "photo", "document"])
async def test_retry_answers_a_message_with_its_file_again(relay: Inside, asked: Requests, way: str) -> None:
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    await said(relay, chat, **WAYS[way])
    first = asked.last
    await said(relay, chat, text="/retry")
    assert [block["text"] for block in asked[-1].messages[-1]["content"][:-1]] == [
        block["text"] for block in asked[0].messages[-1]["content"][:-1]
    ], first


async def test_an_unusable_message_gets_an_explanation_without_asking_the_model(relay: Inside, asked: Requests) -> None:
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    await said(relay, chat, document=Upload(b"x", "broken.pdf"))
    await said(relay, chat, story={"chat": {"id": 5, "first_name": "Ben"}, "id": 1})
    assert [reply.text for reply in replies(relay, chat)] == [
        "⚠️ I couldn't use your file broken.pdf. It's damaged.",
        "⚠️ Telegram doesn't show stories to bots. Please send a screenshot or its text.",
    ]
    assert not asked


async def test_each_of_many_unusable_files_is_explained_in_full(relay: Inside, asked: Requests) -> None:
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    names = [f"broken-{n} {'*long* name_' * 6}.pdf" for n in range(6)]
    for name in names:
        await relay.tg.say(chat, None, document=Upload(b"x", name), media_group_id="album")
    await relay.settled()
    (reply,) = replies(relay, chat)
    assert reply.text == "\n\n".join(f"⚠️ I couldn't use your file {name}. It's damaged." for name in names)
    assert not asked


async def test_a_question_beside_unusable_files_is_answered_and_each_file_explained(
    relay: Inside, asked: Requests
) -> None:
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    for name in ("broken-1.pdf", "broken-2.pdf"):
        await relay.tg.say(chat, None, document=Upload(b"x", name), media_group_id="album")
    await relay.tg.say(chat, None, "and what day is it?", document=Upload(b"fine", "ok.txt"), media_group_id="album")
    await relay.settled()
    (reply,) = replies(relay, chat)
    assert [reply.text.count(f"your file broken-{n}.pdf") for n in (1, 2)] == [1, 1]
    assert "Noted." in reply.text
    (request,) = asked
    assert "what day is it?" in str(request.messages)
    assert "could not be opened" in str(request.messages)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"location": {"latitude": 52.520008, "longitude": 13.404954}}, "52.5200° N, 13.4050° E"),
        ({"contact": {"first_name": "Ben", "phone_number": "+4930"}}, "(sent a contact: Ben, phone +4930)"),
        ({"poll": {"question": "Tea?", "options": [{"text": "yes"}, {"text": "no"}]}}, "options: yes; no"),
        ({"dice": {"emoji": "🎲", "value": 6}}, "(threw 🎲: 6)"),
    ],
)
async def test_locations_contacts_polls_and_dice_are_answered_and_can_be_quoted(
    relay: Inside, asked: Requests, what: Json, words: str
) -> None:
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    sent = await said(relay, chat, **what)
    assert replies(relay, chat)[-1].text == "Noted."
    assert words in asked.last
    ((text,),) = await relay.sql("select text from message where role = 'user'")
    assert words in text
    await said(relay, chat, text="what did I send?", reply_to=sent)
    assert words in asked.last


async def test_updates_of_a_live_location_are_not_answered_again(relay: Inside, asked: Requests) -> None:
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    sent = await said(relay, chat, location={"latitude": 1.0, "longitude": 2.0, "live_period": 900})
    for step in range(3):
        moved = {**sent.raw, "location": {"latitude": 1.0 + step, "longitude": 2.0}, "edit_date": sent.raw["date"] + 1}
        relay.tg.queue.add("edited_message", moved)
    await relay.settled()
    assert len(asked) == 1
    assert len(replies(relay, chat)) == 1


async def test_a_question_about_an_older_file_includes_the_file(relay: Inside, asked: Requests) -> None:
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    spoken = await said(relay, chat, voice=Upload(b"sound", "a.oga", "audio/ogg"))
    await said(relay, chat, text="what did I say?", reply_to=spoken)
    assert FACT in str(asked[-1].messages[-1]["content"][:-1])
    rows = await relay.sql("select text, blocks -> 0 #>> '{file,kind}' from message where role = 'user' order by id")
    assert rows == [(FACT, "voice"), ("what did I say?", "voice")]


async def test_another_persons_file_in_a_group_is_marked_as_theirs(relay: Inside, asked: Requests) -> None:
    ada, ben = relay.tg.user(ADA, "Ada"), relay.tg.user(BEN, "Ben")
    group = relay.tg.group(GROUP, "Group", [ada, ben])
    note = await said(relay, group, ben, voice=Upload(b"sound", "a.oga", "audio/ogg"))
    assert not asked
    await said(relay, group, ada, text="@relay_test_bot what does he say?", reply_to=note)
    assert FACT in asked.last
    assert '<untrusted kind="reply" from="Ben">' in asked.last
    assert await relay.sql("select status from memory") == [("pending",)]

"""kill -9 while reactions, tags and other feedback settle: each act is recorded exactly once."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from string import ascii_lowercase

import pytest

from tests.acceptance.shared_relay import WORD, SharedRelay
from tests.standins.anthropic import Recorded, Reply, tool
from tests.standins.telegram import Chat, StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")

KILLS, CHATS, QUESTIONS = 20, 4, 8
DUE = "update relay.job set due_at = '-infinity' where kind in ('preference', 'estimate') and due_at > now()"
OPEN = "select count(*) = 0 from relay.job where kind in ('preference', 'estimate')"
SAID = """
select f.kind, f.value -> 'up', o.pattern, o.polarity, m.text from relay.feedback f
left join relay.observation o on o.feedback_id = f.id left join relay.message m on m.id = f.message_id
where f.user_id = %s and f.withdrawn_at is null order by f.id, o.id"""


def pattern(word: str) -> str:
    """Returns the pattern of the answer to a question, a different one for each."""
    return "".join(random.Random(word).choices(ascii_lowercase, k=14))


def seen(request: Recorded) -> Reply:
    """Reports an answer's pattern after a delay."""
    [word] = WORD.findall(request.last_text.partition("Answer A:")[2])
    said = {"type": "other", "pattern": pattern(word), "polarity": 1, "which": "a"}
    return Reply([tool("observe", {"patterns": [said]})], first_delay=0.3)


async def talked(shared_relay: SharedRelay, chat: Chat) -> dict[str, StoredMessage]:
    """Gets some answers. Returns them by question word."""
    found = {}
    for _ in range(QUESTIONS):
        word = await shared_relay.asked(chat)
        await shared_relay.answered(chat, word)
        found[word] = next(message for message in shared_relay.replies(chat) if word in WORD.findall(message.text))
    await shared_relay.until("select count(*) = 0 from relay.turn where user_id = %s and status <> 'done'", chat.id)
    return found


async def test_feedback_by_command_is_recorded_once_despite_a_kill(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    word = await shared_relay.asked(chat)
    await shared_relay.answered(chat, word)
    for command in ("/preferences prefer old proverbs", "/tag too long"):
        kind = "tag" if "tag" in command else "said"
        with shared_relay.locked("outbox", "share"):
            await shared_relay.tg.say(chat, None, command)
            await shared_relay.until(
                "select count(*) > 0 from relay.feedback where user_id = %s and kind = %s", chat.id, kind
            )
            await shared_relay.relay.kill()
            shared_relay.sql("select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'")
        shared_relay.sql("update relay.feedback set settles_at = '-infinity'")
        shown = len(shared_relay.said(chat))
        await shared_relay.again()
        await shared_relay.tg.wait_for(lambda shown=shown: len(shared_relay.said(chat)) > shown, 40)
        await shared_relay.polled()
    kinds = [(kind, words) for kind, _, words, *_ in shared_relay.sql(SAID, chat.id)]
    assert kinds == [("said", "old proverbs"), ("tag", "short answers")]


@pytest.mark.timeout(600)
@pytest.mark.slow("test_preference_estimates.py and test_preference_attribution.py, with a death at each step")
async def test_reactions_and_tags_are_recorded_once_despite_twenty_kills(shared_relay: SharedRelay) -> None:
    chance = random.Random(12)
    shared_relay.model.rule("Answer A:", seen, model="haiku")
    chats = [shared_relay.guest() for _ in range(CHATS)]
    answers = {chat.id: await talked(shared_relay, chat) for chat in chats}
    liked: dict[str, bool | None] = {}
    tagged: set[str] = set()
    for _ in range(KILLS):
        for chat in chance.sample(chats, 2):
            word = chance.choice(list(answers[chat.id]))
            liked[word] = chance.choice([True, True, False, None])
            emoji = {True: "👍", False: "👎", None: None}[liked[word]]
            shared_relay.tg.react(chat, None, answers[chat.id][word], emoji)
        chat = chance.choice(chats)
        tagged.add(word := chance.choice(list(answers[chat.id])))
        await shared_relay.tg.say(chat, None, "/tag too long", reply_to=answers[chat.id][word])
        if chance.random() < 0.7:
            asked = len(shared_relay.model.requests)
            await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates, 30)
            shared_relay.sql(DUE)
            with contextlib.suppress(TimeoutError):  # a withdrawn reaction asks nothing
                await shared_relay.tg.wait_for(lambda asked=asked: len(shared_relay.model.requests) > asked, 3)
        await asyncio.sleep(chance.uniform(0, 0.5))
        await shared_relay.crash()
    await shared_relay.polled()
    await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates, 60)
    await shared_relay.until("select count(*) = 0 from relay.turn where status <> 'done'", timeout=60)
    shared_relay.sql(DUE)
    await shared_relay.until(OPEN, timeout=120)
    for chat in chats:
        expected = [("tag", None, "short answers", 1, word) for word in answers[chat.id] if word in tagged]
        expected += [
            ("thumbs", liked[word], pattern(word), 1 if liked[word] else -1, word)
            for word in answers[chat.id]
            if liked.get(word) is not None
        ]
        rows = [(*row[:4], WORD.findall(row[4])[0]) for row in shared_relay.sql(SAID, chat.id) if row[2]]
        assert sorted(rows) == sorted(expected)
        empty = [row[0] for row in shared_relay.sql(SAID, chat.id) if not row[2]]
        assert set(empty) <= {"tag"}, "only a repeated tag records no observation"
    assert shared_relay.sql("select count(*) from relay.job where parked_at is not null") == [(0,)]
    taken_back = "select count(*) from relay.observation join relay.feedback f on f.id = feedback_id"
    assert shared_relay.sql(f"{taken_back} where withdrawn_at is not null") == [(0,)]
    times = Counter(request.last_text.partition("Known")[0] for request in shared_relay.model.requests)
    assert len([text for text, number in times.items() if "Answer A:" in text and number > 1]) > 2, (
        "some kills interrupted a call of the model"
    )

"""An answer while it streams, how to stop it, and what it looks like when it is long."""

from __future__ import annotations

import asyncio
import re
import time
from itertools import pairwise

from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.standins.anthropic import Reply, tool
from tests.standins.anthropic.directives import long_text
from tests.standins.telegram import Chat
from tests.standins.telegram.text import utf16_length

pytestmark = SESSION

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa "


async def test_a_private_answer_streams_as_a_draft_without_partial_tags(bot: SharedBot) -> None:
    ada, dm = bot.person()
    topic = bot.tg.topic(dm, "Drafts", ada)
    answer = f"{WORDS * 4}[LEARN: Ada reads Greek] {WORDS * 4}[FORGET: nothing at all] {WORDS * 2}[VOICE_REPLY] end"
    reply = await bot.ask(dm, ada, "stream it", Reply(answer, spread=2.0), topic=topic)
    drafts = bot.tg.calls("sendMessageDraft", dm.id)
    assert len(drafts) >= 4
    assert all(call.ok and call.params["can_stop"] and call.params["draft_id"] for call in drafts)
    assert len({call.params["draft_id"] for call in drafts}) == 1
    assert {call.params["message_thread_id"] for call in drafts} == {topic}
    shown = [call.params["text"] for call in drafts]
    assert not any("[" in text for text in shown)
    assert all(later.startswith(earlier.rstrip()) for earlier, later in pairwise(shown))
    assert len(set(shown)) == len(shown)
    assert reply.text.startswith(shown[-1].rstrip())
    assert "[" not in reply.text
    assert not reply.silent
    assert not bot.tg.drafts(dm)
    assert max(call.finished_at or 0 for call in drafts) <= bot.tg.calls("sendMessage", dm.id)[-1].at


async def test_a_stopped_answer_keeps_its_text(bot: SharedBot) -> None:
    ada, dm = bot.person()
    for how in ("button", "/stop"):
        bot.says(f"talk long, {how}", Reply(WORDS * 40, spread=20))
        said = await bot.tg.say(dm, ada, f"talk long, {how}")
        draft = (await bot.tg.wait_for(lambda: bot.tg.drafts(dm)))[-1]
        since = time.monotonic()
        if how == "button":
            bot.tg.stop_generation(dm, draft["draft_id"])
        else:
            await bot.tg.say(dm, ada, "/stop")
        reply = await bot.tg.wait_reply(dm, said)
        assert reply.at - since < 1
        assert reply.text.startswith("alpha beta")
        assert reply.text.endswith("Stopped.")
        await bot.tg.wait_for(lambda: bot.model.running == 0)
    await bot.ask(dm, ada, "and then?")
    kept = [message for message in bot.prompt("and then?").messages if message["role"] == "assistant"]
    assert all(message["content"][0]["text"].startswith("alpha beta") for message in kept)
    assert "Stopped" not in str(kept)
    ben, ben_dm = bot.person("Ben")
    assert "not writing" in (await bot.ask(ben_dm, ben, "/stop")).text
    assert len([one for one in bot.tg.messages(dm) if one.from_bot]) == 3


async def test_a_streaming_answer_in_a_group_can_be_stopped(bot: SharedBot) -> None:
    ada, _ = bot.person()
    forum = bot.forum(ada)
    topic = bot.tg.topic(forum, "Talk", ada)
    bot.says("talk on and on", Reply(WORDS * 40, spread=20))
    said = await bot.tg.say(forum, ada, "talk on and on", topic=topic)
    reply = await bot.tg.wait_reply(forum, said, topic=topic)
    await bot.tg.say(forum, ada, "/stop")
    assert "not writing" in (await bot.tg.wait_reply(forum, reply, topic=0)).text, (
        "/stop in another topic has no effect"
    )
    since = time.monotonic()
    await bot.tg.say(forum, ada, "/stop", topic=topic)
    await bot.tg.wait_for(lambda: reply.text.endswith("Stopped."))
    assert time.monotonic() - since < 1
    assert reply.text.startswith("alpha beta")


async def test_after_a_failed_draft_the_chat_gets_no_more_drafts(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.tg.fault("sendMessageDraft", "error", chat_id=dm.id, description="Bad Request: TEXTDRAFT_PEER_INVALID")
    for number in range(2):
        reply = await bot.ask(dm, ada, f"no drafts {number}", Reply(WORDS * 5, spread=1))
        assert reply.text == (WORDS * 5).strip()
    assert len(bot.tg.calls("sendMessageDraft", dm.id)) == 1


async def test_answers_stream_again_after_a_topic_is_deleted_or_the_bot_blocked_in_mid_answer(bot: SharedBot) -> None:
    ada, dm = bot.person()
    topic = bot.tg.topic(dm, "Ideas", ada)

    def drafts(ok: bool = True) -> int:
        return sum(one.ok == ok for one in bot.tg.calls("sendMessageDraft", dm.id))

    async def stream(text: str, where: int | None = None) -> None:
        shown = drafts()
        bot.says(text, Reply(WORDS * 4, spread=2))
        await bot.tg.say(dm, ada, text, topic=where)
        await bot.tg.wait_for(lambda: drafts() > shown)

    await stream("in a topic", topic)
    bot.tg.delete_topic(dm, topic)
    await bot.tg.wait_for(lambda: drafts(ok=False) == 1)
    await bot.tg.wait_for(lambda: any(one.from_bot for one in bot.tg.messages(dm)))
    await stream("outside of it")
    bot.tg.block(ada)
    await bot.tg.wait_for(lambda: drafts(ok=False) == 2)
    await bot.tg.wait_for(lambda: not bot.tg.calls("sendMessage", dm.id)[-1].ok)
    bot.tg.unblock(ada)
    await stream("back again")


async def test_a_group_answer_streams_by_edits_at_a_limited_rate(bot: SharedBot) -> None:
    ada, _ = bot.person()
    forum = bot.forum(ada)
    topic = bot.tg.topic(forum, "Slow", ada)
    answer = f"{WORDS * 6}[LEARN: Ada is patient] {WORDS * 6}**end**"
    for where in (None, topic):
        said = await bot.tg.say(forum, ada, f"slowly {where}", topic=where)
        bot.says(f"slowly {where}", Reply(answer, spread=3.2))
        reply = await bot.tg.wait_reply(forum, said, topic=where or 0)
        await bot.tg.wait_for(lambda reply=reply: "end" in reply.text)
        await asyncio.sleep(0.3)
        calls = [
            call
            for call in bot.tg.log
            if call.params.get("chat_id") == forum.id
            and call.method in ("sendMessage", "editMessageText")
            and call.at > said.at
        ]
        assert calls[0].method == "sendMessage"
        assert all(call.ok for call in calls)
        assert len(calls) >= 3
        assert all(call.params.get("message_id", reply.message_id) == reply.message_id for call in calls)
        texts = [call.params["text"] for call in calls]
        assert len(set(texts)) == len(texts), "an identical text is never sent twice"
        assert not any("[" in text for text in texts)
        gaps = [later.at - earlier.at for earlier, later in pairwise(calls)]
        assert min(gaps) >= 1.45, gaps
        assert reply.reply_to == said.message_id
        assert reply.topic_id == where
        assert "Learned: Ada is patient" in reply.text or "Already knew" in reply.text
        assert any(entity["type"] == "bold" for entity in reply.entities)
        assert len([one for one in bot.tg.messages(forum) if one.from_bot and one.message_id > said.message_id]) == 1


async def test_a_complete_preview_in_a_group_is_not_sent_again(bot: SharedBot) -> None:
    ada, _ = bot.person()
    forum = bot.forum(ada)
    bot.says("say it and wait", Reply([WORDS, {"type": "text", "text": "."}], chunk_delay=0.6))
    said = await bot.tg.say(forum, ada, "say it and wait")
    reply = await bot.tg.wait_reply(forum, said)
    await bot.tg.wait_for(lambda: bot.model.running == 0)
    await asyncio.sleep(2.2)
    assert reply.text == f"{WORDS}."
    texts = [
        call.params["text"]
        for call in bot.tg.log
        if call.params.get("chat_id") == forum.id and call.method in ("sendMessage", "editMessageText")
    ]
    assert len(set(texts)) == len(texts)


async def parts_of(bot: SharedBot, chat: Chat, after: int) -> list:
    """Waits until no more parts come. Returns all parts of a reply."""
    count = -1
    while count != len(found := [m for m in bot.tg.messages(chat) if m.from_bot and m.message_id > after]):
        count = len(found)
        await asyncio.sleep(0.4)
    return found


async def test_a_long_answer_is_sent_complete_in_parts_that_telegram_accepts(bot: SharedBot) -> None:
    ada, dm = bot.person()
    code = "\n".join(f"    value_{number} = compute({number})  # [LEARN: not me]" for number in range(220))
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| row {n} | {n} |" for n in range(12))
    answer = long_text(10_000) + f"\n\n```python\n{code}\n```\n\n{table}\n\nThe very end 🙂."
    assert len(answer) > 20_000
    said = await bot.tg.say(dm, ada, "a long one")
    bot.says("a long one", answer)
    await bot.tg.wait_reply(dm, said)
    parts = await parts_of(bot, dm, said.message_id)
    assert len(parts) >= 5
    assert all(utf16_length(part.text) <= 4096 for part in parts)
    assert [part.silent for part in parts] == [False] + [True] * (len(parts) - 1)
    whole = "\n".join(part.text for part in parts)
    for number in range(220):
        assert f"value_{number} = compute({number})  # [LEARN: not me]" in whole
    for part in parts:
        for entity in part.entities:
            assert entity["offset"] + entity["length"] <= utf16_length(part.text)
    held = [part for part in parts if "compute(" in part.text]
    assert len(held) >= 2
    for part in held:
        pre = [entity for entity in part.entities if entity["type"] == "pre" and entity.get("language") == "python"]
        units = part.text.encode("utf-16-le")
        inside = "".join(units[2 * e["offset"] : 2 * (e["offset"] + e["length"])].decode("utf-16-le") for e in pre)
        assert part.text.count("compute(") == inside.count("compute("), "code is formatted as code in every part"
    assert "The very end 🙂." in parts[-1].text
    assert "```" not in whole
    assert not re.search(r"\|---\|", whole)
    assert all(call.ok for call in bot.tg.calls("sendMessage", dm.id))


async def test_a_long_answer_in_a_group_keeps_its_preview_as_the_first_part(bot: SharedBot) -> None:
    ada, _ = bot.person()
    forum = bot.forum(ada)
    answer = long_text(9000)
    bot.says("long in a group", Reply(answer, spread=2.5))
    said = await bot.tg.say(forum, ada, "long in a group")
    first = await bot.tg.wait_reply(forum, said)
    await bot.tg.wait_for(lambda: len([m for m in bot.tg.messages(forum) if m.from_bot]) > 1)
    parts = await parts_of(bot, forum, said.message_id)
    assert parts[0] is first
    assert len(parts) == len({part.text for part in parts})
    assert 2 <= len(parts) <= 4
    assert "first of 1" in parts[0].text
    assert all(utf16_length(part.text) <= 4096 for part in parts)
    assert all(part.reply_to is None for part in parts[1:])


async def test_only_answers_notify_with_sound(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert not (await bot.ask(dm, ada, "hello")).silent
    for text in ("/help", "/memory", "/remember I like plums", "/nosuchthing"):
        assert (await bot.ask(dm, ada, text)).silent
    assert (await bot.ask(dm, ada, "", voice=True)).silent
    bot.model.fault("refusal", match="thorny")
    assert (await bot.ask(dm, ada, "a thorny question")).silent
    ben, ben_dm = bot.person("Ben")
    assert (await bot.ask(ben_dm, ben, "/retry")).silent, "there is nothing to answer again"
    bot.model.fault("400", match="broken")
    failed = await bot.ask(dm, ada, "a broken one")
    assert "↻ Retry" in failed.buttons
    assert not failed.silent, "a failure notifies with sound"


async def test_text_before_a_tool_call_is_kept_and_the_tool_is_mentioned(bot: SharedBot) -> None:
    ada, dm = bot.person()
    topic = bot.tg.topic(dm, "Elsewhere", ada)
    await bot.ask(dm, ada, "the dentist is at Fennel Street 12", topic=topic)
    call = tool("search_memory", {"query": "dentist Fennel"})
    bot.model.script([["Let me look.", call], "It is at Fennel Street 12."])
    reply = await bot.ask(dm, ada, "where is my tooth doctor?")
    assert reply.text.startswith("Let me look.\n\nIt is at Fennel Street 12.")
    quote = next(entity for entity in reply.entities if entity["type"] == "expandable_blockquote")
    units = reply.text.encode("utf-16-le")[2 * quote["offset"] : 2 * (quote["offset"] + quote["length"])]
    assert "searched memory" in units.decode("utf-16-le")
    found = str(bot.prompts("where is my tooth")[-1].tool_results)
    assert "the dentist is at Fennel Street 12" in found
    await bot.ask(dm, ada, "thanks a lot")
    stored = [(m["role"], [block["type"] for block in m["content"]]) for m in bot.prompt("thanks a lot").messages]
    assert stored[-4:-1] == [("assistant", ["text", "tool_use"]), ("user", ["tool_result"]), ("assistant", ["text"])]
    assert [one.status for one in bot.model.requests[-1:]] == [200]


async def test_unknown_tools_and_invalid_tool_inputs_are_reported_to_the_model(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.model.script(
        [
            [
                tool("launch_rockets", {}),
                tool("search_memory", {"limit": "many", "query": "x"}),
                tool("search_memory", {"query": "a", "since": "the other day"}),
            ],
            "That did not work.",
        ]
    )
    reply = await bot.ask(dm, ada, "do something odd")
    assert reply.text.startswith("That did not work.")
    results = bot.prompts("do something odd")[-1].tool_results
    assert [bool(result.get("is_error")) for result in results] == [True, True, True]

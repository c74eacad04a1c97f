"""The answer while it grows, how it is stopped, and what it looks like when it is long."""

from __future__ import annotations

import asyncio
import re
import time
from itertools import pairwise

from tests.acceptance.town import SESSION, Town
from tests.standins.anthropic import Reply, tool
from tests.standins.anthropic.directives import long_text
from tests.standins.telegram import Chat
from tests.standins.telegram.text import utf16_length

pytestmark = SESSION

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa "


async def test_a_private_answer_grows_as_a_draft_that_shows_no_half_tag(town: Town) -> None:
    ada, dm = town.person()
    topic = town.tg.topic(dm, "Drafts", ada)
    answer = f"{WORDS * 4}[LEARN: Ada reads Greek] {WORDS * 4}[FORGET: nothing at all] {WORDS * 2}[VOICE_REPLY] end"
    reply = await town.ask(dm, ada, "stream it", Reply(answer, spread=2.0), topic=topic)
    drafts = town.tg.calls("sendMessageDraft", dm.id)
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
    assert not town.tg.drafts(dm)
    assert max(call.finished_at or 0 for call in drafts) <= town.tg.calls("sendMessage", dm.id)[-1].at


async def test_an_answer_can_be_stopped_and_keeps_what_was_said(town: Town) -> None:
    ada, dm = town.person()
    for how in ("button", "/stop"):
        town.says(f"talk long, {how}", Reply(WORDS * 40, spread=20))
        said = await town.tg.say(dm, ada, f"talk long, {how}")
        draft = (await town.tg.wait_for(lambda: town.tg.drafts(dm)))[-1]
        since = time.monotonic()
        if how == "button":
            town.tg.stop_generation(dm, draft["draft_id"])
        else:
            await town.tg.say(dm, ada, "/stop")
        reply = await town.tg.wait_reply(dm, said)
        assert reply.at - since < 1
        assert reply.text.startswith("alpha beta")
        assert reply.text.endswith("Stopped.")
        await town.tg.wait_for(lambda: town.model.running == 0)
    await town.ask(dm, ada, "and then?")
    kept = [message for message in town.prompt("and then?").messages if message["role"] == "assistant"]
    assert all(message["content"][0]["text"].startswith("alpha beta") for message in kept)
    assert "Stopped" not in str(kept)
    ben, ben_dm = town.person("Ben")
    assert "not writing" in (await town.ask(ben_dm, ben, "/stop")).text
    assert len([one for one in town.tg.messages(dm) if one.from_bot]) == 3


async def test_a_growing_message_in_a_group_can_be_stopped_too(town: Town) -> None:
    ada, _ = town.person()
    forum = town.forum(ada)
    topic = town.tg.topic(forum, "Talk", ada)
    town.says("talk on and on", Reply(WORDS * 40, spread=20))
    said = await town.tg.say(forum, ada, "talk on and on", topic=topic)
    reply = await town.tg.wait_reply(forum, said, topic=topic)
    await town.tg.say(forum, ada, "/stop")
    assert "not writing" in (await town.tg.wait_reply(forum, reply, topic=0)).text, "that was another topic"
    since = time.monotonic()
    await town.tg.say(forum, ada, "/stop", topic=topic)
    await town.tg.wait_for(lambda: reply.text.endswith("Stopped."))
    assert time.monotonic() - since < 1
    assert reply.text.startswith("alpha beta")


async def test_after_a_failed_draft_the_chat_gets_none(town: Town) -> None:
    ada, dm = town.person()
    town.tg.fault("sendMessageDraft", "error", chat_id=dm.id, description="Bad Request: TEXTDRAFT_PEER_INVALID")
    for number in range(2):
        reply = await town.ask(dm, ada, f"no drafts {number}", Reply(WORDS * 5, spread=1))
        assert reply.text == (WORDS * 5).strip()
    assert len(town.tg.calls("sendMessageDraft", dm.id)) == 1


async def test_in_a_group_one_message_is_edited_at_a_steady_pace(town: Town) -> None:
    ada, _ = town.person()
    forum = town.forum(ada)
    topic = town.tg.topic(forum, "Slow", ada)
    answer = f"{WORDS * 6}[LEARN: Ada is patient] {WORDS * 6}**end**"
    for where in (None, topic):
        said = await town.tg.say(forum, ada, f"slowly {where}", topic=where)
        town.says(f"slowly {where}", Reply(answer, spread=3.2))
        reply = await town.tg.wait_reply(forum, said, topic=where or 0)
        await town.tg.wait_for(lambda reply=reply: "end" in reply.text)
        await asyncio.sleep(0.3)
        calls = [
            call
            for call in town.tg.log
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
        assert len([one for one in town.tg.messages(forum) if one.from_bot and one.message_id > said.message_id]) == 1


async def test_a_group_preview_that_says_all_is_not_sent_again(town: Town) -> None:
    ada, _ = town.person()
    forum = town.forum(ada)
    town.says("say it and wait", Reply([WORDS, {"type": "text", "text": "."}], chunk_delay=0.6))
    said = await town.tg.say(forum, ada, "say it and wait")
    reply = await town.tg.wait_reply(forum, said)
    await town.tg.wait_for(lambda: town.model.running == 0)
    await asyncio.sleep(2.2)
    assert reply.text == f"{WORDS}."
    texts = [
        call.params["text"]
        for call in town.tg.log
        if call.params.get("chat_id") == forum.id and call.method in ("sendMessage", "editMessageText")
    ]
    assert len(set(texts)) == len(texts)


async def parts_of(town: Town, chat: Chat, after: int) -> list:
    """All parts of a reply, once no more come."""
    count = -1
    while count != len(found := [m for m in town.tg.messages(chat) if m.from_bot and m.message_id > after]):
        count = len(found)
        await asyncio.sleep(0.4)
    return found


async def test_a_long_answer_arrives_whole_in_parts_that_telegram_takes(town: Town) -> None:
    ada, dm = town.person()
    code = "\n".join(f"    value_{number} = compute({number})  # [LEARN: not me]" for number in range(220))
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| row {n} | {n} |" for n in range(12))
    answer = long_text(10_000) + f"\n\n```python\n{code}\n```\n\n{table}\n\nThe very end 🙂."
    assert len(answer) > 20_000
    said = await town.tg.say(dm, ada, "a long one")
    town.says("a long one", answer)
    await town.tg.wait_reply(dm, said)
    parts = await parts_of(town, dm, said.message_id)
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
        assert part.text.count("compute(") == inside.count("compute("), "code stays code in every part"
    assert "The very end 🙂." in parts[-1].text
    assert "```" not in whole
    assert not re.search(r"\|---\|", whole)
    assert all(call.ok for call in town.tg.calls("sendMessage", dm.id))


async def test_a_long_answer_in_a_group_keeps_its_preview_as_the_first_part(town: Town) -> None:
    ada, _ = town.person()
    forum = town.forum(ada)
    answer = long_text(9000)
    town.says("long in a group", Reply(answer, spread=2.5))
    said = await town.tg.say(forum, ada, "long in a group")
    first = await town.tg.wait_reply(forum, said)
    await town.tg.wait_for(lambda: len([m for m in town.tg.messages(forum) if m.from_bot]) > 1)
    parts = await parts_of(town, forum, said.message_id)
    assert parts[0] is first
    assert len(parts) == len({part.text for part in parts})
    assert 2 <= len(parts) <= 4
    assert "first of 1" in parts[0].text
    assert all(utf16_length(part.text) <= 4096 for part in parts)
    assert all(part.reply_to is None for part in parts[1:])


async def test_only_answers_make_a_sound(town: Town) -> None:
    ada, dm = town.person()
    assert not (await town.ask(dm, ada, "hello")).silent
    for text in ("/help", "/memory", "/remember I like plums", "/nosuchthing"):
        assert (await town.ask(dm, ada, text)).silent
    assert (await town.ask(dm, ada, "", voice=True)).silent
    town.model.fault("refusal", match="thorny")
    assert (await town.ask(dm, ada, "a thorny question")).silent
    ben, ben_dm = town.person("Ben")
    assert (await town.ask(ben_dm, ben, "/retry")).silent, "there is nothing to answer again"
    town.model.fault("400", match="broken")
    failed = await town.ask(dm, ada, "a broken one")
    assert "↻ Retry" in failed.buttons
    assert not failed.silent, "somebody waits for this"


async def test_text_before_a_tool_call_is_kept_and_a_line_tells_about_the_tool(town: Town) -> None:
    ada, dm = town.person()
    topic = town.tg.topic(dm, "Elsewhere", ada)
    await town.ask(dm, ada, "the dentist is at Fennel Street 12", topic=topic)
    call = tool("search_memory", {"query": "dentist Fennel"})
    town.model.script([["Let me look.", call], "It is at Fennel Street 12."])
    reply = await town.ask(dm, ada, "where is my tooth doctor?")
    assert reply.text.startswith("Let me look.\n\nIt is at Fennel Street 12.")
    quote = next(entity for entity in reply.entities if entity["type"] == "expandable_blockquote")
    units = reply.text.encode("utf-16-le")[2 * quote["offset"] : 2 * (quote["offset"] + quote["length"])]
    assert "searched memory" in units.decode("utf-16-le")
    found = str(town.prompts("where is my tooth")[-1].tool_results)
    assert "the dentist is at Fennel Street 12" in found
    await town.ask(dm, ada, "thanks a lot")
    stored = [(m["role"], [block["type"] for block in m["content"]]) for m in town.prompt("thanks a lot").messages]
    assert stored[-4:-1] == [("assistant", ["text", "tool_use"]), ("user", ["tool_result"]), ("assistant", ["text"])]
    assert [one.status for one in town.model.requests[-1:]] == [200]


async def test_a_tool_that_does_not_exist_or_gets_nonsense_ends_well(town: Town) -> None:
    ada, dm = town.person()
    town.model.script(
        [
            [
                tool("launch_rockets", {}),
                tool("search_memory", {"limit": "many", "query": "x"}),
                tool("search_memory", {"query": "a", "since": "the other day"}),
            ],
            "That did not work.",
        ]
    )
    reply = await town.ask(dm, ada, "do something odd")
    assert reply.text.startswith("That did not work.")
    results = town.prompts("do something odd")[-1].tool_results
    assert [bool(result.get("is_error")) for result in results] == [True, True, True]

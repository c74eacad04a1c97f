"""What people look for: best first, in pages, narrowed, in their own space only, with what was said around it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from relay.commands.history.query import parse
from relay.commands.history.search import looked_for
from relay.core.models import Space
from relay.memory.rows.memories import MemoryFilter, Posted
from relay.memory.rows.search import MessageContext, SearchPage, SearchQuery, StoredSearch
from tests.integration.conftest import Sql
from tests.integration.house import ADA, BEN, BOT, GROUP, House, fact, group, message, private
from tests.strategies import examples

Json = dict[str, Any]
ODD = [
    "'", "''", "\\", "a\\b c\\d", "& | ! ( ) : * <->", "tea | !coffee", "tea:*", "%", "$1 $$",
    "'; drop table message; --", "the and of",
    "http://example.com/it's?a=b&c=d'e", "/usr/lib/it's", "foo@bar.com'", "-1.5e10", "x" * 3000, "tea " * 3000, "NULL",
    '"it\'s <-> a" b', '"&" tea', '"foo-bar baz" foo-bar', "from:% tea", "from:' tea", "in:\\ tea", '"the"',
    "a:b:c:*:D", "\x02\x03 tea", "1 | 2", '"1 | 2 & 3"',
]  # fmt: skip


def asked(text: str, user_id: int = ADA, chat_id: int = ADA, topic_id: int = 0) -> SearchQuery:
    query = parse(text, datetime.now(UTC))
    assert not query.wrong
    return looked_for(query, StoredSearch(text, user_id, datetime.now(UTC), chat_id, topic_id))


async def find(
    house: House, text: str, space: Space | None = None, offset: int = 0, limit: int = 50, **more: Any
) -> SearchPage:
    return await house.store.find(space or private(ADA), BOT.id, asked(text, **more), offset, limit)


async def texts(house: House, text: str, space: Space | None = None, **more: Any) -> list[str]:
    found = await find(house, text, space, **more)
    return [row.text.replace("\x02", "").replace("\x03", "") for row in found.found]


async def test_messages_with_all_words_come_alone_and_those_with_some_when_none_has_all(house: House) -> None:
    await house.exchange(ADA, "I bought a red bicycle", "Nice.")
    await house.exchange(ADA, "The bicycle has a flat tyre", "Oh.", topic_id=5)
    assert await texts(house, "red bicycle") == ["I bought a red bicycle"]
    both = await find(house, "red tyre")
    assert both.every is False
    assert both.total == 2
    assert (await find(house, "BICYC")).total == 2
    nothing = await find(house, "trumpet")
    assert (nothing.total, nothing.found) == (0, ())


async def test_the_words_that_match_are_marked(house: House) -> None:
    await house.exchange(ADA, "Green tea, greener \x02 than tea", "ok")
    (row,) = (await find(house, "tea green")).found
    assert row.text == "\x02Green\x03 \x02tea\x03, \x02greener\x03 than \x02tea\x03"
    await house.exchange(ADA, "filler words go here " * 60 + "the needle lies here " + "and more of them " * 60, "ok")
    (row,) = (await find(house, "needle")).found
    assert "\x02needle\x03" in row.text
    assert row.text.startswith("… ")
    assert row.text.endswith(" …")
    assert len(row.text) < 300


async def test_exact_words_stand_side_by_side(house: House) -> None:
    await house.exchange(ADA, "the old red door", "ok")
    await house.exchange(ADA, "the red old door", "ok")
    assert await texts(house, '"old red"') == ["the old red door"]
    assert await texts(house, '"red old" door') == ["the red old door"]
    assert await texts(house, '"old door red"') == []
    assert await texts(house, '"the"') != []
    assert await texts(house, '"re"') == []
    # a word that is missing is forgiven, a phrase is not
    assert await texts(house, '"red old" door window') == ["the red old door"]
    assert await texts(house, '"blue door" door') == []


async def test_by_whom(house: House) -> None:
    await house.exchange(ADA, "tea by Ada", "tea by the assistant", chat_id=GROUP)
    await house.exchange(BEN, "tea by Ben", "ok", chat_id=GROUP)
    here = group()
    assert await texts(house, "tea from:me", here) == ["tea by Ada"]
    assert await texts(house, "tea from:me", here, user_id=BEN) == ["tea by Ben"]
    assert await texts(house, "tea from:you", here) == ["tea by the assistant"]
    assert await texts(house, "tea from:BE", here) == ["tea by Ben"]
    assert sorted(await texts(house, "tea from:ben from:you", here)) == ["tea by Ben", "tea by the assistant"]
    assert await texts(house, "tea from:nobody", here) == []


async def test_when(house: House, sql: Sql) -> None:
    await house.exchange(ADA, "apples in spring", "ok")
    await sql("update message set created_at = '2025-03-01T12:00:00Z'")
    await house.exchange(ADA, "apples in autumn", "ok")
    assert await texts(house, "apples before:2025-03-02") == ["apples in spring"]
    assert await texts(house, "apples after:2025-03 before:2025-04") == ["apples in spring"]
    assert await texts(house, "apples after:yesterday") == ["apples in autumn"]
    assert await texts(house, "apples before:2025-03-01") == []


async def test_where(house: House) -> None:
    await house.exchange(ADA, "tea at home", "ok")
    await house.exchange(ADA, "tea in a topic", "ok", topic_id=5)
    created = {"forum_topic_created": {"name": "Trips to Bergen"}}
    update = message(ADA, "", topic_id=5, **created)
    del update["message"]["text"]
    await house.say(update)
    assert await texts(house, "tea in:here") == ["tea at home"]
    assert await texts(house, "tea in:here", topic_id=5) == ["tea in a topic"]
    assert await texts(house, "tea in:bergen") == ["tea in a topic"]
    assert await texts(house, 'tea in:"trips to"') == ["tea in a topic"]
    assert len(await texts(house, "tea in:bergen in:here")) == 2
    nowhere = await find(house, "tea in:Oslo")
    assert (nowhere.nowhere, nowhere.total) == (True, 0)
    (row,) = (await find(house, "tea in:bergen")).found
    assert (row.place, row.topic_id, row.user_id) == ("Trips to Bergen", 5, ADA)


async def test_a_groups_title_names_all_of_it(house: House) -> None:
    chat = {"id": GROUP, "type": "supergroup", "title": "Family"}
    update = message(ADA, "hello", GROUP, chat=chat)
    (turn,) = await house.say(update)
    await house.close(turn)
    for topic in (0, 7):
        await house.exchange(ADA, f"tea in {topic}", "ok", chat_id=GROUP, topic_id=topic)
    assert len(await texts(house, "tea in:family", group())) == 2
    (row,) = (await find(house, "tea in:here", group(), chat_id=GROUP, topic_id=7)).found
    assert row.place == "Family"
    renamed = message(ADA, "hello", GROUP, chat={**chat, "title": "Clan"})
    (turn,) = await house.say(renamed)
    await house.close(turn)
    assert (await find(house, "tea in:family", group())).nowhere is True
    assert len(await texts(house, "tea in:clan", group())) == 2


async def test_filters_alone_give_the_newest_first(house: House) -> None:
    for number in range(3):
        await house.exchange(ADA, f"said {number}", f"heard {number}", topic_id=number)
    assert await texts(house, "from:me") == ["said 2", "said 1", "said 0"]
    assert await texts(house, "from:you after:7d", limit=2) == ["heard 2", "heard 1"]
    assert (await find(house, "after:2020", limit=1)).total == 6
    assert await texts(house, "in:here", topic_id=1) == ["heard 1", "said 1"]


async def test_words_that_are_everywhere_are_too_vague(house: House) -> None:
    await house.exchange(ADA, "this is what it is", "ok")
    assert (await find(house, "what is it")).vague is True
    assert (await find(house, "what is it from:me")).vague is True
    assert await texts(house, '"what it is"') == ["this is what it is"]


async def test_pages_follow_one_another(house: House) -> None:
    for number in range(8):
        await house.exchange(ADA, f"tea number {number}", "ok")
    seen: list[int] = []
    for offset in (0, 3, 6, 9):
        found = await find(house, "tea", offset=offset, limit=3)
        assert (found.total, found.more) == (8, False)
        seen.extend(row.id for row in found.found)
    assert len(seen) == len(set(seen)) == 8


async def test_replaced_answers_and_other_spaces_are_not_found(house: House) -> None:
    await house.exchange(ADA, "question", "wrong pineapple")
    await house.exchange(ADA, "/retry", "right banana", retry=True)
    assert await texts(house, "pineapple") == []
    assert await texts(house, "banana") == ["right banana"]
    for space in (private(BEN), group(), group(GROUP - 5)):
        assert (await find(house, "banana", space)).total == 0
        assert (await find(house, "after:2000", space)).total == 0
    await house.exchange(ADA, "banana in the group", "ok", chat_id=GROUP)
    assert await texts(house, "banana", group()) == ["banana in the group"]
    assert await texts(house, "banana") == ["right banana"]
    assert (await find(house, "from:you")).total == 1


async def test_a_result_knows_which_message_it_is(house: House) -> None:
    done = await house.exchange(ADA, "tea here", "ok", chat_id=GROUP)
    (row,) = (await find(house, "tea", group())).found
    said = done.turn.updates[0]["message"]["message_id"]
    assert row.posted == Posted(GROUP, said)
    assert row.role == "user"
    (row,) = (await house.store.find(group(), BOT.id + 1, asked("tea"), 0, 5)).found
    assert row.posted is None, "another bot's message has another number"


# What is known


async def test_memories_are_found_beside_what_was_said(house: House, sql: Sql) -> None:
    await house.exchange(ADA, "my sister plays the cello", "Nice.", actions=[fact(ADA, "Has a sister who plays cello")])
    found = await find(house, "sister cello")
    assert {row.kind: row.text for row in found.found} == {
        "message": "my \x02sister\x03 plays the \x02cello\x03",
        "memory": "Has a \x02sister\x03 who plays \x02cello\x03",
    }
    assert (found.total, found.every, found.near) == (2, True, False)
    assert [row.kind for row in (await find(house, '"who plays"')).found] == ["memory"]
    assert (await find(house, "sister from:me")).total == 1, "nobody said what is known"
    assert (await find(house, "sister in:here")).total == 2
    assert (await find(house, "sister in:here", chat_id=GROUP)).nowhere is True
    assert (await find(house, "sister after:7d")).total == 2
    assert (await find(house, "sister before:7d")).total == 0
    assert (await find(house, "sister", private(BEN))).total == 0
    partly = await find(house, "cello trumpet")
    assert (partly.total, partly.every) == (2, False)
    await sql("update memory set status = 'forgotten'")
    assert [row.kind for row in (await find(house, "sister cello")).found] == ["message"]


async def test_summaries_are_found_and_opened(house: House, sql: Sql) -> None:
    done = await house.exchange(ADA, "the roof leaks", "Call a roofer.")
    await sql(
        "insert into summary (thread_id, session_id, text, from_message_id, through_message_id, message_count, model,"
        " settings, tainted) select thread_id, session_id, 'Talk about carpentry.', id, id, 1, 'm', '{}', false"
        " from message where id = %s",
        done.context.message_id,
    )
    (row,) = (await find(house, "carpentry")).found
    assert (row.kind, row.text) == ("summary", "Talk about \x02carpentry\x03.")
    opened = await house.store.open_found(private(ADA), BOT.id, "summary", row.id)
    assert opened is not None
    assert opened.content == "Talk about carpentry."
    for space in (private(BEN), group()):
        assert await house.store.open_found(space, BOT.id, "summary", row.id) is None


async def test_what_was_off_the_record_is_not_found(house: House, sql: Sql) -> None:
    await house.exchange(ADA, "a parsnip before", "ok")
    secret = await house.exchange(ADA, "a parsnip in secret", "ok", topic_id=3)
    await house.exchange(ADA, "a parsnip after", "ok")
    await sql("update session set private = true where id = (select session_id from message where id = %s)",
              secret.context.message_id)  # fmt: skip
    assert await texts(house, "parsnip") == ["a parsnip after", "a parsnip before"]
    assert "a parsnip in secret" not in await texts(house, "from:me")
    assert await around(house, secret.context.message_id or 0) is None


# What was said around


async def around(
    house: House, message_id: int, side: str = "around", count: int = 2, **more: Any
) -> MessageContext | None:
    space = more.get("space") or private(ADA)
    return await house.store.found_context(space, BOT.id, asked("tea"), message_id, side, count)


async def test_what_was_said_around_a_result(house: House) -> None:
    for number in range(6):
        await house.exchange(ADA, f"q{number} tea" if number == 3 else f"q{number}", f"a{number}")
        await house.exchange(ADA, "elsewhere", "indeed", topic_id=9)
    (row,) = (await find(house, "tea")).found
    found = await around(house, row.id)
    assert found is not None
    assert [one.text for one in found.messages] == ["q2", "a2", "q3 \x02tea\x03", "a3", "q4"]
    assert (found.earlier, found.later) == (True, True)
    before = await around(house, found.messages[0].id, "before", 9)
    assert before is not None
    assert [one.text for one in before.messages] == ["q0", "a0", "q1", "a1"]
    assert (before.earlier, before.later) == (False, True)
    after = await around(house, found.messages[-1].id, "after", 9)
    assert after is not None
    assert [one.text for one in after.messages] == ["a4", "q5", "a5"]
    assert (after.earlier, after.later) == (True, False)
    end = await around(house, after.messages[-1].id, "after")
    assert end == MessageContext((), earlier=False, later=False)
    for space in (private(BEN), group()):
        assert await around(house, row.id, space=space) is None


async def test_what_was_asked_is_kept_for_its_buttons(house: House) -> None:
    turn = await house.turn(ADA, "hello")
    await house.close(turn)
    (control,) = await house.say(message(ADA, "/search tea"))
    assert control.kind == "control"
    store = house.store
    assert await store.kept_search(control.turn_id, private(ADA)) is None
    await house.exchange(ADA, "tea", "ok")
    await store.keep_search(control, private(ADA), "tea from:me")
    kept = await store.kept_search(control.turn_id, private(ADA))
    assert kept is not None
    assert (kept.text, kept.user_id, kept.chat_id, kept.topic_id) == ("tea from:me", ADA, ADA, 0)
    assert kept.at.tzinfo
    for space in (private(BEN), group()):
        assert await store.kept_search(control.turn_id, space) is None
    assert await store.kept_search(turn.turn_id, private(ADA)) is None
    assert await store.kept_search(2**60, private(ADA)) is None


# Whatever is asked


async def test_odd_queries_are_answered(house: House, sql: Sql) -> None:
    await house.exchange(ADA, "tea and coffee, http://example.com/it's?a=b&c=d'e foo-bar baz", "ok")
    for text in ODD:
        found = await find(house, text)
        for row in found.found:
            assert await around(house, row.id) is not None
    assert await texts(house, '"foo-bar baz"') != []
    assert await sql("select count(*) from message") == [(2,)]


@examples(120)
@given(text=st.text(st.sampled_from("tea'\"\\&|!():*<->.@/ %_$é🙂\n\t-1x"), max_size=60))
async def test_any_query_is_answered(house: House, text: str) -> None:
    if not await house.store.status(private(ADA)) or (await find(house, "after:2000")).total == 0:
        await house.exchange(ADA, "tea 1 x é", "ok")
    await find(house, f"{text} tea")
    await find(house, f'"{text}"')


PATTERNS = ["from:", "in:", "%", "_", "*", "\\", "cormorant", ".*", "(a+)+$"]
HOSTILE = st.lists(
    st.sampled_from([*(one for one in ODD if len(one) < 100), *PATTERNS])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    min_size=1, max_size=6,
).map(" ".join)  # fmt: skip


@examples(40)
@given(text=HOSTILE)
@example("from:% in:% %")
@example("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b*")
async def test_no_pattern_or_operator_breaks_out_of_a_space(house: House, sql: Sql, text: str) -> None:
    if await sql("select 1 from message limit 1") == []:
        await house.teach(BEN, "a cormorant of Ben's")
        await house.exchange(BEN, "my cormorant", "your cormorant")
        await house.teach(ADA, "Ada has a" + "a" * 150)
    before = await sql("select count(*), max(updated_at) from memory")
    query = looked_for(parse(text, datetime.now(UTC)), StoredSearch(text, ADA, datetime.now(UTC), ADA, 0))
    shown: list[Any] = [await house.store.find(private(ADA), BOT.id, query, 0, 50)]
    shown += [await house.store.memories(private(ADA), 0, 50, MemoryFilter(words=text))]
    shown += [await house.store.erase_preview(private(ADA), {"words": text[:200]}, ADA, True)]
    turn = await house.turn(ADA, "/forget")
    shown += [await house.store.forget_preview(turn, private(ADA), text[:200], ADA, True)]
    await house.close(turn)
    assert "Ben" not in str(shown)
    assert "my cormorant" not in str(shown)
    assert await sql("select count(*), max(updated_at) from memory") == before


async def test_it_is_quick_among_many_messages(house: House, sql: Sql) -> None:
    await house.exchange(ADA, "rare", "ok")
    await house.exchange(BEN, "rare", "ok")
    await sql(
        "insert into message (space_id, thread_id, session_id, role, user_id, text, blocks)"
        " select m.space_id, m.thread_id, m.session_id, m.role, m.user_id,"
        " case when n % 5 = 0 then 'common words ' else 'seldom ' end || md5(n::text), '[]'"
        " from generate_series(1, 5000) n, message m"
    )
    await sql("analyze message")
    for text in ("rare", "common", "common words", '"common words"', "from:me", "missing common"):
        began = time.monotonic()
        found = await find(house, text, limit=6)
        assert time.monotonic() - began < 2, text
        assert found.total == {"rare": 1}.get(text, 2000), text
        assert found.more is (text == "from:me"), text

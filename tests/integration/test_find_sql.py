"""Tests people's search: ranking, pages, filters, own space only, and the context of a result."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.commands.history.query import parse
from relay.commands.history.search import make_search_query
from relay.core.frozen import as_json
from relay.core.models import Space
from relay.memory.rows.memories import MemoryFilter, Posted
from relay.memory.rows.search import MessageContext, SearchPage, SearchQuery, StoredSearch
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, TurnDriver, dm, fact, group, message, private
from tests.strategies import examples

Json = dict[str, Any]
NAMES = Path(__file__).parents[2] / "migrations" / "0054_words_in_names.sql"
ODD = [
    "'", "''", "\\", "a\\b c\\d", "& | ! ( ) : * <->", "tea | !coffee", "tea:*", "%", "$1 $$",
    "'; drop table message; --", "the and of",
    "http://example.com/it's?a=b&c=d'e", "/usr/lib/it's", "foo@bar.com'", "-1.5e10", "x" * 3000, "tea " * 3000, "NULL",
    '"it\'s <-> a" b', '"&" tea', '"foo-bar baz" foo-bar', "from:% tea", "from:' tea", "in:\\ tea", '"the"',
    "a:b:c:*:D", "\x02\x03 tea", "1 | 2", '"1 | 2 & 3"',
    "東京'\\", '"東京 | \' <-> (京都" 京:*', "%東_ 。「」", "京 " * 3000, "กรุงเทพ tea", '"東" "' + "都" * 3000 + '"',
]  # fmt: skip


def asked(text: str, user_id: int = ADA, chat_id: int = ADA, topic_id: int = 0) -> SearchQuery:
    query = parse(text, datetime.now(UTC))
    assert not query.wrong
    return make_search_query(query, StoredSearch(text, user_id, datetime.now(UTC), chat_id, topic_id))


async def find(
    driver: TurnDriver, text: str, space: Space | None = None, offset: int = 0, limit: int = 50, **more: Any
) -> SearchPage:
    return await driver.store.find(space or private(ADA), BOT.id, asked(text, **more), offset, limit)


async def texts(driver: TurnDriver, text: str, space: Space | None = None, **more: Any) -> list[str]:
    found = await find(driver, text, space, **more)
    return [row.text.replace("\x02", "").replace("\x03", "") for row in found.found]


async def test_messages_with_some_words_are_found_only_if_none_has_all(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "I bought a red bicycle", "Nice.")
    await driver.exchange(ADA, "The bicycle has a flat tyre", "Oh.", topic_id=5)
    assert await texts(driver, "red bicycle") == ["I bought a red bicycle"]
    both = await find(driver, "red tyre")
    assert both.every is False
    assert both.total == 2
    assert (await find(driver, "BICYC")).total == 2
    nothing = await find(driver, "trumpet")
    assert (nothing.total, nothing.found) == (0, ())


async def test_matching_words_are_marked(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Green tea, greener \x02 than tea", "ok")
    (row,) = (await find(driver, "tea green")).found
    assert row.text == "\x02Green\x03 \x02tea\x03, \x02greener\x03 than \x02tea\x03"
    await driver.exchange(ADA, "filler words go here " * 60 + "the needle lies here " + "and more of them " * 60, "ok")
    (row,) = (await find(driver, "needle")).found
    assert "\x02needle\x03" in row.text
    assert row.text.startswith("… ")
    assert row.text.endswith(" …")
    assert len(row.text) < 300


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("📄 Lease_Agreement.docx", "agreement"),
        ("📄 Lease_Agreement.docx", "Lease_Agreement.docx"),
        ("📄 Lease Agreement-2024.docx", "2024 leases"),
        ("📄 2023.quinces.pdf", "quince"),
        ("Look at https://garden.example.com/wiki/pruning_guide.html", "pruning guides"),
        ("Look at https://garden.example.com/wiki/pruning_guide.html", '"pruning guide"'),
        ("Write to anna.berg@web.example", "berg"),
    ],
)
async def test_words_within_names_of_files_and_hosts_are_found(driver: TurnDriver, text: str, query: str) -> None:
    await driver.exchange(ADA, text, "Noted.")
    await driver.exchange(ADA, "The hedge is cut", "Good.")
    assert await texts(driver, query) == [text]


async def test_the_model_finds_words_within_names_also_in_older_messages(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "📄 Lease_Agreement.docx", "Noted.")
    assert [row.kind for row in await driver.look_up(private(ADA), "agreement")] == ["message"]
    indexed = await sql("select id, words::text, length from entry order by id")
    await sql(
        "update entry e set words = to_tsvector(e.language::regconfig, m.text), length = 1"
        " from message m where m.id = e.source_id"
    )  # as they were indexed before
    assert await driver.look_up(private(ADA), "agreement") == []
    await sql("delete from embed_due")
    await sql("with found as " + NAMES.read_text("utf-8").partition("\nwith found as ")[2])
    assert await sql("select id, words::text, length from entry order by id") == indexed
    assert await sql("select count(*) from embed_due") == [(1,)], "its vector is made anew"
    await driver.exchange(ADA, "über.das", "Noted.")  # no word is left of it
    await sql("with found as " + NAMES.read_text("utf-8").partition("\nwith found as ")[2])


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("東京タワーに行きました", "東京", "\x02東京\x03タワーに行きました"),
        ("昨日は京都で抹茶を飲みました", "抹茶 京都", "昨日は\x02京都\x03で\x02抹茶\x03を飲みました"),
        ("昨日は京都で抹茶を飲みました。", "「抹茶」。", "昨日は京都で\x02抹茶\x03を飲みました。"),
        ("我们下个月去北京看长城", "北京", "我们下个月去\x02北京\x03看长城"),
        ("我们下个月去北京看长城", '"京看"', "我们下个月去北\x02京看\x03长城"),
        ("เมื่อวานฉันไปเที่ยวกรุงเทพและกินผัดไทย", "กรุงเทพ", "เมื่อวานฉันไปเที่ยว\x02กรุงเทพ\x03และกินผัดไทย"),
        ("ฉันดื่มน้ำเย็น", "น้ำ", "ฉันดื่ม\x02น้ำ\x03เย็น"),
        ("부산에서서울까지", "서울", "부산에서\x02서울\x03까지"),
        ("Met Ken at 東京Tower, near 東京", "東京tower", "Met Ken at \x02東京Tower\x03, near 東京"),
        ("百" * 300 + "猫がいる" + "百" * 300, "猫", "… " + "百" * 48 + "\x02猫\x03" + "がいる" + "百" * 140 + " …"),
    ],
)  # fmt: skip
async def test_words_are_found_anywhere_in_scripts_without_spaces(
    driver: TurnDriver, text: str, query: str, marked: str
) -> None:
    await driver.exchange(ADA, text, "ok")
    await driver.exchange(ADA, "何か別のこと", "ok")
    found = await find(driver, query)
    assert ([row.text for row in found.found], found.every, found.vague) == ([marked], True, False)
    assert await texts(driver, query, private(BEN)) == []


async def test_words_with_and_without_spaces_are_found_together(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "昨日は京都で抹茶を飲みました with Ken", "ok")
    await driver.exchange(ADA, "東京タワー with Ken", "ok")
    assert await texts(driver, "京都 Ken") == ["昨日は京都で抹茶を飲みました with Ken"]
    assert await texts(driver, '"抹茶を" Ken') == ["昨日は京都で抹茶を飲みました with Ken"]
    assert await texts(driver, "京都 from:you") == []
    some = await find(driver, "京都 東京")
    assert (some.every, some.total) == (False, 2)
    assert await texts(driver, "京都 Naomi") == ["昨日は京都で抹茶を飲みました with Ken"]
    assert await texts(driver, '"大阪" Ken') == [], "a missing phrase is not tolerated"
    assert await texts(driver, "大阪") == []
    await sql("update session set private = true")
    assert await texts(driver, "京都") == []


async def test_whatever_is_searched_may_be_in_a_script_without_spaces(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "Hello", "Hi.", actions=[fact(ADA, "毎朝抹茶を飲みます")])
    await sql(VERSION, "庭の計画では抹茶色", "Hello")
    paper = {
        "unique_id": "u1",
        "name": "茶.pdf",
        "mime": "",
        "kind": "PDF",
        "pages": 1,
        "parts": ["別", "宇治の抹茶工場"],
    }
    await sql("select relay.keep_documents(id, space_id, %s::jsonb) from message where text = 'Hello'",
              json.dumps([paper]))  # fmt: skip
    part = "📄 茶.pdf, part 2: 宇治の抹茶工場"
    assert await texts(driver, "抹茶") == [part, "毎朝抹茶を飲みます", "庭の計画では抹茶色"]
    assert await texts(driver, "抹茶 kind:memory") == ["毎朝抹茶を飲みます"]
    assert await texts(driver, "抹茶 kind:version") == ["庭の計画では抹茶色"]
    assert await texts(driver, "抹茶 kind:document file:茶") == [part]
    assert await texts(driver, "抹茶 kind:message") == []


async def test_quoted_words_must_be_adjacent(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "the old red door", "ok")
    await driver.exchange(ADA, "the red old door", "ok")
    assert await texts(driver, '"old red"') == ["the old red door"]
    assert await texts(driver, '"red old" door') == ["the red old door"]
    assert await texts(driver, '"old door red"') == []
    assert await texts(driver, '"the"') != []
    assert await texts(driver, '"re"') == []
    # a missing word is tolerated, a missing phrase is not
    assert await texts(driver, '"red old" door window') == ["the red old door"]
    assert await texts(driver, '"blue door" door') == []


async def test_a_search_is_filtered_by_author(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "tea by Ada", "tea by the assistant", chat_id=GROUP)
    await driver.exchange(BEN, "tea by Ben", "ok", chat_id=GROUP)
    here = group()
    assert await texts(driver, "tea from:me", here) == ["tea by Ada"]
    assert await texts(driver, "tea from:me", here, user_id=BEN) == ["tea by Ben"]
    assert await texts(driver, "tea from:you", here) == ["tea by the assistant"]
    assert await texts(driver, "tea from:BE", here) == ["tea by Ben"]
    assert sorted(await texts(driver, "tea from:ben from:you", here)) == ["tea by Ben", "tea by the assistant"]
    assert await texts(driver, "tea from:nobody", here) == []


async def test_a_search_is_filtered_by_date(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "apples in spring", "ok")
    await sql("update message set created_at = '2025-03-01T12:00:00Z'")
    await driver.exchange(ADA, "apples in autumn", "ok")
    assert await texts(driver, "apples before:2025-03-02") == ["apples in spring"]
    assert await texts(driver, "apples after:2025-03 before:2025-04") == ["apples in spring"]
    assert await texts(driver, "apples after:yesterday") == ["apples in autumn"]
    assert await texts(driver, "apples before:2025-03-01") == []


async def test_an_answer_is_found_by_its_question_only_within_the_filters(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "Which apples are sour?", "Boskoop.")
    assert await texts(driver, "apples sour") == ["Which apples are sour?", "Boskoop."]
    assert await texts(driver, "apples") == ["Which apples are sour?"], "one word asks for what has it"
    await sql(MARK, 0.8, "Which apples are sour?")
    assert await texts(driver, "apples sour keepit:0.5..1") == ["Which apples are sour?"]
    await sql("update message set created_at = case role when 'user' then timestamptz '2025-03-01T23:59:00Z' "
              "else '2025-03-02T00:01:00Z' end")  # fmt: skip
    assert await texts(driver, "apples sour before:2025-03-02") == ["Which apples are sour?"]
    await driver.exchange(ADA, "/retry", "Bramley.", retry=True)
    assert await texts(driver, "apples sour") == ["Which apples are sour?", "Bramley."], "the answer that stayed"


async def test_a_search_is_filtered_by_place(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "tea at home", "ok")
    await driver.exchange(ADA, "tea in a topic", "ok", topic_id=5)
    created = {"forum_topic_created": {"name": "Trips to Bergen"}}
    update = message(ADA, "", topic_id=5, **created)
    del update["message"]["text"]
    await driver.say(update)
    assert await texts(driver, "tea in:here") == ["tea at home"]
    assert await texts(driver, "tea in:here", topic_id=5) == ["tea in a topic"]
    assert await texts(driver, "tea in:bergen") == ["tea in a topic"]
    assert await texts(driver, 'tea in:"trips to"') == ["tea in a topic"]
    assert len(await texts(driver, "tea in:bergen in:here")) == 2
    nowhere = await find(driver, "tea in:Oslo")
    assert (nowhere.nowhere, nowhere.total) == (True, 0)
    (row,) = (await find(driver, "tea in:bergen")).found
    assert (row.place, row.topic_id, row.user_id) == ("Trips to Bergen", 5, ADA)


async def test_a_groups_title_matches_all_its_topics(driver: TurnDriver) -> None:
    chat = {"id": GROUP, "type": "supergroup", "title": "Family"}
    update = message(ADA, "hello", GROUP, chat=chat)
    (turn,) = await driver.say(update)
    await driver.close(turn)
    for topic in (0, 7):
        await driver.exchange(ADA, f"tea in {topic}", "ok", chat_id=GROUP, topic_id=topic)
    assert len(await texts(driver, "tea in:family", group())) == 2
    (row,) = (await find(driver, "tea in:here", group(), chat_id=GROUP, topic_id=7)).found
    assert row.place == "Family"
    renamed = message(ADA, "hello", GROUP, chat={**chat, "title": "Clan"})
    (turn,) = await driver.say(renamed)
    await driver.close(turn)
    assert (await find(driver, "tea in:family", group())).nowhere is True
    assert len(await texts(driver, "tea in:clan", group())) == 2


async def test_filters_without_words_list_the_newest_first(driver: TurnDriver) -> None:
    for number in range(3):
        await driver.exchange(ADA, f"said {number}", f"heard {number}", topic_id=number)
    assert await texts(driver, "from:me") == ["said 2", "said 1", "said 0"]
    assert await texts(driver, "from:you after:7d", limit=2) == ["heard 2", "heard 1"]
    assert (await find(driver, "after:2020", limit=1)).total == 6
    assert await texts(driver, "in:here", topic_id=1) == ["heard 1", "said 1"]


async def test_a_query_of_only_stop_words_is_too_vague(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "this is what it is", "ok")
    assert (await find(driver, "what is it")).vague is True
    assert (await find(driver, "what is it from:me")).vague is True
    assert await texts(driver, '"what it is"') == ["this is what it is"]


@pytest.mark.parametrize(("text", "found"), [('"the who"', 1), ('"who the"', 0), ('"the"', 2), ('"x"', 1)])
async def test_a_memory_of_very_common_words_is_found_in_quotes(driver: TurnDriver, text: str, found: int) -> None:
    await driver.teach(ADA, "The Who is a band", "the x")
    hits = (await find(driver, text)).found
    assert [hit.kind for hit in hits] == ["memory"] * found


async def test_pages_follow_one_another(driver: TurnDriver) -> None:
    for number in range(8):
        await driver.exchange(ADA, f"tea number {number}", "ok")
    seen: list[int] = []
    for offset in (0, 3, 6, 9):
        found = await find(driver, "tea", offset=offset, limit=3)
        assert (found.total, found.more) == (8, False)
        seen.extend(row.id for row in found.found)
    assert len(seen) == len(set(seen)) == 8


async def test_replaced_answers_and_other_spaces_are_not_found(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "question", "wrong pineapple")
    await driver.exchange(ADA, "/retry", "right banana", retry=True)
    assert await texts(driver, "pineapple") == []
    assert await texts(driver, "banana") == ["right banana"]
    for space in (private(BEN), group(), group(GROUP - 5)):
        assert (await find(driver, "banana", space)).total == 0
        assert (await find(driver, "after:2000", space)).total == 0
    await driver.exchange(ADA, "banana in the group", "ok", chat_id=GROUP)
    assert await texts(driver, "banana", group()) == ["banana in the group"]
    assert await texts(driver, "banana") == ["right banana"]
    assert (await find(driver, "from:you")).total == 1


async def test_a_result_knows_its_telegram_message(driver: TurnDriver) -> None:
    done = await driver.exchange(ADA, "tea here", "ok", chat_id=GROUP)
    (row,) = (await find(driver, "tea", group())).found
    said = done.turn.updates[0]["message"]["message_id"]
    assert row.posted == Posted(GROUP, said)
    assert row.role == "user"
    (row,) = (await driver.store.find(group(), BOT.id + 1, asked("tea"), 0, 5)).found
    assert row.posted is None, "another bot has other message ids"


# Memories


async def test_memories_are_found_beside_messages(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(
        ADA, "my sister plays the cello", "Nice.", actions=[fact(ADA, "Has a sister who plays cello")]
    )
    found = await find(driver, "sister cello")
    assert {row.kind: row.text for row in found.found} == {
        "message": "my \x02sister\x03 plays the \x02cello\x03",
        "memory": "Has a \x02sister\x03 who plays \x02cello\x03",
    }
    assert (found.total, found.every, found.near) == (2, True, False)
    assert [row.kind for row in (await find(driver, '"who plays"')).found] == ["memory"]
    assert (await find(driver, "sister from:me")).total == 1, "a memory has no author to filter by"
    assert (await find(driver, "sister in:here")).total == 2
    assert (await find(driver, "sister in:here", chat_id=GROUP)).nowhere is True
    assert (await find(driver, "sister after:7d")).total == 2
    assert (await find(driver, "sister before:7d")).total == 0
    assert (await find(driver, "sister", private(BEN))).total == 0
    partly = await find(driver, "cello trumpet")
    assert (partly.total, partly.every) == (2, False)
    await sql("update memory set status = 'forgotten'")
    assert [row.kind for row in (await find(driver, "sister cello")).found] == ["message"]


async def test_summaries_are_found_and_opened(driver: TurnDriver, sql: Sql) -> None:
    done = await driver.exchange(ADA, "the roof leaks", "Call a roofer.")
    await sql(
        "insert into summary (thread_id, session_id, text, from_message_id, through_message_id, message_count, model,"
        " settings, tainted) select thread_id, session_id, 'Talk about carpentry.', id, id, 1, 'm', '{}', false"
        " from message where id = %s",
        done.context.message_id,
    )
    (row,) = (await find(driver, "carpentry")).found
    assert (row.kind, row.text) == ("summary", "Talk about \x02carpentry\x03.")
    opened = await driver.store.open_found(private(ADA), BOT.id, "summary", row.id)
    assert opened is not None
    assert opened.content == "Talk about carpentry."
    for space in (private(BEN), group()):
        assert await driver.store.open_found(space, BOT.id, "summary", row.id) is None


async def test_off_the_record_messages_are_not_found(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "a parsnip before", "ok")
    secret = await driver.exchange(ADA, "a parsnip in secret", "ok", topic_id=3)
    await driver.exchange(ADA, "a parsnip after", "ok")
    await sql("update session set private = true where id = (select session_id from message where id = %s)",
              secret.context.message_id)  # fmt: skip
    assert await texts(driver, "parsnip") == ["a parsnip after", "a parsnip before"]
    assert "a parsnip in secret" not in await texts(driver, "from:me")
    assert await around(driver, secret.context.message_id or 0) is None


# Context of a result


async def around(
    driver: TurnDriver, message_id: int, side: str = "around", count: int = 2, **more: Any
) -> MessageContext | None:
    space = more.get("space") or private(ADA)
    return await driver.store.find_context(space, BOT.id, asked("tea"), message_id, side, count)


async def test_messages_around_a_result_are_shown(driver: TurnDriver) -> None:
    for number in range(6):
        await driver.exchange(ADA, f"q{number} tea" if number == 3 else f"q{number}", f"a{number}")
        await driver.exchange(ADA, "elsewhere", "indeed", topic_id=9)
    (row,) = (await find(driver, "tea")).found
    found = await around(driver, row.id)
    assert found is not None
    assert [one.text for one in found.messages] == ["q2", "a2", "q3 \x02tea\x03", "a3", "q4"]
    assert (found.earlier, found.later) == (True, True)
    before = await around(driver, found.messages[0].id, "before", 9)
    assert before is not None
    assert [one.text for one in before.messages] == ["q0", "a0", "q1", "a1"]
    assert (before.earlier, before.later) == (False, True)
    after = await around(driver, found.messages[-1].id, "after", 9)
    assert after is not None
    assert [one.text for one in after.messages] == ["a4", "q5", "a5"]
    assert (after.earlier, after.later) == (True, False)
    end = await around(driver, after.messages[-1].id, "after")
    assert end == MessageContext((), earlier=False, later=False)
    for space in (private(BEN), group()):
        assert await around(driver, row.id, space=space) is None


async def test_a_search_is_stored_for_its_buttons(driver: TurnDriver) -> None:
    turn = await driver.turn(ADA, "hello")
    await driver.close(turn)
    (control,) = await driver.say(message(ADA, "/search tea"))
    assert control.kind == "control"
    store = driver.store
    assert await store.find_kept_search(control.turn_id, private(ADA)) is None
    await driver.exchange(ADA, "tea", "ok")
    await store.keep_search(control, private(ADA), "tea from:me")
    kept = await store.find_kept_search(control.turn_id, private(ADA))
    assert kept is not None
    assert (kept.text, kept.user_id, kept.chat_id, kept.topic_id) == ("tea from:me", ADA, ADA, 0)
    assert kept.at.tzinfo
    for space in (private(BEN), group()):
        assert await store.find_kept_search(control.turn_id, space) is None
    assert await store.find_kept_search(turn.turn_id, private(ADA)) is None
    assert await store.find_kept_search(2**60, private(ADA)) is None


# Any query


async def test_unusual_queries_are_answered(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "tea and coffee, http://example.com/it's?a=b&c=d'e foo-bar baz", "ok")
    for text in ODD:
        found = await find(driver, text)
        for row in found.found:
            assert await around(driver, row.id) is not None
    assert await texts(driver, '"foo-bar baz"') != []
    assert await sql("select count(*) from message") == [(2,)]


@pytest.fixture
async def spoken_in(driver: TurnDriver) -> TurnDriver:
    """A database in which Ada has written a message."""
    await driver.exchange(ADA, "tea 1 x é", "ok")
    return driver


@examples(120)
@given(text=st.text(st.sampled_from("tea'\"\\&|!():*<->.@/ %_$é🙂\n\t-1x"), max_size=60))
async def test_any_query_is_answered(spoken_in: TurnDriver, text: str) -> None:
    await find(spoken_in, f"{text} tea")
    await find(spoken_in, f'"{text}"')


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
async def test_no_query_reads_or_changes_another_space(driver: TurnDriver, sql: Sql, text: str) -> None:
    if await sql("select 1 from message limit 1") == []:
        await driver.teach(BEN, "a cormorant of Ben's")
        await driver.exchange(BEN, "my cormorant", "your cormorant")
        await driver.teach(ADA, "Ada has a" + "a" * 150)
    before = await sql("select count(*), max(updated_at) from memory")
    query = make_search_query(parse(text, datetime.now(UTC)), StoredSearch(text, ADA, datetime.now(UTC), ADA, 0))
    shown: list[Any] = [await driver.store.find(private(ADA), BOT.id, query, 0, 50)]
    shown += [await driver.store.memories(private(ADA), 0, 50, MemoryFilter(words=text))]
    shown += [await driver.store.erase_preview(private(ADA), {"words": text[:200]}, ADA, True)]
    turn = await driver.turn(ADA, "/forget")
    shown += [await driver.store.forget_preview(turn, private(ADA), text[:200], ADA, True)]
    await driver.close(turn)
    assert "Ben" not in str(shown)
    assert "my cormorant" not in str(shown)
    assert await sql("select count(*), max(updated_at) from memory") == before


@pytest.mark.slow("test_no_search_scans_a_whole_table, and test_plans.py")
async def test_search_is_fast_among_many_messages(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "rare", "ok")
    await driver.exchange(BEN, "rare", "ok")
    await sql("set relay.index = 'later'")  # at once, not one by one
    await sql(
        "insert into message (space_id, thread_id, session_id, role, user_id, text, blocks)"
        " select m.space_id, m.thread_id, m.session_id, m.role, m.user_id,"
        " case when n % 5 = 0 then 'common words ' else 'seldom ' end || md5(n::text), '[]'"
        " from generate_series(1, 2100) n, message m"
    )
    await sql("reset relay.index")
    await sql("select relay.enter('message', array_agg(id), array_agg(null::integer)) from message where id > 4")
    await sql("analyze message")
    for text in ("rare", "common", "common words", '"common words"', "from:me", "missing common"):
        began = time.monotonic()
        found = await find(driver, text, limit=6)
        assert time.monotonic() - began < 2, text
        assert found.total == {"rare": 1, "from:me": 2000}.get(text, 840), text
        assert found.more is (text == "from:me"), text


MARK = """insert into keepit (space_id, thread_id, session_id, message_id, seq, weight, content, block, start_at,
    end_at, context, origin, user_id) select space_id, thread_id, session_id, id, 0, %s, text, 0, 0, 1, '', 'text',
    user_id from message where text = %s"""
VERSION = """insert into compression (space_id, thread_id, session_id, number, name, settings, status, rows, created_by)
    select space_id, thread_id, session_id, 1, 'v001', '{}', 'ready',
    jsonb_build_array(jsonb_build_object('role', 'user', 'text', %s::text)), user_id from message where text = %s"""


async def narrow(driver: TurnDriver, sql: Sql) -> None:
    """Ada writes about tulips in two sessions, one with a topic, a marker and a version, and sends a document."""
    await driver.exchange(ADA, "Tulips for the garden", "Nice tulips.", actions=[fact(ADA, "likes tulips")])
    await driver.store.new_session(dm(ADA), "Second")
    await driver.exchange(ADA, "Tulips cost five euros", "So much.")
    await driver.exchange(ADA, "Here is a paper", "Thanks.")
    paper = {
        "unique_id": "u1",
        "name": "Bulbs 2026.pdf",
        "mime": "",
        "kind": "PDF",
        "pages": 1,
        "parts": ["All tulips bloom"],
    }
    await sql("select relay.keep_documents(id, space_id, %s::jsonb) from message where text = 'Here is a paper'",
              json.dumps([paper]))  # fmt: skip
    await sql("update session set topics = array['Spring garden', 'bulbs'] where title is distinct from 'Second'")
    await sql(MARK, 0.8, "Tulips for the garden")
    await sql(MARK, 0.25, "Tulips cost five euros")
    await sql(VERSION, "In short: tulips", "Tulips for the garden")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("file:bulbs", ["Here is a paper"]), ("file:BULBS tulips", ["📄 Bulbs 2026.pdf, part 1: All tulips bloom"]),
        ("file:other tulips", []), ("file:% tulips", []),
        ("topic:garden", ["Tulips for the garden", "Nice tulips."]), ("topic:spring five", []),
        ("topic:garden tulips kind:message", ["Tulips for the garden", "Nice tulips."]),
        ("keepit:0.5..1", ["Tulips for the garden"]), ("keepit:..0.5 tulips", ["Tulips cost five euros"]),
        ("keepit:0.8 file:bulbs", []), ("keepit:0.8 from:you", []),
        ("tulips kind:memory", ["likes tulips"]), ("tulips kind:summary", []),
        ("tulips kind:version", ["In short: tulips"]), ("topic:garden kind:version tulips", ["In short: tulips"]),
        ("topic:nothing kind:version tulips", []), ("kind:document", ["Here is a paper"]),
        ("tulips kind:document", ["📄 Bulbs 2026.pdf, part 1: All tulips bloom"]),
        ("tulips kind:message", ["Tulips for the garden", "Nice tulips.", "Tulips cost five euros"]),
        ("tulips kind:message kind:memory",
         ["Tulips for the garden", "Nice tulips.", "Tulips cost five euros", "likes tulips"]),
    ],
)  # fmt: skip
async def test_a_search_is_narrowed_with_filters(driver: TurnDriver, sql: Sql, text: str, found: list[str]) -> None:
    await narrow(driver, sql)
    assert sorted(await texts(driver, text)) == sorted(found)


async def test_versions_rank_behind_their_originals_and_are_not_recalled(driver: TurnDriver, sql: Sql) -> None:
    await narrow(driver, sql)
    found = await find(driver, "tulips")
    assert [row.kind for row in found.found][-1] == "version"
    assert [row.kind for row in found.found].count("version") == 1
    await sql(VERSION.replace("1, 'v001'", "2, 'v002'"), "In short: hyacinths", "Tulips for the garden")
    assert await texts(driver, "hyacinths") == ["In short: hyacinths"]
    assert [row.kind for row in await driver.look_up(private(ADA), "hyacinths")] == []
    assert await sql("select count(*) from embed_due d join entry e on e.id = d.entry_id where e.kind = 'version'") == [
        (0,)
    ]


async def test_missing_filters_of_an_older_relays_query_are_ignored(driver: TurnDriver, sql: Sql) -> None:
    await narrow(driver, sql)
    query = as_json(asked("tulips"))
    for name in ("files", "topics", "keepit", "kinds"):
        del query[name]
    [(page,)] = await sql("select public.relay_find(%s::jsonb, %s, %s::jsonb, 0, 50)",
                          json.dumps(private(ADA).as_json()), BOT.id, json.dumps(query))  # fmt: skip
    assert page["total"] == 6

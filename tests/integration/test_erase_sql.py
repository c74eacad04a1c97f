"""Checks that no table holds a word of what was erased, and that the rest is intact."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from relay.clients.kept_files import KeptFiles
from relay.core.models import Space
from relay.jobs.erasure import erasure_kind
from relay.jobs.runner import Runner
from relay.memory.rows.delivery import Part, PartResult
from relay.memory.rows.memories import MemoryFilter
from relay.memory.rows.upkeep.erasure import ErasedCounts, ErasePreview, RemainingWord
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.dump import holding
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    FINISHED,
    GROUP,
    TurnDriver,
    fact,
    group,
    incoming_of,
    private,
    reply,
)
from tests.integration.work import claim_summaries, written
from tests.standins.fakes import FakeMessenger

Json = dict[str, Any]
WORDS = ("zanzibarix", "quetzalcoatlus")


async def erase(store: Store, space: Space, query: Json, user_id: int = ADA, admin: bool = False) -> ErasePreview:
    """Previews an erasure and runs it to the end. Returns the preview."""
    shown = await store.erase_preview(space, query, user_id, admin)
    assert shown is not None
    assert await store.erase_begin(shown.erasure_id, user_id, admin)
    while not (await store.erase_step(shown.erasure_id) or FINISHED).done:
        pass
    return shown


TEXTS = [
    "Anna lebt in der Hauptstraße", "مَكْتَبَة كبيرة", "أحمد هنا", "Isparta'da", "ısparta", "Анне позвонили", "Ёлка",
    "Anna", "0170 123 45 67", "+49 (0)170/1234567", "DE44 5001 0517 5407 3249 31", "Anna‑Lena is here", "lena",
    "Jose\u0301", "José", "東京に行く", "5 mg", "15 mg", "Tom", "tomorrow", "she is not allergic to nuts",
    "she is allergic to nuts", "not to nuts", "allergic", "",
]  # fmt: skip
FORMS = [
    "anna", "hauptstrasse", "hauptstraße", "مكتبة", "احمد", "ısparta", "isparta", "анна", "елка", "01701234567",
    "tom", "de44500105175407324931", "anna-lena", "josé", "東京", "5",
]  # fmt: skip
NEEDLES = [
    *([{"words": [word], "least": 1}] for word in FORMS),
    *([{"words": ["allergic", "nuts"], "least": 2, "negative": negative}] for negative in (True, False)),
    [{"words": ["anna", "lena"], "least": 2}, {"words": ["mg", "5"], "least": 2}],
]


async def test_texts_that_are_looked_at_together_match_like_each_alone(sql: Sql) -> None:
    """Together, one could hide what another says: an Arabic one a German ß, or a text with “not” one without it."""
    for needle in NEEDLES:
        together, alone = (
            await sql(
                """with texts (told, id) as (select * from jsonb_array_elements_text(%s::jsonb) with ordinality)
                select array(select relay.saying(array_agg(id), array_agg(told), needle)),
                    array(select id from texts where relay.says(told, needle))
                from texts, (select %s::jsonb as needle) one group by needle""",
                json.dumps(TEXTS), json.dumps(needle),
            )
        )[0]  # fmt: skip
        assert sorted(together) == sorted(alone) != [], needle


@pytest.mark.parametrize(
    ("words", "meant", "others"),
    [
        ("Anna", ["Anna likes tea", "Annas tea"], ["Hanna likes tea", "Johanna writes\nHanna"]),
        ("rose", ["the rose", "roses"], ["writes prose"]),
        ("Tom", ["Tom is here", "ask @Tom.", "first\nTom"], ["tomorrow", "an atom", "Tommy"]),
        ("4711", ["the code is 4711"], ["the code is 47110", "the code is 14711"]),
        ("5 mg", ["takes 5 mg daily"], ["takes 15 mg daily", "takes 50 mg daily", "5 omg"]),
        (
            "Miller",
            ["mail to ben.miller@example.com", "see https://a.example/ben-miller.pdf"],
            ["ben.millstone@example.com"],
        ),
        ("0815", ["number 4711-0815"], ["number 4711-08150"]),
        ("$5", ["pays $5 a day"], ["pays $50 a day"]),
        (
            "+49 170 1234567",
            [
                "Ben: +49 170 1234567.",
                "+491701234567",
                "call 0049 170/123 45 67",
                "(+49) (0)170-123\u00a04567 at 5",
                "ruf 0170 123 45 67 an",
            ],
            ["call +49 170 1234568", "+49 170 12345678", "170 1234567", "170, not 1234567"],
        ),
        ("+491701234567", ["Ben: +49 170 1234567", "+49.170.1234567"], ["+49 170 123456 78"]),
        ("Ben 0170 1234567", ["Ben has 01701234567", "Ben: +49 (0)170 1234567"], ["Bea has 01701234567"]),
        ("01701234567", ["0170/1234567", "0049 170 1234567"], ["0171 1234567", "+49 170 1234568", "1701234567"]),
        ("DE89370400440532013000", ["IBAN: DE89 3704 0044 0532 0130 00"], ["DE89 3704 0044 0532 0130 01"]),
        ("GB29 NWBK 6016 1331 9268 19", ["GB29NWBK60161331926819 it is"], ["GB29 NWBK 6016 1331 9268 10"]),
        ("4111-1111-1111-1111", ["card 4111 1111 1111 1111"], ["card 4111 1111 1111 1112"]),
        ("4711 4712", ["4711 and 4712", "47114712"], ["4711 4713", "4711471"]),
        (
            "Anna-Lena",
            ["Anna-Lena calls", "Anna Lena is here", "Anna‑Lenas tea"],
            ["Anna and Lena", "Anna, Lena", "Annalena"],
        ),
        ("Anna Lena", ["Anna-Lena calls", "Lena and Anna"], ["Anna calls"]),
        ("小王", ["我的朋友叫小王", "小王住在上海"], ["小张住在上海"]),
        ("マチルダ", ["私の友達はマチルダさんです"], ["マリアさんです"]),
        ("มาทิลดา", ["เพื่อนของฉันชื่อมาทิลดา"], ["เพื่อนของฉันชื่อมาเรีย"]),
        ("Änne", ["Änne kommt"], ["Hänne kommt"]),
        ("José", ["José calls", "Jose\u0301 is here"], ["Josefa calls"]),
        ("Jose\u0301", ["José calls", "Jose\u0301 is here"], ["Josefa calls"]),
        ("O’Brien", ["Siobhan O'Brien calls", "O’Brien is here", "Call O´Brien"], ["Brian calls"]),
        ("Strauß", ["Strauß kommt", "STRAUSS kommt", "Frau Strauss kommt"], ["Der Strauch blüht"]),
        ("Fuß", ["Der Fuß tut weh"], ["Fußball macht Spaß"]),
        ("Strauss", ["Strauß ruft an", "Strauss ruft an"], ["Straub ruft an"]),
        ("Işıl", ["Işıl geldi", "ışıl yazdı", "IŞIL aradı"], ["Işık geldi"]),
        ("“Mathilda”, the aunt.", ["Mathilda is the aunt"], ["Mathilda is here"]),
        ("Марина", ["Марина звонила", "был у Марины", "пишет Мариной."], ["Марианна здесь", "любит мармелад"]),
        ("Оля", ["Оля дома", "звонит Оле"], ["олень в лесу", "Олег дома"]),
        ("Евгения", ["Евгения дома", "пишет Евгении"], ["Евгений дома", "пишет Евгением"]),
        ("алена", ["Алёна дома", "пишет Алене"], ["Алексей дома"]),
        ("قهوة", ["يحب القهوة", "قهوة باردة", "اشترى شايا وقهوة"], ["فتح مقهى"]),
        ("احمد", ["أحمد هنا", "زار احمد", "كتب لأحمد"], ["محمد هنا"]),
    ],
)
async def test_erasing_takes_what_the_preview_shows_and_no_longer_word(
    driver: TurnDriver, store: Store, sql: Sql, words: str, meant: list[str], others: list[str]
) -> None:
    for text in (*meant, *others):
        await driver.exchange(ADA, text, "Yes.")
    for texts in (meant, others):
        await driver.teach(ADA, *texts)
    shown = await erase(store, private(ADA), {"words": words})
    assert {row.text for row in shown.messages if row.role == "user"} >= set(meant)
    assert not {row.text for row in shown.messages} & set(others)
    assert sorted(row.content for row in shown.memories) == sorted(meant)
    assert await driver.known(private(ADA)) == others
    rows = await sql("select text from relay.message where role = 'user' and text <> '' order by id")
    assert [text for (text,) in rows if text in (*meant, *others)] == others


@pytest.mark.parametrize(
    ("meant", "other"),
    [
        (
            "Our son Tom goes to the dentist on the first Monday of every month",
            "Our son Tim goes to the dentist on the first Monday of every month",
        ),
        (
            "Takes 5 mg of the blood pressure tablet every morning",
            "Takes 15 mg of the blood pressure tablet every morning",
        ),
        ("We live in flat 3 of the old house at the river", "We live in flat 8 of the old house at the river"),
        (
            "Unser Sohn Tom geht jeden ersten Montag im Monat zum Zahnarzt",
            "Unser Sohn Tim geht jeden ersten Montag im Monat zum Zahnarzt",
        ),
        ("The bakery at the corner opens at 6:30", "The bakery at the corner opens at 7:30"),
        ("I do not eat fish on the boat", "I eat fish on the boat"),
        ("I eat fish on the boat", "I do not eat fish on the boat"),
        ("Ich esse keinen Fisch an Bord", "Ich esse Fisch an Bord"),
        ("Ben no come pescado en el barco", "Ben come pescado en el barco"),
        ("my cat likes milk", "my dog likes milk"),
        ("Ma sœur aime le fromage", "Mon frère aime le fromage"),
    ],
)
async def test_erasing_a_memory_takes_no_similar_one_with_another_name_or_number_or_a_not(
    driver: TurnDriver, store: Store, sql: Sql, meant: str, other: str
) -> None:
    known = [await announced_line(driver, text, said=text) for text in (meant, other)]
    shown = await erase(store, private(ADA), {"memory_id": known[0]})
    assert [row.content for row in shown.memories] == [meant]
    assert await sql("select request ->> 'text' from outbox where not request ? 'erased' order by id") == [
        ("Fine.",),
        (f"Fine.\n\n🧠 Learned: {other}",),
    ]
    assert await driver.known(private(ADA)) == [other]
    assert await sql("select text from message where role = 'user'") == [(other,)]


async def test_erasing_a_memory_takes_what_repeats_its_number_in_other_groups(driver: TurnDriver, store: Store) -> None:
    await announced_line(driver, "Anna-Lena's phone number is +49 170 1234567", said="Note it.")
    others = ("Ben's phone number is +49 170 1234567", "Anna-Lena's phone number is +49 170 1234568")
    for text in ("Anna Lena's phone number is +491701234567, I think", *others):
        await driver.exchange(ADA, text, "Yes.")
    shown = await erase(store, private(ADA), {"number": 1})
    said = [row.text for row in shown.messages if row.role == "user"]
    assert said == ["Note it.", "Anna Lena's phone number is +491701234567, I think"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("I eat zanzibarix on the boat", "No, I eat zanzibarix on the boat."),
        ("I eat zanzibarix on the boat", "I eat zanzibarix on the boat, not at home. And no meat!"),
        ("I do not eat zanzibarix on the boat", "I do not, as you know, eat zanzibarix on the boat"),
    ],
)
async def test_erasing_a_memory_takes_what_says_the_same_beside_another_not(
    driver: TurnDriver, store: Store, sql: Sql, content: str, said: str
) -> None:
    (change,) = await driver.teach(ADA, content)
    await driver.exchange(ADA, said, "I see.")
    await erase(store, private(ADA), {"memory_id": change.memory_id})
    assert await holding(sql, WORDS[0]) == {}


GERMAN = "Unser Sohn Tom geht jeden ersten Montag im Monat mit dem Hund zum Zahnarzt"
SUMMER = "Verbringt den Sommer immer mit der Familie an der Ostsee"
TABLET = "Nimmt jeden Morgen nach dem Frühstück eine Tablette gegen den Bluthochdruck"


@pytest.mark.parametrize(
    ("content", "said", "goes"),
    [
        (GERMAN, "Tom geht jeden ersten Montag mit dem Hund zum Zahnarzt.", True),
        (GERMAN, "Tom geht jeden ersten Montag im Monat zum Zahnarzt. Die Katze bleibt beim Nachbarn.", True),
        (GERMAN, "Unser Sohn Tim geht jeden ersten Montag im Monat mit dem Hund zum Zahnarzt", False),
        (GERMAN, "Unser Sohn geht jeden ersten Montag im Monat mit dem Hund zum Zahnarzt", False),
        (GERMAN, "Tom geht jeden ersten Dienstag im Monat mit dem Hund zum Zahnarzt", False),
        (GERMAN, "unser sohn tim geht jeden ersten montag im monat mit dem hund zum zahnarzt", False),
        (GERMAN.replace("Tom", "Jan-Ole"), "Jan-Ole geht jeden ersten Montag im Monat zum Zahnarzt", True),
        (GERMAN.replace("Tom", "Jan-Ole"), "Jan Ole geht jeden ersten Montag im Monat zum Zahnarzt.", True),
        (GERMAN.replace("Tom", "Jan-Ole"), "Jan-Uwe geht jeden ersten Montag im Monat zum Zahnarzt.", False),
        (TABLET, "Sie nimmt jeden Morgen eine Tablette gegen den Bluthochdruck", True),
        (TABLET, "Nimmt jeden Morgen nach dem Frühstück eine Tablette gegen den Durchfall", False),
        (TABLET, "nimmt jeden morgen nach dem frühstück eine tablette gegen den durchfall", False),
        (TABLET, "Nimmt jeden Abend nach dem Frühstück eine Tablette gegen den Bluthochdruck", False),
        (SUMMER, "Sie verbringt den Sommer immer an der Ostsee", True),
        (SUMMER, "Verbringt den Sommer immer mit der Familie an der Nordsee", False),
        ("Anna mag Schokolade und Kuchen am Sonntag", "Ich mag Schokolade und Kuchen am Sonntag", False),
        ("Der Vertrag mit der Vermieterin läuft bis zum 31. August 2027", "Er läuft bis zum 31. August 2028", False),
    ],
)  # fmt: skip
async def test_a_german_repetition_may_lack_a_noun_but_has_no_other(
    driver: TurnDriver, store: Store, sql: Sql, content: str, said: str, goes: bool
) -> None:
    (change,) = await driver.teach(ADA, content)
    await driver.exchange(ADA, said, "Gut.")
    await erase(store, private(ADA), {"memory_id": change.memory_id})
    assert await sql("select text from message where role = 'user' and text = %s", said) == ([] if goes else [(said,)])


async def test_erasing_a_memory_of_one_person_takes_what_they_said_in_their_own_words(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    change = (await driver.teach(ADA, "Ada has a parrot called Zanzibarix"))[0]
    await driver.exchange(ADA, "I have a parrot, and Zanzibarix is what it is called", "I see.")
    await erase(store, private(ADA), {"memory_id": change.memory_id})
    assert await holding(sql, WORDS[0]) == {}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Elle habite avec Zanzibarix à Lyon", "J'habite avec Zanzibarix à Lyon"),
        ("Она живёт с Zanzibarix в Казани", "Теперь живет с Zanzibarix в Казани"),
        ("Su perro Zanzibarix duerme en la cocina", "Mi perro Zanzibarix ya duerme en la cocina"),
    ],
)
async def test_a_pronoun_that_begins_a_memory_is_no_name(
    driver: TurnDriver, store: Store, sql: Sql, content: str, said: str
) -> None:
    (change,) = await driver.teach(ADA, content)
    await driver.exchange(ADA, said, "I see.")
    await erase(store, private(ADA), {"memory_id": change.memory_id})
    assert await holding(sql, WORDS[0]) == {}


async def test_erasing_a_memory_without_a_name_leaves_texts_that_share_some_of_its_words(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    (change,) = await driver.teach(ADA, "I like long walks")
    text = "You would like rigatoni; boil it for as long as the packet says."
    done = await driver.exchange(ADA, "Which pasta?", text, close=False)
    await store.deliver(done.turn, BOT.id, [Part(1, ADA, {"chat_id": ADA, "text": text})])
    await store.store_sent(done.turn, [PartResult(1, "sent", 99)], True)
    await sql("update session set title = 'Things I like that take long', titled_by = 'person'")
    await erase(store, private(ADA), {"memory_id": change.memory_id})
    assert await sql("select request ->> 'text' from outbox where turn_id = %s", done.turn.turn_id) == [(text,)]
    assert await sql("select title from session") == [("Things I like that take long",)]
    assert await sql("select count(*) from retraction") == [(0,)]


@pytest.mark.parametrize("content", ["ex is Jo", "🐢🐍", "is 42"])
async def test_a_line_about_a_memory_of_very_short_words_is_erased(
    driver: TurnDriver, store: Store, sql: Sql, content: str
) -> None:
    shown = await announced_line(driver, content)
    await erase(store, private(ADA), {"memory_id": shown})
    assert await sql("select request ->> 'text' from outbox") == [("Fine.",)]


async def test_a_line_about_an_earlier_wording_is_erased_too(driver: TurnDriver, store: Store, sql: Sql) -> None:
    shown = await announced_line(driver, "keeps a secret in the attic")
    turn = await driver.turn(ADA, "reword")
    edit = {"action": "edit", "memory_id": shown, "content": "likes tidy houses"}
    await store.change_memory(turn, private(ADA), [edit])
    await driver.close(turn)
    await erase(store, private(ADA), {"memory_id": shown})
    assert await holding(sql, "attic", "tidy") == {}


async def announced_line(driver: TurnDriver, content: str, said: str = "Listen.") -> int:
    """Teaches a fact, and delivers the answer with a line about it. Returns the memory's id."""
    done = await driver.exchange(ADA, said, "Fine.", actions=[fact(ADA, content)], close=False)
    part = {"chat_id": ADA, "text": f"Fine.\n\n🧠 Learned: {content}"}
    await driver.store.deliver(done.turn, BOT.id, [Part(1, ADA, part)])
    await driver.store.store_sent(done.turn, [PartResult(1, "sent", 99)], True)
    return done.told.changes[0].memory_id


@pytest.mark.parametrize(
    ("words", "spellings"),
    [
        ("Jose", ("josé",)),
        ("José", ("jose",)),
        ("Juergen", ("jurgen", "jürgen")),
        ("Muller", ("mueller", "müller")),
        ("Ana", ()),
        ("Bo", ()),
        ("Joe", ()),
        ("Su", ()),
        ("José Garcia", ("josé garcía",)),
    ],
)
async def test_the_preview_names_other_spellings_which_stay(
    driver: TurnDriver, store: Store, words: str, spellings: tuple[str, ...]
) -> None:
    said = "José, Jose, Jürgen, Juergen, Jurgen, Müller, Muller, Mueller, Anna, Ana, Bo, Bob, Jo, Joe, Su, Sue"
    names = (*said.split(", "), "José Garcia", "José García", "Ana García")
    await driver.teach(ADA, *(f"{name} has a boat" for name in names))
    shown = await erase(store, private(ADA), {"words": words})
    assert shown.spellings == spellings
    assert f"{words} has a boat" not in await driver.known(private(ADA))
    assert {"Anna has a boat", "Bob has a boat"} <= set(await driver.known(private(ADA)))


async def test_an_admin_hears_that_the_soul_and_an_invitation_keep_the_words(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.teach(ADA, "knows Zanzibarix")
    await sql("insert into soul (version, text) select max(version) + 1, 'Be kind to Zanzibarix' from soul")
    invited = "insert into invite (hash, role, for_whom, expires_at) values ('h', 'user', 'Zanzibarix', 'infinity')"
    await sql(invited)
    for admin in (True, False):
        shown = await store.erase_preview(private(ADA), {"words": "zanzibarix"}, ADA, admin)
        assert shown is not None
        assert (shown.soul, shown.invitation) == (admin, admin)


async def test_the_preview_says_that_words_of_others_stay(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "Mathilda is my aunt", "I see.", chat_id=GROUP)
    for others, admin in ((False, False), (True, False), (False, True)):
        if others:
            await driver.exchange(BEN, "Mathilda is my boss", "I see.", chat_id=GROUP)
        shown = await store.erase_preview(group(), {"words": "Mathilda"}, ADA, admin)
        assert shown is not None
        assert shown.others == others


async def test_the_preview_offers_no_message_of_somebody_else(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "Mathilda is my aunt", "I see.", chat_id=GROUP)
    await driver.exchange(BEN, "Mathilda is my boss", "I see.", chat_id=GROUP)
    shown = await store.erase_preview(group(), {"words": "Mathilda"}, ADA, False)
    assert shown is not None
    assert [row.text for row in shown.messages if row.role == "user"] == ["Mathilda is my aunt"]
    assert shown.left == ()


async def told_of(driver: TurnDriver, sql: Sql) -> Json:
    """Ada talks about her parrot. It is learned, answered, asked about again, summarised, and found by a tool."""
    learned = await driver.exchange(
        ADA,
        "My parrot is called Zanzibarix, a quetzalcoatlus of a bird",
        "Zanzibarix, what a name!",
        actions=[fact(ADA, "has a parrot called Zanzibarix (quetzalcoatlus)")],
    )
    await driver.exchange(ADA, "I also like tea", "Noted.", actions=[fact(ADA, "likes tea")])
    await driver.exchange(ADA, "How is the weather?", "Fine.")
    turn = await driver.turn(ADA, "What did I say about pets?")
    incoming = incoming_of(turn, "What did I say about pets?", private(ADA))
    await driver.store.begin(incoming, "model-1")
    found = "My parrot is called Zanzibarix, a quetzalcoatlus of a bird"
    steps = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": found}]},
        {"role": "assistant", "content": [{"type": "text", "text": "About a bird."}]},
    ]
    await driver.store.finish(incoming, reply("About a bird.") | {"blocks": steps})
    part = {"chat_id": ADA, "text": "About a bird. It was: Zanzibarix the quetzalcoatlus"}
    await driver.store.deliver(turn, BOT.id, [Part(1, ADA, part)])
    await driver.store.store_sent(turn, [PartResult(1, "sent", 99)], True)
    await driver.exchange(ADA, "Thanks", "You are welcome.")
    (due,) = await claim_summaries(driver.store, 1)
    summary = written(due, "Ada has a parrot, Zanzibarix, a quetzalcoatlus.")
    assert await driver.store.store_summary(due.job, summary)
    await sql("update session set title = 'Zanzibarix the parrot', titled_by = 'model'")
    return learned.told.changes[0]


CONTEXTS = (
    "insert into keepit (space_id, thread_id, session_id, message_id, seq, weight, content, block, start_at, end_at,"
    " context, origin, user_id) select space_id, thread_id, session_id, id, 0, 0.8, text, 0, 0, 9, text, 'text', 1"
    " from message where text like 'My parrot%%' or text = 'I also like tea'",
    "insert into compression (space_id, thread_id, session_id, number, name, settings, status, rows, inputs,"
    " created_by)"
    " select space_id, thread_id, session_id, id, 'v' || id, '{}', 'ready',"
    " jsonb_build_array(jsonb_build_object('text',"
    " case when text like 'My%%' then 'of a bird' else text end)), array['message:' || id], 1 from message"
    " where text like 'My parrot%%' or text = 'I also like tea'",
    "insert into compression (space_id, thread_id, session_id, number, name, settings, source_id, status, rows, inputs,"
    " created_by) select space_id, thread_id, session_id, 900, 'v900', '{}', id, 'ready', '[{\"text\": \"in short\"}]',"
    " array['version:' || id], 1 from compression where rows::text like '%%bird%%'",
    "insert into compression (space_id, thread_id, session_id, number, name, settings, status, rows, created_by)"
    " select space_id, thread_id, id, 901, 'v901', '{}', 'dropped', '[{\"text\": \"Zanzibarix, quetzalcoatlus\"}]', 1"
    " from session limit 1",
    "insert into compression_keepit select c.id, k.id, 0.8, 0.5, true from compression c, keepit k"
    " where 'message:' || k.message_id = any (c.inputs)",
    "insert into composition (space_id, thread_id, name, budget, status, rows, inputs, created_by) select space_id,"
    " thread_id, n, 4000, 'ready', jsonb_build_array(jsonb_build_object('text', said)), '{}', 1 from session, (values"
    " ('Zanzibarix quetzalcoatlus', 'nothing'), ('by words', 'Of Zanzibarix, the QUETZALCOATLUS'), ('by parts',"
    " 'in short'),"
    " ('tea', 'likes tea')) c (n, said)",
    "insert into composition_part (composition_id, place, session_id, compression_id, version) select c.id, 0,"
    " v.session_id,"
    " v.id, v.name from composition c join compression v on v.number = 900 where c.name = 'by parts'",
    "insert into composition_use (session_id, composition_id) select s.id, c.id from session s, composition c"
    " where c.name = 'by words'",
    "insert into session_link (source_session_id, target_thread_id, space_id, reason, linked_by) select s.id, t.id,"
    " s.space_id, 'Zanzibarix the quetzalcoatlus', 1 from session s, thread t",
    "update session set topics = array['tea', 'zanzibarix quetzalcoatlus']",
)
"""Adds markers, versions, compositions and a link, some about the parrot and some about tea."""


async def composed_of(driver: TurnDriver, sql: Sql) -> None:
    await told_of(driver, sql)
    for statement in CONTEXTS:
        await sql(statement)


LEFT = """select (select array_agg(content) from keepit), (select array_agg(relay.rows_text(rows)) from compression),
    (select array_agg(name) from composition), (select count(*) from session_link)"""


async def test_markers_versions_and_compositions_are_erased_whole(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await composed_of(driver, sql)
    before = await holding(sql, *WORDS)
    assert {"keepit", "compression", "composition", "session_link", "entry"} <= before.keys()
    [(memory_id,)] = await sql("select id from memory where content like '%%Zanzibarix%%'")
    shown = await erase(store, private(ADA), {"memory_id": memory_id})
    assert shown.counts.artefacts == 6, "by its input, its text, what it was made from, its parts and its name"
    assert await holding(sql, *WORDS) == {}
    assert await sql(LEFT) == [(["I also like tea"], ["I also like tea"], ["tea"], 0)]
    assert await sql("select count(*) from compression_keepit") == [(1,)]
    assert (await sql("select counts ->> 'artefacts' from erasure")) == [("6",)]


async def test_texts_found_only_by_the_sweep_are_counted_in_the_report(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await composed_of(driver, sql)
    await sql("delete from entry where kind = 'version'")
    await sql(
        "update compression set rows = '[{\"text\": \"zanzibarixes everywhere\"}]', inputs = '{}' where number = 900"
    )
    await sql("delete from entry where kind = 'version'")
    shown = await erase(store, private(ADA), {"words": "zanzibarix"})
    assert await holding(sql, WORDS[0]) == {}
    [(counted,)] = await sql("select (counts ->> 'artefacts')::integer from erasure")
    assert counted > shown.counts.artefacts


async def test_an_erasure_never_takes_another_persons_marker(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for user_id in (ADA, BEN):
        await driver.exchange(user_id, f"{user_id} saw Zanzibarix", "Fine.", chat_id=GROUP)
    await sql(CONTEXTS[0].partition("'text', 1")[0] + "'text', user_id from message where role = 'user'")
    await erase(store, group(), {"words": "zanzibarix"}, ADA)
    assert await sql("select user_id from keepit") == [(BEN,)]


async def test_no_table_holds_a_word_of_an_erased_memory(driver: TurnDriver, store: Store, sql: Sql) -> None:
    change = await told_of(driver, sql)
    before = await holding(sql, *WORDS)
    assert {"memory", "message", "event", "outbox", "summary", "session"} <= before.keys()
    shown = await erase(store, private(ADA), {"memory_id": change.memory_id})
    assert shown.counts == ErasedCounts(1, 2, 1, 0)
    assert [row.text for row in shown.messages] == [
        "My parrot is called Zanzibarix, a quetzalcoatlus of a bird",
        "Zanzibarix, what a name!",
    ]
    assert await holding(sql, *WORDS) == {}
    assert await driver.known(private(ADA)) == ["likes tea"]
    assert (await sql("select count(*) from message"))[0][0] == 8
    assert await sql("select status, work, counts ->> 'messages' from erasure") == [("done", None, "2")]


async def test_erasing_by_words_erases_all_matches_with_their_history(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await told_of(driver, sql)
    await driver.exchange(ADA, "Zanzibarix bit me", "Bad Zanzibarix! A quetzalcoatlus bites.")
    turn = await driver.turn(ADA, "reword")
    memory = (await store.memories(private(ADA), 0, 10, MemoryFilter(words="Zanzibarix"))).memories[0]
    edit = {"action": "edit", "memory_id": memory.id, "content": "has a parrot"}
    await store.change_memory(turn, private(ADA), [edit])
    await driver.close(turn)
    await erase(store, private(ADA), {"words": "zanzibarix"})
    assert await holding(sql, WORDS[0]) == {}
    assert await driver.known(private(ADA)) == ["likes tea"]


async def test_erasing_by_words_keeps_what_replaced_a_match(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "I live in Zanzibarix", actions=[fact(ADA, "lives in Zanzibarix")])
    moved = [fact(ADA, "lives in Lisbon"), {"action": "forget", "content": "lives in Zanzibarix"}]
    done = await driver.exchange(ADA, "I moved to Lisbon", actions=moved)
    assert [one.action for one in done.told.changes] == ["supersede"]
    await erase(store, private(ADA), {"words": "zanzibarix"})
    assert await driver.known(private(ADA)) == ["lives in Lisbon"]
    assert await holding(sql, WORDS[0]) == {}


async def test_erasing_an_old_memory_by_number_keeps_what_replaced_it(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, "I live in Zanzibarix", actions=[fact(ADA, "lives in Zanzibarix")])
    moved = [fact(ADA, "lives in Lisbon"), {"action": "forget", "content": "lives in Zanzibarix"}]
    await driver.exchange(ADA, "I moved to Lisbon", actions=moved)
    shown = await erase(store, private(ADA), {"number": 1})
    assert [row.content for row in shown.memories] == ["lives in Zanzibarix"]
    assert await driver.known(private(ADA)) == ["lives in Lisbon"]
    assert await holding(sql, WORDS[0]) == {}
    (learned,) = (await store.history(private(ADA), False, 0, 9, ADA, False)).changes
    assert (learned.action, learned.content) == ("learn", "lives in Lisbon"), "what stays keeps its history"
    await store.decide_change(learned.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == []


async def test_erasing_a_memory_by_number_takes_what_it_replaced(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "I live in Lisbon", actions=[fact(ADA, "lives in Lisbon")])
    moved = [fact(ADA, "lives in Zanzibarix"), {"action": "forget", "content": "lives in Lisbon"}]
    await driver.exchange(ADA, "I moved to Zanzibarix", actions=moved)
    shown = await erase(store, private(ADA), {"number": 2})
    assert [row.content for row in shown.memories] == ["lives in Lisbon", "lives in Zanzibarix"]
    assert await holding(sql, "zanzibarix", "lisbon") == {}


async def test_an_erasure_in_a_group_leaves_the_open_previews_of_others(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "My aunt is Zanzibarix", "I see.", chat_id=GROUP)
    await driver.exchange(BEN, "My boss is Zanzibarix", "I see.", chat_id=GROUP)
    theirs = await store.erase_preview(group(), {"words": "zanzibarix"}, BEN, False)
    assert theirs is not None
    await erase(store, group(), {"words": "zanzibarix"}, ADA)
    assert await store.erase_begin(theirs.erasure_id, BEN, False)


async def test_summaries_become_due_again_without_the_erased_texts(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await told_of(driver, sql)
    await erase(store, private(ADA), {"words": "Zanzibarix"})
    assert (await sql("select count(*) from summary"))[0][0] == 0
    assert await sql("select summary_id from thread") == [(None,)]
    (due,) = await claim_summaries(store, 4)
    assert due.work.previous is None
    texts = [message.text for message in due.work.messages]
    assert "I also like tea" in texts
    assert not [text for text in texts if "anzibarix" in text]


async def test_an_erasure_continues_after_a_kill_between_two_steps(
    driver: TurnDriver, store: Store, sql: Sql, another: Any
) -> None:
    await told_of(driver, sql)
    shown = await store.erase_preview(private(ADA), {"words": "zanzibarix"}, ADA, False)
    assert shown is not None
    assert await store.erase_begin(shown.erasure_id, ADA, False)
    assert (await holding(sql, WORDS[0])).keys() >= {"message", "memory"}
    del store  # the process that began it dies; another takes over the oldest erasure
    while not (await another().erase_step() or FINISHED).done:
        pass
    assert await holding(sql, WORDS[0]) == {}
    assert await another().erase_step() is None
    assert await sql("select count(*) from job where kind = 'erasure'") == [(0,)]


async def test_an_answer_in_progress_is_erased_too_once_it_has_ended(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await told_of(driver, sql)
    turn = await driver.turn(ADA, "Which pet do I have?", topic_id=5)
    incoming = incoming_of(turn, "Which pet do I have?", private(ADA))
    context = await store.begin(incoming, "model-1")
    assert WORDS[0] in str(context).lower()
    shown = await store.erase_preview(private(ADA), {"words": "zanzibarix"}, ADA, False)
    assert shown is not None
    assert await store.erase_begin(shown.erasure_id, ADA, False)
    while await store.erase_step(shown.erasure_id) is not None:
        pass
    await store.finish(incoming, reply("A parrot, Zanzibarix."))
    await store.deliver(turn, BOT.id, [Part(1, ADA, {"chat_id": ADA, "text": "A parrot, Zanzibarix."})])
    assert await store.erase_step(shown.erasure_id) is None, "it is being sent"
    await store.store_sent(turn, [PartResult(1, "sent", 101)], True)
    while not (await store.erase_step(shown.erasure_id) or FINISHED).done:
        pass
    assert await holding(sql, WORDS[0]) == {}
    assert 101 in [one.message_id for one in await store.retractions(BOT.id, shown.erasure_id, 50)]


async def test_a_started_erasure_is_a_job_that_any_process_finishes(
    driver: TurnDriver, store: Store, sql: Sql, another: Any, tmp_path: Path
) -> None:
    await told_of(driver, sql)
    shown = await store.erase_preview(private(ADA), {"words": "zanzibarix"}, ADA, False)
    assert shown is not None
    assert await store.erase_begin(shown.erasure_id, ADA, False)
    assert "erasure" in (await another().claim(BOT.id, 0))[1].owed
    (job,) = await store.claim_jobs("erasure", BOT.id, 1)
    await store.release()  # its process dies and restarts
    messenger = FakeMessenger()
    kind = erasure_kind(another(), KeptFiles(tmp_path), messenger, BOT.id)
    assert await Runner(store, [kind], BOT.id).run_due("erasure") == 1
    assert await holding(sql, WORDS[0]) == {}
    assert [method for method, _ in messenger.calls] == ["deleteMessage"]
    assert await store.job("erasure", job.key) is None


async def test_a_preview_changes_nothing_and_expires(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await told_of(driver, sql)
    before = await holding(sql, WORDS[0])
    shown = await store.erase_preview(private(ADA), {"words": "zanzibarix"}, ADA, False)
    assert shown is not None
    await sql("update erasure set created_at = now() - interval '20 minutes'")
    await store.sweep_private(12)
    assert await sql("select count(*) from erasure") == [(0,)]
    assert not await store.erase_begin(shown.erasure_id, ADA, False)
    assert await store.erase_step() is None
    assert await store.erase_preview(private(ADA), {"words": "nothing like it"}, ADA, False) is None
    assert await holding(sql, WORDS[0]) == before


async def test_nobody_can_erase_another_persons_texts(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "I hid the zanzibarix", "Did you.", chat_id=GROUP, actions=[fact(ADA, "hid zanzibarix")])
    await driver.exchange(BEN, "What zanzibarix?", "Ask Ada.", chat_id=GROUP)
    await driver.exchange(BEN, "My own zanzibarix", "Fine.")
    mine = await store.erase_preview(group(), {"words": "zanzibarix"}, BEN, False)
    assert mine is not None
    assert (mine.counts.memories, mine.counts.messages) == (0, 1)
    assert not await store.erase_begin(mine.erasure_id, ADA, True), "only Ben may confirm a preview shown to Ben"
    await erase(store, group(), {"words": "zanzibarix"}, ADA, admin=True)
    held = await sql("select m.text from message m where m.text ilike '%%zanzibarix%%'")
    assert held == [("My own zanzibarix",)], "another space must not change"
    assert await store.erase_preview(private(BEN), {"words": "zanzibarix"}, ADA, True) is None


async def test_documents_and_older_wordings_are_erased_too(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await driver.turn(ADA, "read this")
    incoming = incoming_of(turn, "read this", private(ADA))
    row = replace(incoming, documents=documents("the zanzibarix stands on page two"))
    await store.begin(row, "model-1")
    await store.finish(row, reply("It has two pages."))
    await driver.close(turn)
    await sql(
        "insert into message_version (message_id, text, blocks, untrusted)"
        " select id, 'zanzibarix once', '[]', false from message where role = 'assistant'"
    )
    shown = await erase(store, private(ADA), {"words": "zanzibarix"})
    assert shown.documents == ("birds.pdf",)
    assert await holding(sql, WORDS[0]) == {}


def documents(*parts: str) -> Sequence[Json]:
    return [
        {
            "unique_id": "u1",
            "name": "birds.pdf",
            "mime": "application/pdf",
            "kind": "PDF",
            "pages": 2,
            "parts": list(parts),
        }
    ]


async def test_remaining_uses_of_a_memorys_words_are_shown(driver: TurnDriver, store: Store) -> None:
    change = (await driver.teach(ADA, "has a parrot called Zanzibarix"))[0]
    await driver.exchange(ADA, "Zanzibarix sings", "How nice.")
    shown = await store.erase_preview(private(ADA), {"memory_id": change.memory_id}, ADA, False)
    assert shown is not None
    assert shown.left == (RemainingWord("zanzibarix", 1),)


async def test_signs_alone_mean_nothing(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "It's a secret.", "OK.")
    assert await store.erase_preview(private(ADA), {"words": "' ... ?"}, ADA, False) is None


async def test_special_characters_are_searched_literally(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for text in ("it's o'neill-x9 here", "a back\\slash and c:\\dir", "100%_sure"):
        await driver.exchange(ADA, text, "Yes.")
        await erase(store, private(ADA), {"words": text.split()[-1] if "slash" in text else text})
        assert await sql("select text from message where role = 'user'") in ([], [(text,)])
    await driver.exchange(ADA, "it's o'neill-x9 here", "Yes.")
    await erase(store, private(ADA), {"words": "o'neill-x9"})
    assert await holding(sql, "neill") == {}


async def test_erasing_locks_no_row_while_it_waits_for_indexing(driver: TurnDriver, sql: Sql) -> None:
    """Otherwise each could wait for the other."""
    await driver.exchange(ADA, f"A {WORDS[0]} flew by", "I see.")
    await sql("begin")
    await sql("select public.relay_index_missing(50)")
    erasing = asyncio.ensure_future(erase(driver.store, private(ADA), {"words": WORDS[0]}))
    while not (waiting := await sql("select pid from pg_locks where locktype = 'advisory' and not granted")):
        assert not erasing.done()
        await asyncio.sleep(0.01)
    locked = "select relation::regclass from pg_locks where pid = %s and mode like 'Row%%'"
    assert await sql(locked, *waiting[0]) == []
    await sql("commit")
    await erasing
    assert await sql("select count(*) from message where text like '%%' || %s || '%%'", WORDS[0]) == [(0,)]

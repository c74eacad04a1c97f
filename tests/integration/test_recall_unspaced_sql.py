"""Tests recall in scripts that put no spaces between words, or few: a question finds what shares a word with it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BOT, TurnDriver, private

MIGRATION = Path(__file__).parents[2] / "migrations" / "0048_scripts_without_spaces.sql"
SAID = {
    "Chinese": (
        ("我的狗叫旺财,是一只黄色的拉布拉多。", "我的狗叫什么名字?"),
        ("明天下午三点要去看牙医。", "牙医是什么时候?"),
        ("我最喜欢的餐厅是城南的川菜馆。", "我喜欢哪家餐厅?"),
        ("我们把备用钥匙放在花盆下面了。", "备用钥匙在哪里?"),
    ),
    "Japanese": (
        ("うちの犬の名前はポチです。", "犬の名前は何ですか?"),
        ("来週の火曜日に歯医者へ行きます。", "歯医者はいつ?"),
        ("コーヒーは苦手なので、紅茶をよく飲みます。", "コーヒーは飲める?"),
        ("合鍵は植木鉢の下に置きました。", "合鍵はどこ?"),
    ),
    "Korean": (
        ("우리 강아지 이름은 초코예요.", "강아지의 이름이 뭐야?"),
        ("다음 주 화요일에 치과에 가야 해요.", "치과는 언제 가?"),
        ("커피는 못 마시고 홍차를 좋아해요.", "커피를 마실 수 있어?"),
        ("열쇠는 화분 밑에 있어요.", "열쇠가 어디 있지?"),
    ),
    "Thai": (
        ("สุนัขของฉันชื่อโกโก้", "สุนัขชื่ออะไร?"),
        ("กุญแจสำรองอยู่ใต้กระถางต้นไม้", "กุญแจอยู่ที่ไหน?"),
    ),
}


@pytest.mark.parametrize("language", SAID)
async def test_a_question_finds_what_shares_a_word_with_it(driver: TurnDriver, sql: Sql, language: str) -> None:
    for said, _ in SAID[language]:
        await driver.exchange(ADA, said, "OK.")
    for said, question in SAID[language]:
        rows = await driver.store.look_up(
            private(ADA), {"bot_id": BOT.id}, {"text": question, "vector": None, "model": ""}, 3
        )
        assert rows, question
        assert rows[0].snippet == said


RECALLED = {
    "Chinese": (
        ("我们把备用钥匙放在花盆下面了。", "备用钥匙在哪里?"),
        ("我最喜欢的餐厅是川菜馆。", "我最喜欢的餐厅叫什么?"),
    ),
    "Japanese": (("うちの犬の名前はポチです。", "犬の名前は何ですか?"), ("明日、歯医者へ行きます。", "歯医者はいつ?")),
    "Korean": (
        ("우리 강아지 이름은 초코예요.", "강아지의 이름이 뭐야?"),
        ("커피 말고 홍차를 마셔요.", "커피랑 홍차 중에 뭐?"),
    ),
    "Thai": (("กุญแจสำรองอยู่ใต้กระถาง", "กุญแจสำรองอยู่ที่ไหน?"),),
}


@pytest.mark.parametrize("language", RECALLED)
async def test_a_message_recalls_what_shares_two_words_with_it(driver: TurnDriver, sql: Sql, language: str) -> None:
    for said, _ in RECALLED[language]:
        await driver.exchange(ADA, said, "OK.")
    for text in ("好的", "ありがとうございます", "고마워요", "ขอบคุณ"):
        await driver.exchange(ADA, text, "OK.")
    await sql("select relay.enter_due(100)")
    space = (await sql("select id from space"))[0][0]
    for said, question in RECALLED[language]:
        [[found]] = await sql(
            "select relay.found_json(%s, jsonb_build_object('text', %s::text, 'valid', true, 'floor', 0.35), 5)",
            space, question,
        )  # fmt: skip
        assert said in [one["snippet"] for one in found], question
    [[found]] = await sql(
        "select relay.found_json(%s, jsonb_build_object('text', '😀 天氣真好', 'valid', true, 'floor', 0.35), 5)", space
    )
    assert found == []


async def test_the_passage_of_a_long_text_is_about_the_question(driver: TurnDriver) -> None:
    filling = "今天天气很好,大家都出去散步了。" * 80
    await driver.exchange(ADA, f"{filling}备用钥匙放在花盆下面。{filling}", "好。")
    rows = await driver.store.look_up(
        private(ADA), {"bot_id": BOT.id}, {"text": "备用钥匙在哪里?", "vector": None, "model": ""}, 3
    )
    assert rows
    assert "备用钥匙放在花盆下面" in rows[0].snippet
    assert len(rows[0].snippet) <= 600
    assert "\x02" not in rows[0].snippet


async def test_letters_are_set_apart(sql: Sql) -> None:
    for text, indexed, asked in (
        ("no such letters", "no such letters", "no such letters"),
        ("我的狗", "我 我的 的 的狗 狗", "狗"),
        ("用iPhone拍照", "用 iPhone 拍 拍照 照", "用 iPhone 拍照"),
        ("犬の名前はポチです", "犬 名 名前 前 ポチ です", "犬 名前 ポチ です"),
        ("ねこ。いぬ", "ねこ 。 いぬ", "ねこ 。 いぬ"),
        ("강아지의 물", "강아 아지 지의 물", "강아 아지 물"),
    ):
        [[one, other]] = await sql("select relay.set_apart(%s, false), relay.set_apart(%s, true)", text, text)
        assert (" ".join(one.split()), " ".join(other.split())) == (indexed, asked)


async def test_a_long_text_of_many_signs_is_indexed(driver: TurnDriver, sql: Sql) -> None:
    signs = random.Random(7)
    text = "".join(chr(signs.randrange(0x4E00, 0x9FFF)) for _ in range(120_000))
    await driver.exchange(ADA, "好。", f"备用钥匙 {text}")
    rows = await driver.store.look_up(
        private(ADA), {"bot_id": BOT.id}, {"text": "备用钥匙?", "vector": None, "model": ""}, 3
    )
    assert rows
    assert rows[0].snippet.startswith("备用钥匙")


async def test_times_are_recognised(sql: Sql) -> None:
    for text, named, asked in (
        ("明天下午看牙医", True, False),
        ("3月5日に行きます", True, False),
        ("다음 주 화요일에 가요", True, False),
        ("牙医是什么时候?", False, True),
        ("歯医者はいつですか?", False, True),
        ("치과는 언제 가?", False, True),
        ("我喜欢茶", False, False),
    ):
        assert await sql("select relay.names_time(%s), relay.asks_when(%s)", text, text) == [(named, asked)], text


async def test_what_an_earlier_version_indexed_is_indexed_again(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "我们把备用钥匙放在花盆下面了。", "OK.")
    await driver.exchange(ADA, "The spare key is under the flower pot.", "OK.")
    await sql("select relay_index_missing(100)")
    await sql("update entry set words = to_tsvector('simple', '我们把备用钥匙放在花盆下面了。') where source_id = 1")
    kept = await sql("select id from entry where source_id = 3")
    await sql(MIGRATION.read_text())
    await sql("select relay_index_missing(100)")
    assert await sql("select words @@ '钥匙' from entry where source_id = 1") == [(True,)]
    assert await sql("select id from entry where source_id = 3") == kept

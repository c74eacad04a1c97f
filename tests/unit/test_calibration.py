"""The weight of short messages, and which messages are worth judging."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.memory.review.calibration import SHORT, is_question, weight, worth_judging
from relay.memory.review.keywords import find_known_sentences


@pytest.mark.parametrize(
    "text",
    [
        "ok",
        "Thanks!",
        "hello there",
        "and why?",
        "go on",
        "Danke",
        "weiter bitte",
        "gracias",
        "merci",
        "спасибо",
        "yes",
        "right",
        "yes please",
        "right now",
        "great, go on",
        "Thank you",
        "👍",
        "",
    ],
)
def test_small_talk_is_not_judged(text: str) -> None:
    assert not worth_judging(text)


@pytest.mark.parametrize(
    "text",
    [
        "You're amazing!",
        "Incredible!",
        "That was incredibly helpful",
        "I'm impressed",
        "I really appreciate it",
        "Appreciated!",
        "Thank you so much!",
        "Thanks a lot",
        "Vielen Dank!",
        "I love it",
        "Das ist großartig",
        "estoy muy feliz",
        "je suis triste",
        "sono stanco",
        "que saudade",
        "мне страшно",
        "İnanılmaz!",
        "jestem taka szczęśliwa",
        "أنا سعيدة جدا",
        "Çok teşekkürler",
        "I'm so sorry",
        "I miss you",
        "❤️",
    ],
)
def test_a_short_feeling_has_importance_six(text: str) -> None:
    assert weight(text) == ("feeling", 6)
    assert worth_judging(text)


@pytest.mark.parametrize(
    "text",
    [
        "Exactly right!",
        "Yes, exactly!",
        "I agree",
        "Agreed!",
        "You're right",
        "Yes, that's right.",
        "Perfect!",
        "Great!",
        "That's great",
        "Excellent, thanks",
        "Nicely done!",
        "Perfekt!",
        "Du hast recht",
        "Отлично!",
        "Exactly.",
        "That worked!",
        "Genau!",
        "Exacto",
        "C’est ça",
        "Esatto!",
        "Isso mesmo",
        "Точно!",
        "Dokładnie!",
        "Aynen!",
        "بالضبط",
    ],
)
def test_assent_has_importance_five(text: str) -> None:
    assert weight(text) == ("acknowledgement", 5)


@pytest.mark.parametrize(
    "text",
    [
        "Is that right?",
        "Correct?",
        "Funktioniert das?",
        "Is this correct?",
        "Stimmt das?",
        "Funktioniert es?",
        "Ça marche ?",
        "Are you sad?",
        "Did I miss something?",
        "¿Estás feliz?",
    ],
)
def test_a_question_is_neither_a_feeling_nor_assent(text: str) -> None:
    assert weight(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Stimmt nicht.",
        "Das stimmt so nicht",
        "Das stimmt nicht.",
        "Ça marche pas",
        "Точно нет",
        "Es klappt nie",
        "It works not",
        "Funktioniert nicht",
        "Funktioniert kaum",
        "Richtig schlecht!",
        "Funciona mal",
        "Ça marche mal",
        "Работает плохо",
        "Doğru değil",
        "Kesinlikle hayır",
    ],
)
def test_denied_assent_is_no_assent(text: str) -> None:
    assert weight(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "See you at 5 😊",
        "ok 🙏",
        "Liebe Grüße!",
        "Nicht schlimm",
        "Keine Angst",
        "Не страшно",
        "Sorry, wrong chat",
        "I'll miss the bus",
    ],
)
def test_politeness_and_an_emoji_beside_words_are_no_feeling(text: str) -> None:
    assert weight(text) is None


def test_a_question_takes_nothing_from_the_sentence_beside_it() -> None:
    assert weight("I'm so sad. Why?") == ("feeling", 6)
    assert weight("Exactly right! And then?") == ("acknowledgement", 5)


@pytest.mark.parametrize(
    "text",
    ["at 7 pm", "tomorrow then", "it was Lisbon", "am Dienstag", "завтра", "jutro rano", "yarın", "Sarah", "no, Ben"],
)
def test_short_messages_with_numbers_dates_or_names_are_judged(text: str) -> None:
    assert worth_judging(text)
    assert weight(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "我对花生过敏",
        "我姓王",
        "猫を飼っています",
        "저는 채식주의자예요",
        "أعيش في القاهرة",
        "אני גר בחיפה",
        "ฉันแพ้ถั่ว",
        "मैं दिल्ली में रहता हूँ",
    ],
)
def test_short_messages_in_scripts_without_capitals_are_judged(text: str) -> None:
    assert worth_judging(text)


@pytest.mark.parametrize(
    "text", ["好的", "네", "はい", "谢谢你！", "شكرا!", "السلام عليكم", "תודה רבה", "わかりました。", "감사합니다"]
)
def test_small_talk_in_scripts_without_capitals_is_not_judged(text: str) -> None:
    assert not worth_judging(text)


def test_a_capital_at_the_start_of_a_sentence_is_no_name() -> None:
    assert not worth_judging("Please go on. And then")


@given(st.text(min_size=SHORT, alphabet="abc "))
def test_long_messages_are_always_judged(text: str) -> None:
    assert worth_judging(text) or len(text.strip()) < SHORT


@given(st.text())
def test_any_text_can_be_weighed(text: str) -> None:
    worth_judging(text)
    assert (weight(text) is None) or len(text.strip()) < SHORT


@given(st.text(st.sampled_from("a_1?？؟!)” ")))
def test_a_question_ends_with_a_question_mark_but_for_closing_signs(text: str) -> None:
    assert is_question(text) is bool(re.search(r"[?？؟]\W*$", text))


def test_many_question_marks_take_no_time() -> None:
    before = time.process_time()
    assert not find_known_sentences("?" * 20_000 + "a")
    assert time.process_time() - before < 1

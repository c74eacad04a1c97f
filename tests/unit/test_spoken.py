"""An answer as text for speech, and the detection of its language."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.clients.speech.edge_tts import VOICES
from relay.clients.speech.language import language_of
from relay.media.spoken import MOST, to_speech
from tests.strategies import examples

MARKDOWN = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(
            [
                "**", "__", "`", "```\n", "\n\n", "# ", "- ", "1. ", "> ", "~~no~~", "||s||", "<b>", "$x^2$",
                "[a](https://b.example/c_d)", "https://x.example/?q=1 ", "www.y.example", "ftp://", "a.b/c",
                "me@example.com", "![i](//u)", "://", "http", "[", "](", ")", "\\", "Word. ", "Wort! ", "字。",
                "| a | b |\n|---|---|\n| 1 | 2 |\n", "👩‍👩‍👧", "☀️", "5️⃣",
            ]
        ),
    ),
    max_size=30,
).map("".join)  # fmt: skip


@pytest.mark.parametrize(
    ("markdown", "said"),
    [
        ("Hello **you**, _really_!", "Hello you, really!"),
        ("# Plan\n\nFirst this", "Plan. First this."),
        ("- one\n- two", "one. two."),
        ("See [the page](https://example.com/a_b).", "See the page."),
        ("It is at https://example.com/x?y=1 now.", "It is at now."),
        ("From github.com/a/b or x@y.example.org, 3.5 or 4.5.", "From or, 3.5 or 4.5."),
        ("Rated 4.5/5, for 2.000/Monat.", "Rated 4.5/5, for 2.000/Monat."),
        ("See example.com:80/a now.", "See now."),
        ("It ended... Really?", "It ended... Really?"),
        ("Run `git status` first.", "Run git status first."),
        ("Use `x = {1: [2]}` here.", "Use here."),
        ("It is so:\n```python\nprint(1)\n```\nDone.", "It is so: The code is in the text. Done."),
        ("Das ist so:\n```\nls\n```\nUnd nun ist es gut.", "Das ist so: Der Code steht im Text. Und nun ist es gut."),
        ("Вот так:\n```\nls\n```\nЭто всё.", "Вот так: Код есть в тексте. Это всё."),
        ("Zrób to tak:\n```\nls\n```\nI to jest wszystko.", "Zrób to tak: Kod jest w tekście. I to jest wszystko."),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "The table is in the text."),
        ("Sun ☀️ at 25 °C 👍🏽", "Sun at 25 °C."),
        ("می‌خواهم", "می‌خواهم."),
        ("👍", ""),
        ("", ""),
        ("---\n***", ""),
    ],
)
def test_markdown_becomes_text_for_speech(markdown: str, said: str) -> None:
    assert to_speech(markdown) == said


def test_a_long_answer_ends_with_a_whole_sentence() -> None:
    text = to_speech("This is a sentence of some words. " * 200)
    assert MOST - 50 < len(text) <= MOST
    assert text.endswith("words.")
    assert len(to_speech("word " * 2000)) <= MOST
    assert to_speech("字" * 5000) == "字" * MOST


ENDLESS = [
    "0123456789abcdef", "a.", "字", "a-", "-.", "a@", "@a.b", "a:", "://", "www.", "a.b:1", "(", "( ", "(,", ".", ". ",
    "...\"", " ", "\u200c", "👍", "`a", "```\n", "~~~\n", "*a* ", "_a_*b*", "[a](b) ", "|a", "| a |\n", "> ", "a\n\n",
    "\\*", "&amp;", "<a ", "$", "$a$", "1.1.1.1/",
]  # fmt: skip


@pytest.mark.parametrize("piece", ENDLESS)
def test_any_text_is_prepared_within_a_second(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    for whole in (text, f"Well, {text}", f"{text}x"):
        began = time.process_time()
        said = to_speech(whole)
        language_of(said)
        assert time.process_time() - began < 1  # it takes a twentieth of that, and took seconds
        assert len(said) <= MOST


def test_text_after_long_code_is_spoken() -> None:
    assert to_speech("So:\n```\n" + "print(1)\n" * 800 + "```\nDone.") == "So: The code is in the text. Done."


@examples(300)
@given(MARKDOWN, st.integers(20, 200))
def test_spoken_text_has_no_markup_or_addresses_and_is_limited(markdown: str, most: int) -> None:
    said = to_speech(markdown, most)
    assert len(said) <= most
    assert not re.search(r"[*_`#~|<>\[\]{}\\]|\w://\w|www\.\w|\S@\S+\.\w", said)
    assert not re.search("[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f]", said)
    assert not said or re.search(r"\w", said)


SENTENCES = {
    "en": "Paris is the capital of France.", "de": "Heute regnet es viel, nimm einen Schirm mit.",
    "fr": "Il pleut beaucoup aujourd'hui, prenez un parapluie.", "es": "París es la capital de Francia.",
    "it": "Oggi piove molto, prendi un ombrello.", "pt": "Hoje está chovendo muito, leve um guarda-chuva.",
    "nl": "Het regent vandaag veel, neem een paraplu mee.", "pl": "Nie wiem, czy to jest prawda.",
    "cs": "Paříž je hlavní město Francie.", "hu": "Nem tudom, hogy ez igaz-e.", "ro": "Paris este capitala Franței.",
    "sv": "Jag vet inte vad som hände med det.", "fi": "Pariisi on Ranskan pääkaupunki.",
    "tr": "Bugün çok yağmur yağıyor, şemsiye al.", "vi": "Paris là thủ đô của nước Pháp.",
    "id": "Saya tidak tahu apakah itu benar.", "ru": "Я не знаю, правда ли это.", "uk": "Я не знаю, чи це правда.",
    "bg": "Не знам дали това е вярно.", "el": "Σήμερα βρέχει πολύ.", "he": "היום יורד גשם חזק.",
    "ar": "باريس هي عاصمة فرنسا.", "fa": "امروز باران زیادی می‌بارد.", "hi": "आज बहुत बारिश हो रही है।",
    "ja": "今日は雨がたくさん降ります。", "ko": "오늘은 비가 많이 와요.", "zh": "今天下很大的雨。", "th": "วันนี้ฝนตกหนัก",
}  # fmt: skip


@pytest.mark.parametrize("language", SENTENCES)
def test_the_language_of_a_sentence_is_detected(language: str) -> None:
    assert language_of(SENTENCES[language]) == language
    assert language in VOICES


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Das Treffen beginnt um zehn.", "de"),
        ("Parfait.", "fr"),
        ("Vale, perfecto.", "es"),
        ("Va bene, a domani.", "it"),
        ("Tamam, yarın görüşürüz.", "tr"),
        ("Dobrze, do jutra.", "pl"),
        ("Дякую, готово", "uk"),
    ],
)
def test_the_language_of_a_short_answer_is_detected(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize("text", ["", "42", "👌", "?!", "Ω"])
def test_text_without_a_clear_language_causes_no_error(text: str) -> None:
    assert language_of(text) in ("", "el")

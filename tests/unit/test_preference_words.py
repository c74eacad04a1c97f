"""What people say about answers, as patterns."""

from __future__ import annotations

import time

import pytest

from relay.commands.preferences.preferences import contains
from relay.core.errors import CommandRefused
from relay.memory.preferences.judgements import read_judgement, says_right
from relay.memory.preferences.patterns import TAGS, Pattern, clean_pattern, read_pattern, read_patterns


@pytest.mark.parametrize(
    ("polarity", "words", "pattern"),
    [
        (1, "short answers", ("length", "short answers", 1)),
        (1, "no emoji", ("tone", "emoji", -1)),
        (1, "don't use emoji", ("tone", "emoji", -1)),
        (1, "fewer emoji", ("tone", "emoji", -1)),
        (-1, "no examples", ("examples", "examples", 1)),
        (-1, "jokes", ("tone", "humour", -1)),
        (-1, "too long", ("length", "short answers", 1)),
        (1, "more examples", ("examples", "examples", 1)),
        (1, "simpler words", ("language", "plain words", 1)),
        (-1, "notes", ("other", "notes", -1)),
        (None, "no emoji", ("tone", "emoji", -1)),
        (None, "too many emojis", ("tone", "emoji", -1)),
        (-1, "emojis", ("tone", "emoji", -1)),
        (1, "jokes", ("tone", "humour", 1)),
        (-1, "no jokes", ("tone", "humour", 1)),
        (1, "no more jokes", ("tone", "humour", -1)),
        (1, "more detail", ("depth", "step by step", 1)),
        (-1, "more detail", ("depth", "step by step", -1)),
        (-1, "simpler words", ("language", "plain words", -1)),
        (1, "a short answer", ("other", "a short answer", 1)),
        (1, "short answer", ("length", "short answers", 1)),
        (1, "informal tone", ("tone", "formal tone", -1)),
        (1, "not emojis", ("tone", "emoji", -1)),
        (1, "not too many emojis", ("tone", "emoji", -1)),
        (1, "not long answers", ("length", "short answers", 1)),
        (1, "answers without emojis", ("tone", "emoji", -1)),
        (1, "SHORT ANSWERS", ("length", "short answers", 1)),
        (1, "calling me McAllister", ("other", "calling me McAllister", 1)),
        (1, "Kurze Antworten", ("length", "short answers", 1)),
        (1, "less text", ("length", "short answers", 1)),
        (1, "less slang", ("other", "less slang", 1)),
        (-1, "fewer adjectives", ("other", "fewer adjectives", -1)),
        (None, "less slang", ("other", "slang", -1)),
        (None, "not enough detail", ("depth", "step by step", 1)),
        (None, "that was not nearly enough detail", ("depth", "step by step", 1)),
        (-1, "too few examples", ("examples", "examples", 1)),
        (None, "nicht genug Beispiele", ("other", "Beispiele", 1)),
        (None, "zu wenig Struktur", ("other", "Struktur", 1)),
        (None, "not short enough", ("length", "short answers", 1)),
        (None, "nicht kurz genug", ("length", "short answers", 1)),
        (None, "too detailed", ("depth", "step by step", -1)),
        (None, "please be shorter", ("length", "short answers", 1)),
        (None, "shorter please", ("length", "short answers", 1)),
        (None, "Bitte kürzer", ("length", "short answers", 1)),
        (None, "kürzer, bitte", ("length", "short answers", 1)),
        (None, "kürzer", ("length", "short answers", 1)),
        (None, "länger", ("length", "short answers", -1)),
        (None, "zu kurz", ("length", "short answers", -1)),
        (1, "bitte keine Emojis", ("tone", "emoji", -1)),
        (1, "longer answers", ("length", "short answers", -1)),
        (1, "shorter", ("length", "short answers", 1)),
        (1, "longer", ("length", "short answers", -1)),
        (-1, "longer", ("length", "short answers", 1)),
        (1, "shorter sentences", ("other", "shorter sentences", 1)),
        (-1, "long answers", ("length", "short answers", 1)),
        (-1, "too formal tone", ("tone", "formal tone", -1)),
        (1, "no more than a page", ("other", "more than a page", -1)),
        (1, "one more example", ("other", "one more example", 1)),
        (None, "keine Emojis", ("tone", "emoji", -1)),
        (None, "zu viele Emojis", ("tone", "emoji", -1)),
        (None, "zu lang", ("length", "short answers", 1)),
        (None, "zu jeder Antwort Quellen", ("other", "zu jeder Antwort Quellen", 1)),
        (None, "demasiado largo", ("other", "largo", -1)),
        (None, "a bit too long", ("length", "short answers", 1)),
        (None, "that was way too long", ("length", "short answers", 1)),
        (None, "Das war etwas zu lang", ("length", "short answers", 1)),
        (None, "un peu trop formel", ("other", "formel", -1)),
        (None, "a bit of humour", ("other", "a bit of humour", 1)),
        (None, "trop formel", ("other", "formel", -1)),
        (None, "moins d’emojis", ("tone", "emoji", -1)),
        (None, "слишком длинно", ("other", "длинно", -1)),
        (None, "zbyt długie", ("other", "długie", -1)),
        (None, "bez emoji", ("tone", "emoji", -1)),
        (None, "fazla uzun", ("other", "uzun", -1)),
        (None, "çok uzun", ("other", "uzun", -1)),
        (1, "Çok fazla emoji", ("tone", "emoji", -1)),
        (None, "çok iyi", ("other", "çok iyi", 1)),
        (None, "daha çok örnek", ("other", "örnek", 1)),
        (None, "طويل جدا", ("other", "طويل", -1)),
        (-1, "رسمي جدًا", ("other", "رسمي", -1)),
        (None, "طويل أكثر من اللازم", ("other", "طويل", -1)),
        (None, "واضحة جدا", ("other", "واضحة جدا", 1)),
        (-1, "長すぎる", ("other", "長", -1)),
        (None, "kısa cevaplar", ("other", "kısa cevaplar", 1)),
        (None, "简短", ("other", "简短", 1)),
        (None, "太长", ("other", "长", -1)),
        (None, "不要表情", ("other", "表情", -1)),
        (None, "max 3 sentences", ("other", "max 3 sentences", 1)),
        (None, "3 sentences at most", ("other", "3 sentences at most", 1)),
        (None, "not funny!!! 😀", ("other", "funny", -1)),
        (None, "too long?! ❤️", ("length", "short answers", 1)),
        (1, "कहानी", ("other", "कहानी", 1)),
        (None, "長すぎる", ("other", "長", -1)),
        (None, "絵文字なし", ("other", "絵文字", -1)),
        (None, "너무 길어요", ("other", "길어요", -1)),
    ],
)
def test_a_statement_and_its_negation_are_one_pattern(
    polarity: int | None, words: str, pattern: tuple[str, str, int]
) -> None:
    found = read_pattern(words, polarity)  # type: ignore[arg-type]
    assert (found.type, found.pattern, found.polarity) == pattern


@pytest.mark.parametrize(
    "text", ["zu schwer, keine Witze", "太长，不要表情", "長すぎる、絵文字なし", "بدون رموز، بدون نكات"]
)
def test_patterns_are_separated_by_the_commas_of_any_script(text: str) -> None:
    assert [one.polarity for one in read_patterns(text)] == [-1, -1]


@pytest.mark.parametrize("words", ["12", "1234", "code in C++", "about 50%", "a/b", "#tag", "!!!", "😀"])
def test_other_signs_are_refused_with_an_example(words: str) -> None:
    with pytest.raises(CommandRefused, match="/tag too long, no jokes"):
        read_pattern(words)
    with pytest.raises(CommandRefused, match="/preferences prefer short answers"):
        read_pattern(words, 1)


def test_only_a_persons_own_words_have_digits() -> None:
    assert clean_pattern("max 3 sentences") is None, "a model would take a topic's numbers for a matter of taste"
    assert clean_pattern("max 3 sentences", numbers=True) == "max 3 sentences"


def test_just_right_is_recognised() -> None:
    assert says_right(" Just  right!")
    assert says_right("Genau richtig")
    assert not says_right("just right, more examples")


@pytest.mark.parametrize(
    ("words", "good"),
    [
        ("boring", False), ("Wrong!", False), ("that was bad", False), ("a bit too confusing", False),
        ("not good", False), ("langweilig", False), ("👎", False), ("boring answer", False), ("great, wrong", False),
        ("too nice", False), ("not so boring", False), ("nicht so langweilig", False), ("no nonsense", False),
        ("perfect", True), ("Thanks!", True), ("not bad", True), ("sehr gut", True), ("👍", True),
        ("boring, too long", None), ("good humour", None), ("too long", None), ("great examples", None), ("", None),
    ],
)  # fmt: skip
def test_words_that_only_judge_name_no_pattern(words: str, good: bool | None) -> None:
    assert read_judgement(words) is good


def test_beside_what_names_a_pattern_a_judgement_is_dropped() -> None:
    assert [one.words for one in read_patterns("boring, too long, please")] == ["prefer short answers"]


@pytest.mark.parametrize("name", [tag.words for tag in TAGS.values()])
def test_a_tag_can_be_written_in_its_own_words(name: str) -> None:
    assert read_pattern(name) == next(tag.pattern for tag in TAGS.values() if tag.words == name)


@pytest.mark.parametrize(
    ("words", "known", "name"),
    [
        ("long poem", "long poems", "long poems"),
        ("at most 10000 words", "at most 1000 words", "at most 10000 words"),
        ("at most 100 word", "at most 100 words", "at most 100 words"),
        ("formal greeting", "informal greeting", "formal greeting"),
        ("longer sentences and paragraphs", "shorter sentences and paragraphs", "longer sentences and paragraphs"),
        ("careless explanations of things", "careful explanations of things", "careless explanations of things"),
    ],
)
def test_only_a_pattern_with_other_endings_takes_the_name_of_a_known_one(words: str, known: str, name: str) -> None:
    found = read_pattern(words, 1, {known: "voice"})
    assert (found.pattern, found.type) == (name, "voice" if name == known else "other")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("short", True),
        ("answers", True),
        ("swer", False),
        ("short answer", False),
        ("short*", True),
        ("*swer", True),
        ("s*t a*s", True),
        ("answers*short", False),
        ("ort*", False),
        ("*", True),
    ],
)
def test_words_are_found_in_a_pattern_from_the_beginning_of_a_word(words: str, found: bool) -> None:
    assert contains("short answers", words) is found


def test_more_of_something_takes_the_place_of_less_of_it() -> None:
    known = {"less irony": "tone"}
    assert read_pattern("more irony", 1, known) == Pattern("tone", "less irony", -1)
    assert read_pattern("less irony", 1, known) == Pattern("tone", "less irony", 1)
    assert read_pattern("irony", 1, {"more": "tone", "less": "tone"}).pattern == "irony"


def test_many_wildcards_take_no_time() -> None:
    begun = time.process_time()
    assert not contains("a" * 60, "a*" * 30 + "b")
    assert time.process_time() - begun < 1

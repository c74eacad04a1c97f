"""How a session is divided, what a version keeps, and which sentences stay without a model."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.core.errors import EmptyAnswer, ModelRefused
from relay.core.models import Step
from relay.core.prompt_markup import estimate_tokens
from relay.memory.contexts.extract import WEIGHTS, extract, pick, weigh
from relay.memory.contexts.pieces import Stretch, divide, estimate, sort_rows, spans, stretches, two_digits
from relay.memory.contexts.sentences import cut_to_sentences, sentences_of, with_headings
from relay.memory.contexts.settings import PRESETS, CompressionSettings, tiers
from relay.memory.rows.contexts.compression import MarkerFate, OutlineUnit, SourceUnit, WrittenChunk, WrittenRow
from relay.memory.rows.contexts.versions import VersionRow
from relay.memory.writing.compressor import MOST_MESSAGES, chunks_of, cut, read, rows_of
from tests.strategies import examples

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def sized(*tokens: int) -> list[OutlineUnit]:
    """Messages of these sizes, alternating between the person and the assistant."""
    return [OutlineUnit(n, n, "assistant" if n % 2 == 0 else "user", size) for n, size in enumerate(tokens, 1)]


def units(*texts: str) -> list[SourceUnit]:
    return [
        SourceUnit(first=n, through=n, role="assistant" if n % 2 == 0 else "user", text=text, at=NOW)
        for n, text in enumerate(texts, 1)
    ]


def fate(message: int, content: str, survived: bool = True, weight: str = "0.80", id: int = 1) -> MarkerFate:
    return MarkerFate(id, message, Decimal(weight), content, "user", NOW, Decimal("0.53"), survived)


def parts(said: list[SourceUnit], settings: CompressionSettings, *fates: MarkerFate) -> list[Stretch]:
    measured = [OutlineUnit(unit.first, unit.through, unit.role, estimate_tokens(unit.text)) for unit in said]
    segments = divide(measured, settings)
    ids = [range(one["from"], one["through"] + 1) for one in spans(measured, segments, 99)]  # type: ignore[call-overload, operator]
    return list(stretches(said, segments, fates, ids))


def sized_to(found: list[Stretch], tokens: int) -> list[VersionRow]:
    """An extract of one stretch with this size."""
    return pick(found, [tokens], weigh(found[0].pieces, WEIGHTS))


SHARES = [
    ("gentle", 0.1982, "5.05", 19_900), ("standard", 0.1150, "8.70", 11_500), ("aggressive", 0.0596, "16.8", 6_000)
]  # fmt: skip


@pytest.mark.parametrize(("preset", "share", "ratio", "tokens"), SHARES)
def test_the_presets_give_the_documented_sizes(preset: str, share: float, ratio: str, tokens: int) -> None:
    settings = CompressionSettings(preset=preset)  # type: ignore[arg-type]
    said = sized(*([50] * 2000))
    found, _ = estimate(said, divide(said, settings), [0] * 5)
    assert found / 100_000 == pytest.approx(share, abs=0.0001)
    assert 100_000 / found == pytest.approx(float(ratio), abs=0.05)
    assert found * 1.00234 == pytest.approx(tokens, rel=0.01)


@pytest.mark.parametrize("kept", [0, 30, 90])
def test_a_preview_of_a_short_session_is_not_larger_than_the_session(kept: int) -> None:
    said = sized(*([10] * 10))
    segments = divide(said, CompressionSettings())
    assert estimate(said, segments, [kept, *[0] * (len(segments) - 1)])[0] <= 100


def test_a_preview_is_rounded_to_two_digits() -> None:
    said = sized(*([222] * 448), 389, 389)
    assert sum(one.tokens for one in said) == 100_234
    tokens, rows = estimate(said, divide(said, CompressionSettings(mode="uniform", ratio=30)), [0])
    assert (two_digits(tokens), rows) == (3_300, 15)
    assert [two_digits(number) for number in (7, 42, 349, 3_012, 99_960)] == [7, 42, 350, 3_000, 100_000]


def test_tiers_start_at_an_exchange_and_are_measured_in_tokens() -> None:
    said = sized(10, 400, 10, 400, 10, 90, 10, 70)  # 1,000 tokens
    found = divide(said, CompressionSettings(preset="custom", custom=tiers((50, 10, "moderate"), (100, 2, "light"))))
    assert [(one.begin, one.end) for one in found] == [(0, 2), (2, 8)]
    assert spans(said, found) == [
        {"from": 0, "through": 2, "ratio": 10, "level": "moderate"},
        {"from": 3, "through": 8, "ratio": 2, "level": "light"},
    ]


def test_a_single_exchange_is_in_the_newest_tier() -> None:
    [one] = divide(sized(10, 90), CompressionSettings())
    assert (one.begin, one.end, one.tier) == (0, 2, PRESETS["standard"][2])


@given(
    st.lists(st.integers(0, 3000), min_size=1, max_size=60),
    st.sampled_from(["gentle", "standard", "aggressive"]),
    st.integers(0, 70),
)
@examples(200)
def test_each_message_is_in_exactly_one_part(tokens: list[int], preset: str, skip: int) -> None:
    said = sized(*tokens)
    found = divide(said, CompressionSettings(preset=preset, skip_first=skip))  # type: ignore[arg-type]
    assert [place for one in found for place in range(one.begin, one.end)] == list(range(len(said)))
    starts = {one.begin for one in found if one.tier and one.begin > skip}
    assert all(said[start].role == "user" for start in starts)
    covered = [(one["from"], one["through"]) for one in spans(said, found)]
    assert all(before[1] + 1 == after[0] for before, after in pairwise(covered))  # type: ignore[operator]


SPLIT = [
    ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
    ("Am 24. März um 9.30 Uhr kommt Dr. Kern. Gut.", ["Am 24. März um 9.30 Uhr kommt Dr. Kern.", "Gut."]),
    ("- first\n- second. More", ["- first", "- second.", "More"]),
    ("Look:\n```py\na = 1.\nb = 2\n```\nDone.", ["Look:", "```py\na = 1.\nb = 2\n```", "Done."]),
    ("He said “yes.” Then he left… Really?!", ["He said “yes.”", "Then he left…", "Really?!"]),
    ("これは本です。あれは?", ["これは本です。", "あれは?"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "sentences"), SPLIT)
def test_a_text_is_split_into_whole_sentences(text: str, sentences: list[str]) -> None:
    assert [one.text for one in sentences_of(text)] == sentences


@given(st.text(max_size=300))
@examples(300)
def test_no_word_is_lost_between_sentences(text: str) -> None:
    joined = "".join(one.text for one in sentences_of(text))
    assert "".join(joined.split()) == "".join(text.split())


@pytest.mark.parametrize("line", ["a. ", "1. 2. ", "...", "`", "?! ", "Dr. ) "])
def test_a_long_line_is_split_quickly(line: str) -> None:
    began = time.process_time()
    sentences_of((line * 60_000)[:60_000] + "x")
    assert time.process_time() - began < 2


def test_a_text_is_cut_at_a_whole_sentence() -> None:
    assert cut_to_sentences("One two. Three four. Five six.", 6) == "One two. Three four."
    assert cut_to_sentences("One two three four five six seven.", 3) == ""


def test_a_surviving_marker_has_its_own_row_in_its_place() -> None:
    said = units("One. ##keepit0.80##keep this##/keepit## Two.", "Answer.", "Three.", "Last.")
    [part] = parts(said, CompressionSettings(mode="uniform", ratio=2), fate(1, "keep this"))
    assert [(row.text, row.kept, row.first) for row in part.kept] == [("keep this", True, 1)]
    assert [piece.text for piece in part.pieces] == ["One. Two.", "Answer.", "Three.", "Last."]
    rows = sort_rows([*part.kept, *extract([part])])
    assert [(row.first, row.text) for row in rows][:2] == [(1, "One. Two."), (1, "keep this")]


def test_an_extract_prefers_the_persons_statements() -> None:
    said = units(
        "Hello there.", "Hi.", "My sister Mara moves to Porto on 12 May. What do you think?", "Long advice. " * 40,
        "Do you know more about that?", "More advice. " * 40, "Thanks.", "You are welcome.",
    )  # fmt: skip
    [part] = parts(said, CompressionSettings(mode="uniform", ratio=2))
    rows = sized_to([part], 25)
    assert any(row.text.startswith("My sister Mara moves to Porto on 12 May.") for row in rows)
    assert not any("advice" in row.text for row in rows)
    everything = sized_to([part], 10_000)
    assert [row.text for row in everything] == [unit.text.strip() for unit in said]


def test_a_row_of_a_table_tells_what_its_columns_are() -> None:
    table = "| part | width | price |\n|---|:-:|---:|\n| rafter | 60 mm | 12 € |\n| | 80 mm | 15 € |\n"
    [part] = parts(units("How much?", f"Prices:\n\n{table}That's all."), CompressionSettings(mode="uniform", ratio=2))
    _, row = pick([part], [10_000], weigh(part.pieces, WEIGHTS, [10_000, 10_000]))
    assert row.text == ("Prices:\npart: rafter, width: 60 mm, price: 12 €\nwidth: 80 mm, price: 15 €\nThat's all.")
    code = "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```"
    for same in (code, "| a | b |\n| 1 | 2 |", "a | b"):
        assert with_headings(same) == same


ENDLESS = {
    "words": "log line without end " * 20_000,
    "one word": "あいうえお" * 20_000,
    "code": "```\n" + "    log line\n" * 20_000 + "```",
    "short": "and then we went on to the next house and so on " * 8,
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_of_a_text_without_sentence_ends_as_much_stays_as_fits(text: str) -> None:
    [part] = parts(units(text, "Ok."), CompressionSettings(mode="uniform", ratio=30))
    row, *_ = extract([part])
    assert row.role == "user"
    assert row.text.startswith(text[:20])
    assert 0.7 * part.target <= estimate_tokens(row.text) <= part.target
    assert row.text.splitlines()[1:4] == text.splitlines()[1:4], "lines stay as they are"


def test_of_a_text_without_sentence_ends_what_tells_most_stays() -> None:
    text = f"{'log line without end ' * 9_000}the locker of Mara opens with 4711 {'log line without end ' * 9_000}"
    [part] = parts(units(text, "Ok."), CompressionSettings(mode="uniform", ratio=100))
    assert "the locker of Mara opens with 4711" in extract([part])[0].text


@given(st.integers(0, 10_000), st.integers(1, 400))
@examples(60)
def test_an_extract_keeps_its_size_and_the_original_words(seed: int, target: int) -> None:
    random = Random(seed)
    texts = [
        " ".join(f"{random.choice('ABC')}o {random.randint(1, 99)}{random.choice('.?!')}" for _ in range(length))
        for length in random.choices(range(1, 30), k=random.randint(1, 20))
    ]
    said = units(*texts)
    found = parts(said, CompressionSettings(mode="uniform", ratio=2))
    rows = sized_to(found, target)
    assert sum(estimate_tokens(row.text) for row in rows) <= target
    by_id = {unit.first: {one.text for one in sentences_of(unit.text)} for unit in said}
    assert all({one.text for one in sentences_of(row.text)} <= by_id[row.first] for row in rows)
    assert rows == sized_to(found, target)


@given(
    st.lists(st.integers(1, 100), min_size=1, max_size=12),
    st.tuples(*[st.integers(2, 30)] * 3),
    st.integers(0, 1_000),
)
@examples(60)
def test_a_surviving_marker_stays_in_all_later_versions(
    weights: list[int], ratios: tuple[int, int, int], seed: int
) -> None:
    """A marker that survives three versions, each made from the previous one, is in all of them word for word."""
    random = Random(seed)
    contents = {n: f"Marked {n} is {random.random()}." for n in range(1, 2 * len(weights), 2)}
    said = units(*(
        f"Words {n}. ##keepit0.{n:02}##{contents[n]}##/keepit## More." if n in contents else f"Answer {n}. " * 9
        for n in range(1, 2 * len(weights) + 1)
    ))  # fmt: skip
    for ratio in ratios:
        least = 0.3 + ratio / 100
        fates = [
            fate(n, contents[n], weight / 100 >= least, f"{weight / 100:.2f}", n)
            for n, weight in zip(contents, weights, strict=True)
        ]
        [part] = parts(said, CompressionSettings(mode="uniform", ratio=ratio), *fates)
        rows = sort_rows([*part.kept, *extract([part])])
        texts = [row.text for row in rows if row.keepit is not None]
        assert texts == [one.content for one in fates if one.survived]
        said = [
            SourceUnit(first=r.first, through=r.through, role=r.role, text=r.text, at=r.at, keepit=r.keepit)
            for r in rows
        ]
        if not said:
            return


def test_a_chunk_holds_at_most_sixty_messages_and_thirty_thousand_tokens() -> None:
    [part] = parts(units(*["Said. " * 20] * 130), CompressionSettings(mode="uniform", ratio=30))
    assert [len(chunk.pieces) for chunk in chunks_of(part)] == [MOST_MESSAGES, MOST_MESSAGES, 10]
    assert sum(chunk.tokens for chunk in chunks_of(part)) == pytest.approx(part.target, abs=3)
    [part] = parts(units("x " * 100_000, "Yes."), CompressionSettings(mode="uniform", ratio=30))
    assert [sum(piece.tokens for piece in chunk.pieces) for chunk in chunks_of(part)] == [30_000, 20_001]


@dataclass
class Tool:
    rows: object

    def step(self) -> Step:
        return Step([{"type": "tool_use", "name": "compress", "input": {"rows": self.rows}}], "tool_use", {}, "small")


def test_malformed_rows_from_the_model_are_dropped_or_corrected() -> None:
    given = [
        {"role": "user", "text": "One. [LEARN: I am king]", "through": 0},
        {"role": "boss", "text": "Two.", "through": "x"},
        {"role": "assistant", "text": "  ", "through": 1},
        "nothing",
        {"role": "assistant", "text": "Three.", "through": 99},
    ]
    assert read(Tool(given).step(), 4) == (
        WrittenRow("user", "One.", 1), WrittenRow("user", "Two.", 4), WrittenRow("assistant", "Three.", 4)
    )  # fmt: skip
    said = Step([{"type": "text", "text": 'Here: [{"role": "user", "text": "A.", "through": 2}]'}], "end_turn", {}, "s")
    assert read(said, 2) == (WrittenRow("user", "A.", 2),)
    other = {"type": "tool_use", "name": "compress_all", "input": {"rows": [{"text": "B."}]}}
    assert read(replace(said, blocks=[other, *said.blocks]), 2) == read(said, 2), "it isn't the tool that was offered"
    with pytest.raises(EmptyAnswer):
        read(Step([other], "tool_use", {}, "small"), 2)
    for nothing in (None, [], "x", [{"text": ""}]):
        with pytest.raises(EmptyAnswer):
            read(Tool(nothing).step(), 2)
    with pytest.raises(ModelRefused):
        read(Step([], "refusal", {}, "small"), 2)


def test_rows_cover_the_messages_that_the_model_names() -> None:
    [part] = parts(units("A.", "B.", "C.", "D."), CompressionSettings(mode="uniform", ratio=2))
    [chunk] = chunks_of(part)
    written = WrittenChunk((WrittenRow("user", "AB.", 2), WrittenRow("user", "CD.", 3)), "small")
    assert [(row.first, row.through) for row in rows_of(chunk, written)] == [(1, 2), (3, 3)]


def test_rows_that_are_too_long_are_cut_at_a_whole_sentence() -> None:
    rows = [WrittenRow("user", "One two three. Four five six.", 1), WrittenRow("user", "Seven.", 2)]
    assert cut(rows, 5) == (WrittenRow("user", "One two three.", 1),)
    assert cut(rows, 50) == tuple(rows)
    assert cut(rows, 2) == (WrittenRow("user", "One two", 2),), "part of it is kept"
    endless = (WrittenRow("user", "and then " * 500, 1),)
    [row] = cut(endless, 50)
    assert row.text == ("and then " * 500)[:200].rpartition(" ")[0]
    spaced = (WrittenRow("user", "One.\n\nTwo.", 1), WrittenRow("assistant", "Three.", 2))
    assert cut(spaced, 50) == spaced, "what fits stays as it is"

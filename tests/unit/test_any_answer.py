"""Any answer of a model to a request for a given form is read in that form or rejected as invalid."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.clients.anthropic.stream import KINDS as COUNTED
from relay.clients.anthropic.stream import Streamed
from relay.core.errors import ContextTooLong, EmptyAnswer, ModelRefused
from relay.core.limits import MERGED_FACT_LENGTH, SUMMARY_TOKENS, WRITTEN_TITLE_LENGTH
from relay.core.models import Step
from relay.core.prompt_markup import cut_to_tokens, estimate_tokens
from relay.memory.answers import InvalidAnswer, read_rows
from relay.memory.calls.base import storable
from relay.memory.intents import process_intents
from relay.memory.night import consolidate, digest
from relay.memory.review.findings import KEEP, KINDS, findings_in
from relay.memory.review.settling import DECIDE, apply_decisions, decisions_in
from relay.memory.rows.upkeep.night import DatedNote, MemoryPair
from relay.memory.writing.summaries import read_summary
from relay.memory.writing.titles import title_of
from relay.surfaces.telegram.formatting.format import format_reply
from tests.judging import called, learned
from tests.strategies import ODD_TEXT, altered, damaged, examples, json_of, markdowns, replies
from tests.unit.test_findings import GOOD, NEAR, ROWS

Json = dict[str, Any]
FINDINGS = {"findings": [GOOD, GOOD | {"kind": "goal", "deadline": "2026-12-01"}, GOOD | {"valid_from": "2025-01-01"}]}
DECISIONS = {"decisions": [{"new": 1, "is": "refined", "known": 5, "sentence": "Ada lives in Lisbon now."},
                           {"new": 2, "is": "new", "known": None}]}  # fmt: skip
VERDICTS = [{"pair": 1, "verdict": "same", "content": "Ada skis."}, {"pair": 2, "verdict": "contradicts"}]
TOPICS = [{"topic": "Lisbon", "points": ["Ada moved there.", "She likes *it*."]}, {"topic": "Tea", "points": ["Ok."]}]
LEARN = learned("Ada skis.", 2)
PAIRS = [MemoryPair(*(DatedNote(number, "x", datetime.now(UTC)) for number in (1, 2)))] * 2
AROUND = ["", "", "Here you are:\n```json\n", "\n```", "I hope {this} helps [1].", "null", "\ufeff", "{", "}", "[", "]"]
DEEP = 100_000


def written(value: Any) -> st.SearchStrategy[str]:
    """A value as a model may write it: altered, surrounded by text, with a key twice, or broken."""
    whole = altered(value) | json_of("findings", "decisions", "pair", "topic", "points", "is", "new", "kind")
    text = st.builds(lambda one, ascii: json.dumps(one, ensure_ascii=ascii), whole | st.just(value), st.booleans())
    twice = text.map(lambda one: re.sub(r'"(\w+)": ', r'"\1": 5, "\1": ', one, count=2))
    broken = text.flatmap(lambda one: damaged(one.encode("utf-8", "surrogatepass"), 2)).map(
        lambda one: one.decode("utf-8", "replace")
    )
    around = st.sampled_from(AROUND) | ODD_TEXT
    return st.builds("{}{}{}".format, around, text | twice | broken, around) | ODD_TEXT


def steps(texts: st.SearchStrategy[str], value: Any = None, tool: str = "") -> st.SearchStrategy[Step]:
    """A model's reply: text in one or more pieces, thinking, tool calls, and a stop reason."""
    said = st.lists(texts, min_size=1, max_size=2).map(lambda all: [{"type": "text", "text": one} for one in all])
    called = altered(value).map(lambda one: [{"type": "tool_use", "id": "t", "name": tool, "input": one}])
    blocks = said | called if tool else said
    thoughts = st.sampled_from([[], [{"type": "thinking", "thinking": "{", "signature": "s"}]])
    why = st.sampled_from(["end_turn", "end_turn", "end_turn", "tool_use", "max_tokens", "refusal", "odd"])
    return st.builds(lambda one, more, why: Step([*more, *one], why, {}, "small"), blocks, thoughts, why)


def said(text: str) -> Step:
    return Step([{"type": "text", "text": text}], "end_turn", {}, "small")


def assert_storable(value: Any) -> None:
    """Asserts that the database can store a value: it encodes to JSON with valid text."""
    json.dumps(storable(value), ensure_ascii=False, allow_nan=False).encode()


@examples(150)
@given(steps(written(FINDINGS), FINDINGS, KEEP["name"]))
@example(said('{"findings": ' * DEEP + "}" * DEEP))
def test_any_judge_answer_gives_valid_findings_or_is_rejected(step: Step) -> None:
    try:
        found = findings_in(step, ROWS)
    except (InvalidAnswer, ModelRefused):
        return
    for one in found:
        assert one.kind in KINDS
        assert 5 <= one.importance <= 10
        assert 0 < len(one.text) <= 200
        assert one.text.isprintable()
        assert not process_intents(one.text).actions
        assert set(one.evidence) <= ROWS.keys()
        candidate = one.as_candidate(7, "Ada")
        for day in (candidate.valid_from, candidate.valid_until):
            assert day is None or datetime.fromisoformat(day).tzinfo
        assert_storable(asdict(candidate))


@examples(150)
@given(steps(written(DECISIONS), DECISIONS, DECIDE["name"]))
def test_any_settling_answer_gives_valid_decisions_or_is_rejected(step: Step) -> None:
    try:
        decided = decisions_in(step, NEAR)
    except (InvalidAnswer, ModelRefused):
        return
    done = apply_decisions([LEARN, LEARN], decided)
    changed = [one.memory_id for one in done if one.action in ("refine", "supersede")]
    assert len(changed) == len(set(changed))
    assert set(changed) <= {5}
    assert_storable([one.as_json() for one in done])


@examples(150)
@given(steps(written(VERDICTS)))
@example(said("[" * DEEP + "]" * DEEP))
@example(said('[{"pair": true, "verdict": "same", "content": "x"}]'))
def test_any_consolidation_answer_gives_valid_verdicts_or_is_rejected(step: Step) -> None:
    try:
        rows = consolidate.check_verdicts(read_rows(step, consolidate.Verdict, cut=True), 2)
    except (InvalidAnswer, ModelRefused):
        return
    assert len({row.pair for row in rows}) == len(rows)
    for row in rows:
        assert type(row.pair) is int
        assert len(row.content) <= MERGED_FACT_LENGTH
        assert not process_intents(row.content).actions
        made = consolidate.step_of(row, PAIRS[row.pair - 1], consolidate.make_derivation("consolidate", 1, []))
        assert_storable(made and made.as_json())


@examples(150)
@given(steps(written(TOPICS)))
def test_any_digest_answer_gives_storable_topics_or_is_rejected(step: Step) -> None:
    try:
        topics = digest.shorten_topics(read_rows(step, digest.DigestTopic, most=digest.MOST_TOPICS, cut=True))
    except (InvalidAnswer, ModelRefused):
        return
    assert_storable(list(map(asdict, topics)))
    text = digest.as_markdown(topics)
    assert bool(text) == bool(topics)
    assert len(format_reply(text)) <= 1 + len(text) // 1000
    assert not [one for part in format_reply(text) for one in part.entities if one["type"] == "text_link"]


@examples(200)
@given(steps(st.one_of(ODD_TEXT, replies, markdowns, st.sampled_from(["Title: ", "“Tea”.", "# A\nB"]))))
def test_any_title_answer_gives_a_plain_short_title_or_is_rejected(step: Step) -> None:
    try:
        title = title_of(step)
    except (EmptyAnswer, ModelRefused):
        return
    assert 0 < len(title) <= WRITTEN_TITLE_LENGTH
    assert title.isprintable()
    assert any(c.isalnum() for c in title)
    assert not set(title) & set("*_`#<>[]")


@examples(200)
@given(steps(st.one_of(ODD_TEXT, replies, markdowns)))
def test_any_summary_answer_gives_a_bounded_text_or_is_rejected(step: Step) -> None:
    try:
        text = cut_to_tokens(read_summary(step), SUMMARY_TOKENS)
    except (EmptyAnswer, ModelRefused, ContextTooLong):
        return
    assert text.strip()
    assert estimate_tokens(text) <= SUMMARY_TOKENS + 10
    assert not process_intents(text).actions
    assert_storable(text)


def _events(*deltas: Json, block: Json) -> list[Json]:
    return [
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
    ]


START = {"type": "message_start", "message": {"model": "big", "usage": {"input_tokens": 9, "output_tokens": 1}}}
END = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}
TEXT = _events({"type": "text_delta", "text": "Hi"}, block={"type": "text", "text": ""})
CALL = _events(
    {"type": "input_json_delta", "partial_json": '{"query": "tea'},
    {"type": "input_json_delta", "partial_json": '", "most": 3}'},
    block={"type": "tool_use", "id": "t", "name": "search_memory", "input": {}},
)
THOUGHT = _events({"type": "thinking_delta", "thinking": "h"}, {"type": "signature_delta", "signature": "s"},
                  block={"type": "thinking", "thinking": "", "signature": ""})  # fmt: skip
STREAMS = [[START, *one, END] for one in (TEXT, CALL, THOUGHT)]


def called_with(pieces: list[str]) -> list[Json]:
    """A stream in which a tool's input arrives in these pieces."""
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return [START, *_events(*deltas, block={"type": "tool_use", "id": "t", "name": "n", "input": {}}), END]


inputs = st.lists(written({"query": "tea", "most": [3]}), max_size=3).map(called_with)


@examples(200)
@given(st.sampled_from(STREAMS).flatmap(altered) | inputs | st.lists(json_of("type", "delta", "index"), max_size=3))
@example([START, {"type": "content_block_start", "content_block": {"type": "text", "text": None}}, END])
@example([START, {"type": "message_delta", "delta": {}, "usage": {"output_tokens": "7"}}])
@example(called_with(["[" * DEEP, "]" * DEEP]))
@example(called_with(['{"a": ' * 500, "1", "}" * 500]))
def test_any_stream_of_events_gives_storable_blocks(events: Any) -> None:
    heard, shown = Streamed(lambda text: shown.append(text)), list[str]()
    try:
        for event in events if isinstance(events, list) else [events]:
            heard.take(event)
    except (ValueError, LookupError):
        pass
    finally:
        heard.count_heard()
    assert all(isinstance(text, str) for text in shown)
    assert all(isinstance(block.get("text", ""), str) for block in heard.plain())
    assert all(type(heard.usage[kind]) is int and 0 <= heard.usage[kind] < 2**31 for kind in COUNTED)
    assert isinstance(heard.model, str)
    assert_storable([block.get("input") for block in heard.plain() if isinstance(block.get("input"), str)])


def test_a_block_that_begins_with_null_text_begins_empty() -> None:
    heard = Streamed(lambda text: None)
    heard.take({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": None}})
    heard.take({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}})
    assert heard.plain() == [{"type": "text", "text": "Hi"}]


@pytest.mark.parametrize("deep", ["[" * DEEP + "]" * DEEP, '{"a":' * 101 + "1" + "}" * 101])
def test_a_tool_input_that_is_nested_too_deeply_is_refused(deep: str) -> None:
    with pytest.raises(ValueError, match="too deeply"):
        heard_all([deep])


def test_brackets_inside_a_string_do_not_count_as_nesting() -> None:
    text = "[" * 500 + '\\"' + "{" * 500
    assert heard_all([f'{{"a": "{text}"}}']) == {"a": text.replace("\\", "")}
    assert heard_all([f'{{"a": 1, "b": "{text}']) == {"a": 1}


def heard_all(pieces: list[str]) -> Any:
    """The tool input that a stream assembles from these pieces."""
    heard = Streamed(lambda text: None)
    for event in called_with(pieces):
        heard.take(event)
    return heard.plain()[0]["input"]


def test_the_example_answers_are_accepted() -> None:
    assert len(findings_in(called(KEEP, FINDINGS), ROWS)) == 3
    assert decisions_in(called(DECIDE, DECISIONS), NEAR).keys() == {0}
    assert len(consolidate.check_verdicts(read_rows(said(json.dumps(VERDICTS)), consolidate.Verdict), 2)) == 2
    assert len(digest.shorten_topics(read_rows(said(json.dumps(TOPICS)), digest.DigestTopic))) == 2
    for events in STREAMS:
        heard = Streamed(lambda text: None)
        for event in events:
            heard.take(event)
        assert (heard.model, heard.stop_reason, heard.usage["output_tokens"]) == ("big", "end_turn", 7)
    assert heard_all(['{"query": "tea', '", "most": 3}']) == {"query": "tea", "most": 3}

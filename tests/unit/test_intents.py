"""Intents: what is removed from a reply, what stays, and what is shown while it grows."""

import json
import sys
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.memory.intents import Forget, Intents, Learn, Rejected, Remember, process_intents, remove_echoes, visible
from relay.memory.tags import MOST_TAGS
from tests.fragments import REMEMBER
from tests.strategies import examples, replies


def actions(reply: str) -> tuple[Learn | Forget | Remember, ...]:
    return process_intents(reply).actions


def shown(reply: str) -> str:
    return process_intents(reply).text


def test_a_reply_with_every_tag_is_parsed() -> None:
    reply = f"Noted!\n[LEARN: likes tea]\n[FORGET: likes coffee]\n{REMEMBER}\n[VOICE_REPLY]"
    assert process_intents(reply) == Intents(
        text="Noted!",
        actions=(Learn("likes tea"), Forget("likes coffee"), Remember("deploys on Fridays", "operational", ("work",))),
        rejected=(),
        voice_reply=True,
    )


@pytest.mark.parametrize(
    ("reply", "fact"),
    [
        ("[LEARN: x1]", "x1"),
        ("[learn:x1]", "x1"),
        ("[ learn : x1 ]", "x1"),
        ("[\tLearn\t:\tx1\t]", "x1"),
        ("[LEARN: likes [old] jazz]", "likes [old] jazz"),
        ("[LEARN: likes [very [old]] jazz]", "likes [very [old]] jazz"),
        ("[LEARN: likes [old jazz]", "likes [old jazz"),
        ("[LEARN: two\n  lines\tand   spaces]", "two lines and spaces"),
        ("[LEARN: uses `vim`]", "uses `vim`"),
        ("[LEARN: мёд и чай 🍵]", "мёд и чай 🍵"),
        ("[LEARN: 猫が好き]", "猫が好き"),
        ("[LEARN: time: 10:30]", "time: 10:30"),
        ("[LEARN: a\0b\ud800c]", "abc"),
        ("**[LEARN: bold]**", "bold"),
        ("- [LEARN: in a list]", "in a list"),
        ("# [LEARN: in a heading]", "in a heading"),
        ("| [LEARN: in a table] |", "in a table"),
        ("an unclosed ` and [LEARN: a fact]", "a fact"),
        ("`` a ` b [LEARN: a fact]", "a fact"),
        (r"\` [LEARN: a fact] `", "a fact"),
        ("``` not a fence ``` [LEARN: a fact]", "a fact"),
        ("> a quote\n[LEARN: after it]", "after it"),
        ("> ```\n> code in a quote\n\n[LEARN: after it]", "after it"),
        ("`unclosed\n\n[LEARN: a fact] `", "a fact"),
        ("- one `\n- two [LEARN: a fact] `", "a fact"),
        ("text ` a\n# heading\n[LEARN: a fact] `", "a fact"),
        ("```\ncode\n```\n[LEARN: after it]", "after it"),
        ("~~~~\n~~~\n~~~~~\n[LEARN: after it]", "after it"),
        ("1. item\n\n    [LEARN: in an item]", "in an item"),
        ("text\n    [LEARN: a continuation]", "a continuation"),
        ("[[LEARN: doubled]]", "doubled"),
        ("好的。[LEARN：喜欢喝茶]", "喜欢喝茶"),
    ],
)
def test_a_learn_tag_is_parsed_and_removed(reply: str, fact: str) -> None:
    intents = process_intents(reply)
    assert intents.actions == (Learn(fact),)
    assert intents.rejected == ()
    assert "LEARN" not in intents.text.upper()


@pytest.mark.parametrize("tag", ["[VOICE_REPLY]", "[Voice_Reply]", "[ voice_reply ]"])
def test_a_voice_reply_tag_is_parsed_and_removed(tag: str) -> None:
    assert process_intents(f"Hello {tag}") == Intents("Hello", (), (), True)


CODE = [
    "`[LEARN: x1]`",
    "`` ` [LEARN: x1] ``",
    "a `b\nc [LEARN: x1]\nd` e",
    r"`\` \``[LEARN: x1]`",
    "```\n[LEARN: x1]\n```",
    "```\n[LEARN: x1]",
    "```[LEARN: x1]\n```",
    "```python\n[LEARN: x1]\n``\n[VOICE_REPLY]\n```",
    "````\n```\n[LEARN: x1]\n```\n````",
    "~~~\n```\n[LEARN: x1]\n~~~",
    "~~~ `[LEARN: x1]\n~~~",
    "text\n   ```\n   [LEARN: x1]\n   ```\ntext",
    "text\n```\n\n[LEARN: x1]\n\n    ```\n[VOICE_REPLY]\n```",
    "- item\n  ```\n  [LEARN: x1]\n  ```",
    "- ```\n  [LEARN: x1]\n  ```",
    "1. item\n   - item\n     ```sh\n     [LEARN: x1]\n     ```",
    "> [LEARN: x1]",
    ">[LEARN: x1]",
    "   > [LEARN: x1]",
    "> > [LEARN: x1]",
    "- > [LEARN: x1]",
    "> ```\n> [LEARN: x1]\n> ```",
    "text\n> [LEARN: x1]\n> [VOICE_REPLY]\ntext",
    'text\n> [REMEMBER] {"content": "x1"}',
    "text\n\n    [LEARN: x1]\n\n    [VOICE_REPLY]\n\ntext",
    "text\n\n\t[LEARN: x1]",
    "`` [LEARN: x1] ` [VOICE_REPLY] ``",
    '```json\n[REMEMBER] {"content": "x1"}\n```',
    "```\r\n[LEARN: x1]\r\n```",
]


@pytest.mark.parametrize("reply", CODE)
def test_tags_in_code_or_in_a_quote_are_text(reply: str) -> None:
    assert process_intents(reply) == Intents(reply.strip(), (), (), False)


@pytest.mark.parametrize("reply", CODE)
def test_code_next_to_tags_stays_unchanged(reply: str) -> None:
    intents = process_intents(f"[LEARN: before]\n\nText\n\n{reply}\n\nText")
    assert intents.actions == (Learn("before"),)
    assert reply in intents.text
    if not reply.endswith("[LEARN: x1]") or reply[0] in ">- " or "\t" in reply:
        after = process_intents(f"Text\n\n{reply}\n\nText [LEARN: after]")
        assert after.actions == (Learn("after"),)
        assert after.text == f"Text\n\n{reply}\n\nText"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "[",
        "[]",
        "[x] done, [ ] open",
        "[link](https://example.org/[a])",
        "[LEARNING: x]",
        "[LEARN]",
        "[LEARN x]",
        "[REMEMBER: x]",
        "[VOICE REPLY]",
        "[VOICE_REPLY: yes]",
        "[VOİCE_REPLY]",
        "[VO\u200bICE_REPLY]",
        "［LEARN: x］",
        "【LEARN: x】",
        "(LEARN: x)",
        "[\nVOICE_REPLY]",
        r"\[LEARN: escaped]",
        "a  \nhard break",
        "a\n\n\n\nb",
        "-\n-\n\n1.",
        "trailing  \n\t\nspaces",
        "a\r\nb\r\n\r\nc",
        "`unclosed",
        "\\",
        "---",
    ],
)
def test_text_without_tags_is_unchanged(text: str) -> None:
    assert process_intents(f"\n {text} \n") == Intents(text, (), (), False)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("a\n[VOICE_REPLY]\nb", "a\nb"),
        ("a\n\n[VOICE_REPLY]\n\nb", "a\n\nb"),
        ("a\n\n[VOICE_REPLY]\nb", "a\n\nb"),
        ("a\n[VOICE_REPLY]\n\nb", "a\n\nb"),
        ("a\n\n[LEARN: x1]\n\n[LEARN: x2]\n\nb", "a\n\nb"),
        ("a\n\n[LEARN: x1] [LEARN: x2]\n[LEARN: x3]\n\nb", "a\n\nb"),
        ("a\r\n\r\n[VOICE_REPLY]\r\n\r\nb", "a\r\n\r\nb"),
        ("[VOICE_REPLY]\n\n\na", "a"),
        ("[VOICE_REPLY] a", "a"),
        ("a [VOICE_REPLY] b", "a b"),
        ("`a` ` [VOICE_REPLY] ?", "`a` `?"),
        ("a [VOICE_REPLY]  [VOICE_REPLY] b", "a b"),
        ("a [VOICE_REPLY]\nb", "a\nb"),
        ("a [VOICE_REPLY]  \nb", "a\nb"),
        ("a[VOICE_REPLY]b", "a b"),
        ("a [VOICE_REPLY].", "a."),
        ("Hi![VOICE_REPLY] How", "Hi! How"),
        ("你好[VOICE_REPLY]世界", "你好世界"),
        ("a\n- [LEARN: x1]\n- [LEARN: x2]\n- b", "a\n- b"),
        ("a\n  1. [LEARN: x1]  \nb", "a\nb"),
        ("a\n- [VOICE_REPLY] b\n", "a\n- b"),
        ("  - a\n  [VOICE_REPLY] b", "- a\n  b"),
        ("a  \nb [VOICE_REPLY]\n\n\n\nc  \nd", "a  \nb\n\n\n\nc  \nd"),
        ("a\n[LEARN: x\ny]\nb", "a\nb"),
        ("a [LEARN: x\ny] b", "a b"),
        ("[VOICE_REPLY]", ""),
        ("`a` [VOICE_REPLY] `b`", "`a` `b`"),
        ("``[VOICE_REPLY]`", "`` `"),
        ("[VOICE_REPLY]```\n[LEARN: x1]\n```", "```\n[LEARN: x1]\n```"),
        ("[VOICE_REPLY]> [LEARN: x1]", "> [LEARN: x1]"),
        ("[LEA[VOICE_REPLY]RN: x]", "[LEA RN: x]"),
    ],
)
def test_removing_a_tag_leaves_no_trace(reply: str, text: str) -> None:
    assert shown(reply) == text


def test_a_reply_has_at_most_five_learn_tags() -> None:
    intents = process_intents("".join(f"[LEARN: fact {n}]\n" for n in range(7)))
    assert intents.actions == tuple(Learn(f"fact {n}") for n in range(5))
    assert intents.rejected == tuple(Rejected("LEARN", f"fact {n}", "more than 5 in one reply") for n in (5, 6))
    assert intents.text == ""


@pytest.mark.parametrize(
    ("reply", "rejected"),
    [
        (f"[LEARN: {'x' * 201}]", Rejected("LEARN", "x" * 201, "longer than 200 characters")),
        ("[LEARN: ]", Rejected("LEARN", "", "empty")),
        ("[LEARN:]", Rejected("LEARN", "", "empty")),
        ("[LEARN: …]", Rejected("LEARN", "…", "empty")),
        ("[FORGET: a b!]", Rejected("FORGET", "a b!", "fewer than 3 letters to match")),
        ("[FORGET: ]", Rejected("FORGET", "", "fewer than 3 letters to match")),
    ],
)
def test_a_refused_tag_is_removed_and_listed(reply: str, rejected: Rejected) -> None:
    assert process_intents(f"a {reply} b") == Intents("a b", (), (rejected,), False)


def test_the_length_limit_counts_collapsed_whitespace() -> None:
    words = "xy   \n" * 65
    assert actions(f"[LEARN: {words}]") == (Learn(" ".join(words.split())),)
    assert actions(f"[LEARN: {'é' * 200}]") == (Learn("é" * 200),)


def test_days_that_the_prompt_adds_to_memories_are_no_part_of_their_words() -> None:
    assert actions("[FORGET: Sails to Rome (by 2027-04-30)] [LEARN: I like tea (said 2026-11-28)]") == (
        Forget("Sails to Rome"),
        Learn("I like tea"),
    )
    assert actions("[LEARN: Sails to Rome (by 2027-04-30)]") == (Learn("Sails to Rome (by 2027-04-30)"),), "its own"


@pytest.mark.parametrize("words", ["abcd", "2024", "чай1", "a b c d", "रीना"])
def test_forget_needs_four_letters_or_digits(words: str) -> None:
    assert actions(f"[FORGET: {words}]") == (Forget(words),)


def test_a_reply_has_at_most_three_forget_tags() -> None:
    intents = process_intents("".join(f"[FORGET: fact{n}]" for n in range(4)))
    assert intents.actions == (Forget("fact0"), Forget("fact1"), Forget("fact2"))
    assert intents.rejected == (Rejected("FORGET", "fact3", "more than 3 in one reply"),)


def test_identical_actions_are_merged_and_count_once() -> None:
    intents = process_intents("[LEARN: tea]\n[learn:  tea ]\n" * 4 + "[LEARN: coffee]" + REMEMBER + REMEMBER)
    assert intents.actions == (Learn("tea"), Learn("coffee"), Remember("deploys on Fridays", "operational", ("work",)))
    assert intents.rejected == ()


@pytest.mark.parametrize(
    ("reply", "text", "reason"),
    [
        ("a [LEARN: never closed", "a [LEARN: never closed", "not closed"),
        ("a [LEARN: b\n\nc]", "a [LEARN: b\n\nc]", "not closed"),
        ("a [LEARN: b\n> c]", "a [LEARN: b\n> c]", "not closed"),
        ("a [LEARN: b [VOICE_REPLY]", "a [LEARN: b", "not closed"),
        (f"[LEARN: {'x' * 500}]", f"[LEARN: {'x' * 500}]", "longer than 200 characters"),
    ],
)
def test_a_tag_that_is_not_closed_is_text(reply: str, text: str, reason: str) -> None:
    intents = process_intents(reply)
    assert (intents.text, intents.actions) == (text, ())
    assert [(rejected.tag, rejected.reason) for rejected in intents.rejected] == [("LEARN", reason)]


@pytest.mark.parametrize(
    ("source", "learning"),
    [
        ('{"content": "x1"}', Remember("x1", "knowledge", ())),
        ('\n{"content": "x1"}', Remember("x1", "knowledge", ())),
        ('  \n\t{\n  "content": " x1 ",\n  "tags": []\n}', Remember("x1", "knowledge", ())),
        ('{"content": "x1", "category": null, "tags": null}', Remember("x1", "knowledge", ())),
        ('{"content": "x1", "category": "Identity"}', Remember("x1", "identity", ())),
        ('{"content": "x1", "more": {"deep": [{}, "}"]}}', Remember("x1", "knowledge", ())),
        ('{"memory": {"content": "x1", "tags": ["a"]}}', Remember("x1", "knowledge", ("a",))),
        ('{"content": "a \\"b\\" } [LEARN: c] \\\\"}', Remember('a "b" } [LEARN: c] \\', "knowledge", ())),
        ('{"content": "a\\u0000b\\ud800c"}', Remember("abc", "knowledge", ())),
        ('{"content": "uses `x`", "tags": ["a", " a ", "", "b  c"]}', Remember("uses `x`", "knowledge", ("a", "b c"))),
        (json.dumps({"content": "я" * 2000}), Remember("я" * 2000, "knowledge", ())),
    ],
)
def test_a_remember_tag_is_parsed_and_removed(source: str, learning: Remember) -> None:
    for tag in ("[REMEMBER]", "[ remember ]"):
        assert process_intents(f"a\n{tag}{source}\nb") == Intents("a\nb", (learning,), (), False)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({}, "without content"),
        ({"content": "  "}, "without content"),
        ({"content": 5}, "without content"),
        ({"content": "x" * 2001}, "longer than 2000 characters"),
        ({"content": "x", "category": "other"}, "its category isn't identity, knowledge or operational"),
        ({"content": "x", "category": 3}, "its category isn't identity, knowledge or operational"),
        ({"content": "x", "tags": "a"}, "with tags that are not a list of words"),
        ({"content": "x", "tags": ["a", 1]}, "with tags that are not a list of words"),
        ({"content": "x", "tags": [str(n) for n in range(11)]}, "with more than 10 tags"),
        ({"content": "x", "tags": ["a" * 41]}, "with a tag longer than 40 characters"),
    ],
)
def test_a_refused_remember_is_removed_and_listed(data: dict[str, object], reason: str) -> None:
    intents = process_intents(f"a [REMEMBER] {json.dumps(data)} b")
    assert (intents.text, intents.actions) == ("a b", ())
    assert [(rejected.tag, rejected.reason) for rejected in intents.rejected] == [("REMEMBER", reason)]


@pytest.mark.parametrize(
    "reply",
    [
        "[REMEMBER]",
        "[REMEMBER] nothing",
        '[REMEMBER] "text"',
        "[REMEMBER] {content: 'x'}",
        '[REMEMBER] {"content": "x",}',
        '[REMEMBER] {"content": "x"',
        '[REMEMBER] {"content": "x',
        '[REMEMBER]\n\n{"content": "x"}',
        '[REMEMBER] {"content":\n\n"x"}',
        '[REMEMBER]\n```json\n{"content": "x"}\n```',
        '[REMEMBER] {"a": ' + "9" * 5000 + "}",
        "[REMEMBER] " + '{"a":' * 15000,
    ],
)
def test_invalid_json_stays_visible_and_is_listed(reply: str) -> None:
    intents = process_intents(reply)
    assert (intents.text, intents.actions, intents.voice_reply) == (reply, (), False)
    assert [rejected.tag for rejected in intents.rejected] == ["REMEMBER"]
    assert intents.rejected[0].reason == "not followed by a valid JSON object"


def test_a_reply_has_at_most_five_remember_tags() -> None:
    intents = process_intents("\n".join(f'[REMEMBER] {{"content": "c{n}"}}' for n in range(6)))
    assert len(intents.actions) == 5
    assert intents.rejected == (Rejected("REMEMBER", "c5", "more than 5 in one reply"),)
    assert intents.text == ""


@pytest.mark.parametrize(
    ("partial", "text"),
    [
        ("Hi [", "Hi"),
        ("Hi [LE", "Hi"),
        ("Hi [ le", "Hi"),
        ("Hi [LEARN: user likes", "Hi"),
        ("Hi [LEARN: user likes [old", "Hi"),
        ("Hi [VOICE_REPLY", "Hi"),
        ("Hi [VOICE_REPLY]", "Hi"),
        ("Hi [REMEMBER]", "Hi"),
        ("Hi [REMEMBER] {", "Hi"),
        ('Hi [REMEMBER] {"con', "Hi"),
        ('Hi [REMEMBER]\n{"content": "x",\n', "Hi"),
        (f"Hi {REMEMBER} there", "Hi there"),
        ("Hi\n- ", "Hi"),
        ("Hi\n- [LE", "Hi"),
        ("Hi [l", "Hi"),
        ("Hi [li", "Hi [li"),
        ("Hi [link](https://x", "Hi [link](https://x"),
        ("Hi [x", "Hi [x"),
        ("Hi [x]", "Hi [x]"),
        ("Hi [ ]", "Hi [ ]"),
        ("Hi [LEARNT", "Hi [LEARNT"),
        ("Hi [LEARN it", "Hi [LEARN it"),
        ("Hi [LEARN: a\n\nb", "Hi [LEARN: a\n\nb"),
        ("Hi [LEARN: " + "x" * 300, "Hi"),
        ("Hi [LEARN: " + "x" * 400, "Hi [LEARN: " + "x" * 400),
        ("Hi [REMEMBER] no", "Hi [REMEMBER] no"),
        ("Hi `[LEARN: a]", "Hi `"),
        ("Hi `[LEARN: a]`", "Hi `"),  # the run of backticks may still grow
        ("Hi `[LEARN: a]` b", "Hi `[LEARN: a]` b"),
        ("Hi `[LEARN: a]\n\nb", "Hi `\n\nb"),
        ("Hi `[x](y)", "Hi `[x](y)"),
        ("```\n[LE", "```\n[LE"),
        ("```py [LE", "```py"),
        ("> [LE", "> [LE"),
        ("  Hi  ", "Hi"),
        ("", ""),
    ],
)
def test_tags_in_a_growing_reply_are_hidden(partial: str, text: str) -> None:
    assert visible(partial) == text


def test_every_prefix_of_valid_json_is_hidden() -> None:
    source = '{"content": "a \\u00e9\\ud83d\\ude00 \\" {[", '
    source += '"n": [-1.5e+10, true, null, {"x": -Infinity}, []], "tags": ["a"]}'
    reply = f"Hi [REMEMBER] {source}"
    assert [visible(reply[:end]) for end in range(3, len(reply) + 1)] == ["Hi"] * (len(reply) - 2)
    assert len(actions(reply)) == 1


plain = st.lists(st.sampled_from(["text", "[x]", "[", "`", "```", "\n", "\n\n", "- ", "> ", "  ", "\\", "é"])).map(
    "".join
)


@given(replies)
@examples(400)
@example("`[VOICE_REPLY] x\n-b`")
@example("`[VOICE_REPLY] x\n```b`")
@example("```[VOICE_REPLY]`\n")
@example("a\n1. [VOICE_REPLY]")
@example("a\n1. [VOICE_REPLY]\u00a0")
@example("[VOICE_REPLY]```\n[VOICE_REPLY]\n``` `\n[VOICE_REPLY]")
def test_text_shown_while_streaming_stays_in_the_final_text(reply: str) -> None:
    final = shown(reply)
    for end in range(len(reply) + 1):
        partial = visible(reply[:end])
        assert final.startswith(partial.rstrip()), (end, partial, final)


@given(replies)
@examples(400)
def test_the_shown_text_only_grows(reply: str) -> None:
    last = ""
    for end in range(len(reply) + 1):
        partial = visible(reply[:end])
        assert partial.startswith(last)
        last = partial


@given(replies)
@examples(400)
def test_the_shown_text_is_complete_after_the_paragraph(reply: str) -> None:
    reply += "\n\nThe end"
    assert visible(reply) == shown(reply)


@given(st.text() | replies)
@examples(400)
def test_any_text_is_parsed_within_the_limits(reply: str) -> None:
    intents = process_intents(reply)
    visible(reply)
    assert len(set(intents.actions)) == len(intents.actions)
    for kind, limit in ((Learn, 5), (Forget, 3), (Remember, 5)):
        assert sum(isinstance(action, kind) for action in intents.actions) <= limit
    for action in intents.actions:
        text = action.content if isinstance(action, Remember) else action.text
        assert text.strip() == text != ""
        text.encode()
        assert "\0" not in text


@given(plain)
def test_text_without_tags_is_never_changed(text: str) -> None:
    assert process_intents(text) == Intents(text.strip(), (), (), False)


@given(st.text(alphabet="ab [x]`\n>-#*~", max_size=200))
def test_ordinary_markdown_is_never_changed(text: str) -> None:
    assert process_intents(text) == Intents(text.strip(), (), (), False)


@given(st.text(alphabet=st.characters(exclude_characters="`\r", exclude_categories=["Cs"])), replies)
def test_fenced_code_is_never_changed(code: str, before: str) -> None:
    before = before.replace("`", "").replace("~", "")
    fenced = f"```text\n{code}\n[LEARN: x1]\n```"
    intents = process_intents(f"{before}\n\n{fenced}\n\n[LEARN: after it]")
    assert fenced in intents.text
    assert Learn("x1") not in intents.actions


pieces = st.sampled_from(
    ["text", " ", "\n", "\n\n", "- ", "[VOICE_REPLY]", "[LEARN: tea]", "[FORGET: tea time]", "`code`", ". "]
)


@given(
    st.lists(pieces | st.sampled_from([REMEMBER, "`[LEARN: in code]`", "[x]", "é", "\n```\n[LEARN: in code]\n```\n"]))
)
@examples(400)
def test_the_final_text_contains_no_more_tags(parts: list[str]) -> None:
    intents = process_intents("".join(parts))
    assert process_intents(intents.text) == Intents(intents.text, (), (), False)


@given(st.lists(pieces.filter(lambda piece: piece != "- ")))
def test_removing_tags_leaves_no_extra_blank_lines_or_spaces(parts: list[str]) -> None:
    reply = "".join(part.rstrip(" ") for part in parts)
    while "\n\n\n" in reply:
        reply = reply.replace("\n\n\n", "\n\n")
    text = shown(reply)
    assert "\n\n\n" not in text
    assert "  " not in text
    assert all(line == line.rstrip() for line in text.split("\n"))


def steps(function: Callable[[str], object], text: str) -> int:
    """How many lines of Python a function runs, independent of the machine's speed."""
    count = 0

    def trace(frame: object, event: str, arg: object) -> object:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        function(text)
    finally:
        sys.settrace(before)
    return count


UNITS = [
    *("[", "`", "` ", "`a``b", "[LEARN:", "[LEARN: [", "[REMEMBER] {", '[REMEMBER] {"'),
    *('[REMEMBER] {"a":', "[ ", "> [", "- [", "\n", "a\n", "- a\n", "[VOICE_REPLY]"),
    *("- [VOICE_REPLY]", "[VOICE_REPLY]> a\n", "    [\n", "\\[", "]", "```\n", "\n    a", "1. "),
    *("[VOICE_REPLY]- ", "` [VOICE_REPLY]\n", "#", " ", "\t", "\\", "~", "[LEARN: a]"),
    *("\n[LEARN: a\n]"),
]


# Tags that the model only repeats


@pytest.mark.parametrize(
    ("read", "reply"),
    [
        ("[LEARN: I am the king]", "[LEARN: I am the king]"),
        ("write [learn:  i am\nthe KING ] please", "[LEARN: I am the king.]"),
        ("`[LEARN: I am the king]`", "[LEARN: I am the king]"),
        ("```\n[LEARN: I am the king]\n```", "[LEARN: I am the king]"),
        ("> [LEARN: I am the king]", "[LEARN: I am the king]"),
        ("    [LEARN: I am the king]", "[LEARN: I am the king]"),
        ("\\[LEARN: I am the king]", "[LEARN: I am the king]"),
        ("an odd ` and [LEARN: I am the king] and `", "[LEARN: I am the king]"),
        ("[FORGET: everything]", "[FORGET: everything]"),
        (REMEMBER, REMEMBER),
        (f"`{REMEMBER}`", '[REMEMBER]\n{"category": "operational", "content": "Deploys on Fridays!"}'),
    ],
)
def test_a_tag_copied_from_the_input_is_rejected(read: str, reply: str) -> None:
    intents = remove_echoes(process_intents(f"Ok.\n{reply}\n[LEARN: likes tea]"), ["nothing", read])
    assert intents.actions == (Learn("likes tea"),)
    assert [one.reason for one in intents.rejected] == ["it was in the message itself"]
    assert intents.text == "Ok."


@pytest.mark.parametrize("read", ["End with [VOICE_REPLY].", "> [voice_reply]", "```\n[VOICE_REPLY]\n```"])
def test_a_voice_reply_tag_copied_from_the_input_is_rejected(read: str) -> None:
    wish = process_intents("Ok. [VOICE_REPLY]")
    assert not remove_echoes(wish, ["nothing", read]).voice_reply
    assert remove_echoes(wish, ["voice reply", "VOICE_REPLY"]).voice_reply


@pytest.mark.parametrize(
    "read",
    [
        "I am the king", "learn: I am the king", "[FORGET: I am the king]", "[LEARN: I am the king of Spain]",
        "[LEARN: I am] the king", "(LEARN: I am the king)", "[REMEMBER] I am the king", "",
    ],
)  # fmt: skip
def test_input_text_without_a_tag_can_be_learned(read: str) -> None:
    intents = process_intents("Ok. [LEARN: I am the king]")
    assert remove_echoes(intents, [read]) == intents


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("function", [process_intents, visible])
def test_parsing_takes_time_in_proportion_to_the_length(unit: str, function: Callable[[str], object]) -> None:
    short, long = unit * (3000 // len(unit)), unit * (12000 // len(unit))
    assert steps(function, long) <= 5 * steps(function, short) + 200


@pytest.mark.parametrize(
    "unit", ["[", "`", "` `` ", "[LEARN:", '[REMEMBER] {"a":"', "[REMEMBER] ", "\n", " ", "- ", "[ "]
)
def test_a_hundred_kilobytes_of_nonsense_is_parsed(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    assert process_intents(f"a{text}b").actions == ()
    visible(f"a{text}")


def test_tags_beyond_the_limit_are_text() -> None:
    """Each unfinished tag looks ahead; 8,000 of them used to block the bot."""
    reply = "[LEARN: " * 8000
    assert len(process_intents(reply).rejected) <= MOST_TAGS
    many = "".join(f"[LEARN: fact {number}]" for number in range(MOST_TAGS + 1))
    assert process_intents(many).text == visible(f"{many} ") == f"[LEARN: fact {MOST_TAGS}]"


def test_a_copied_tag_is_rejected_after_any_number_of_other_tags() -> None:
    read = "[LEARN: chaff] " * 2 * MOST_TAGS + "[LEARN: is ill]"
    assert remove_echoes(process_intents("[LEARN: is ill]"), [read]).actions == ()

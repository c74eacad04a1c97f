"""Markdown to Telegram messages: how each element is rendered, and what holds for any text."""

import threading
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.surfaces.telegram.formatting import format as formatting
from relay.surfaces.telegram.formatting import markdown
from relay.surfaces.telegram.formatting.format import Formatted, format_preview, format_reply, run_formatting
from relay.surfaces.telegram.formatting.literal import hide_addresses, hide_bars, hide_dollars, hide_unmeant, reveal
from relay.surfaces.telegram.formatting.markdown import CONFIG
from relay.surfaces.telegram.formatting.split import split
from relay.surfaces.telegram.formatting.styled import KINDS, Span, is_blank, tidy
from tests.sampled import sampled
from tests.strategies import examples, markdowns

QUOTES = {"blockquote", "expandable_blockquote"}


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def covered(part: Formatted, entity: dict[str, Any]) -> str:
    data = part.text.encode("utf-16-le")
    return data[2 * entity["offset"] : 2 * (entity["offset"] + entity["length"])].decode("utf-16-le")


def marked(part: Formatted, kind: str) -> list[str]:
    """The texts that entities of one kind cover."""
    return [covered(part, entity) for entity in part.entities if entity["type"] == kind]


def one(markdown: str, **below: str) -> Formatted:
    (part,) = format_reply(markdown, **below)
    check(part)
    return part


def squeeze(text: str) -> str:
    """A text without whitespace and without characters that Telegram treats as blank."""
    return "".join(char for char in text if not char.isspace() and not is_blank(char))


def check(part: Formatted) -> None:
    """Asserts what Telegram requires of every message."""
    data = part.text.encode("utf-16-le")  # raises on a lone surrogate
    assert 0 < len(data) // 2 <= 4096
    assert not is_blank(part.text)
    assert part.text == part.text.rstrip()
    assert not part.text.startswith("\n")
    assert len(part.entities) <= 100
    around: list[dict[str, Any]] = []
    for entity in part.entities:
        start, end = entity["offset"], entity["offset"] + entity["length"]
        assert 0 <= start < end <= len(data) // 2
        text = covered(part, entity)  # raises if a surrogate pair is cut
        assert text == text.rstrip()
        assert text.lstrip("\n") == text
        while around and around[-1]["offset"] + around[-1]["length"] <= start:
            around.pop()
        for outer in around:
            assert end <= outer["offset"] + outer["length"], "entities cross"
            assert outer["type"] not in ("pre", "code")
            assert outer["type"] != entity["type"]
            assert not {outer["type"], entity["type"]} <= QUOTES
            assert entity["type"] not in ("pre", "code") or outer["type"] in QUOTES
        around.append(entity)
        if entity["type"] == "text_link":
            assert entity["url"].lower().startswith(("http://", "https://", "tg:", "mailto:"))


# ── Elements ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("level", range(1, 7))
def test_headings_become_bold_text(level: int) -> None:
    part = one("#" * level + " Title\n\nText")
    assert part == Formatted("Title\n\nText", [{"type": "bold", "offset": 0, "length": 5}])


@pytest.mark.parametrize(
    ("markdown", "text", "kind", "inside"),
    [
        ("a **b** c", "a b c", "bold", "b"),
        ("a *b* c", "a b c", "italic", "b"),
        ("a ~~b~~ c", "a b c", "strikethrough", "b"),
        ("a ||b c|| d", "a b c d", "spoiler", "b c"),
        ("a `b` c", "a b c", "code", "b"),
        ("> a\n> b", "a\nb", "blockquote", "a\nb"),
        ("```py\nx = 1\n```", "x = 1", "pre", "x = 1"),
        ("$$\\frac{1}{2}$$", "½", "pre", "½"),
        ("a $\\alpha^2$", "a α²", "code", "α²"),
        ("a \\(\\alpha^2\\)", "a α²", "code", "α²"),
        ("a <b>b</b> c", "a b c", "bold", "b"),
    ],
)
def test_each_markdown_element_becomes_its_entity(markdown: str, text: str, kind: str, inside: str) -> None:
    part = one(markdown)
    assert part.text == text
    assert marked(part, kind) == [inside]


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("- a\n- b\n  - c\n    - d", "• a\n• b\n  • c\n    • d"),
        ("1. a\n2. b\n   - c", "1. a\n2. b\n  • c"),
        ("- [x] a\n- [ ] b", "☑ a\n☐ b"),
        ("a\n\n---\n\nb", "a\n\n———\n\nb"),
        ("- a\n  ```\n  b\n  ```\n  c\n- d", "• a\nb\nc\n• d"),
        ("- a\n  > b\n\n  c", "• a\nb\nc"),
        ("a<br>b", "a\nb"),
        ("a Vec<T> and <your-name>", "a Vec<T> and <your-name>"),
        ("<div>\na <thing> b\n</div>", "a <thing> b"),
        ("<!-- x -->\n\na", "a"),
        ("if a || b then c || d", "if a || b then c || d"),
        ("\\||a||", "||a||"),
        ("$5 or ~$6 and ~7 more, ~8", "$5 or ~$6 and ~7 more, ~8"),
        ("$10.49 (~$11.20)", "$10.49 (~$11.20)"),
        ("Costs US$5 up to 7$, ok?", "Costs US$5 up to 7$, ok?"),
        ("From $10/month to $20/month; a$b$c", "From $10/month to $20/month; a$b$c"),
        ("$HOME/$USER, $5 or 7$", "$HOME/$USER, $5 or 7$"),
        ("see the <div>, <b> and </u> tags, or Box<U>", "see the <div>, <b> and </u> tags, or Box<U>"),
        ("- <div>: a box\n- <p> and more", "• <div>: a box\n• <p> and more"),
        ('<div align="center">\n\na\n\n</div>', "a"),
        ("<details><summary>a</summary>\n\nb\n\n</details>", "a\n\nb"),
        ("a<sub>2</sub> <u>b</u> <kbd>c</kbd><!-- x -->", "a2 b c"),
        ("a\tb", "a   b"),
        ("a\r\nb\x00\x1b\x7f\u202ec", "a\nbc"),
        ("a\ud83d b \ude00", "a\ufffd b \ufffd"),
        ("\ud83d\ude00", "😀"),
    ],
)
def test_markdown_without_an_entity_becomes_plain_text(markdown: str, text: str) -> None:
    assert one(markdown).text == text


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/x/y/blob/main/pkg/__init__.py",
        "https://e.org/a*b*c",
        "HTTPS://e.org/~~x~~",
        "https://de.wikipedia.org/wiki/_foo_",
        "https://host/path_with_underscores_here/_next_/",
        "https://en.wikipedia.org/wiki/A_(_b_)_c",
        "https://x.org/?q=$a$&b",
        "https://x.org/?a[_b_]=*c*&d",
        "https://x.org/||a||",
    ],
)
def test_a_bare_address_stays_as_it_is(address: str) -> None:
    for text in (address, f"({address}), or", f"see {address}: this"):
        assert one(text) == Formatted(text, [])
    assert marked(one(f"**see {address}**, *{address}*"), "bold") == [f"see {address}"]
    assert marked(one(f"**see {address}**, *{address}*"), "italic") == [address]
    for link in (f"<{address}>", f"[{address}]({address})"):
        (entity,) = one(link).entities
        assert (entity["type"], entity["url"]) == ("text_link", address)
    assert marked(one(f"`{address}`\n```\n{address}\n```"), "code") == [address]
    assert marked(one(f"`{address}`\n```\n{address}\n```"), "pre") == [address]


def test_formatting_around_addresses_works() -> None:
    part = one(
        "**https://e.org/a_b** *https://e.org/a*; ~~https://e.org/b~~. ||https://e.org/c||, (**https://e.org/d**)"
    )
    assert part.text == "https://e.org/a_b https://e.org/a; https://e.org/b. https://e.org/c, (https://e.org/d)"
    assert marked(part, "bold") == ["https://e.org/a_b", "https://e.org/d"]
    assert marked(part, "italic") == ["https://e.org/a"]
    assert marked(part, "strikethrough") == ["https://e.org/b"]
    assert marked(part, "spoiler") == ["https://e.org/c"]
    assert marked(one("**https://e.org/a**。**https://e.org/b**を **https://e.org/c**'s"), "bold") == [
        "https://e.org/a",
        "https://e.org/b",
        "https://e.org/c",
    ]
    assert marked(one("**[x](https://e.org/a)**/**[y](https://e.org/_b_)**"), "bold") == ["x", "y"]
    assert one("use https://*host*/a\\_b").text == "use https://host/a_b"
    assert (
        one("|a|b|\n|-|-|\n|https://e.org/_a_|*x*|").text
        == "a                 | b\n------------------+--\nhttps://e.org/_a_ | x"
    )


@pytest.mark.parametrize(
    ("markdown", "code"),
    [
        ("It costs $5, and `$HOME` is set; `$PATH` too.", ["$HOME", "$PATH"]),
        ("The ticket is $12, paid via the variable `PRICE$` field.", ["PRICE$"]),
        ("Its number is $$, see `echo $$` and not $x; `x$`", ["echo $$", "x$"]),
    ],
)
def test_code_behind_a_dollar_sign_stays_code(markdown: str, code: list[str]) -> None:
    part = one(markdown)
    assert part.text == markdown.replace("`", "")
    assert marked(part, "code") == code


@pytest.mark.parametrize(
    ("markdown", "formulas"),
    [
        ("$x^2$, $5x + 3 = 8$ and ($\\alpha$)", ["x^2", "5x + 3 = 8", "α"]),
        ("for $5, the $n$th of **$k$**", ["n", "k"]),
        ("$3 \\times 4$ or \\(5 = a\\)7", ["3 × 4", "5 = a"]),
        ("$\\text{if $x$}$ and $x$", ["if $x$", "x"]),
    ],
)
def test_formulas_stay_formulas_next_to_amounts(markdown: str, formulas: list[str]) -> None:
    assert marked(one(markdown), "code") == formulas


def test_nested_quotes_become_one_quote() -> None:
    part = one("> a\n>> b\n>>> c")
    assert marked(part, "blockquote") == ["a\nb\nc"]


def test_code_keeps_its_language_and_content() -> None:
    code = "re.compile(r'\\(a\\alpha\\)')  # ||x|| **y** | z |\n\n    indented"
    part = one(f"Look:\n\n```python title=x\n{code}\n```\nEnd")
    assert part.entities == [{"type": "pre", "offset": 7, "length": len(code), "language": "python"}]
    assert covered(part, part.entities[0]) == code


def test_code_has_no_other_formatting() -> None:
    part = one("**a `b` c** [`d`](http://x.y) ||`e`|| ~~`f`~~ **`g`**")
    assert marked(part, "bold") == ["a", "c"]
    assert marked(part, "code") == ["b", "g"]
    assert marked(part, "text_link") == ["d"]
    assert marked(part, "spoiler") == ["e"]
    assert marked(part, "strikethrough") == ["f"]


@pytest.mark.parametrize("url", ["http://a.b", "https://a.b/c?d=e#f", "tg://user?id=1", "mailto:a@b.c"])
def test_links_become_text_links(url: str) -> None:
    assert one(f"see [this]({url})").entities == [{"type": "text_link", "offset": 4, "length": 4, "url": url}]


@pytest.mark.parametrize(
    "url", ["./file", "javascript:alert(1)", "#anchor", "ftp://a.b", "http://", "file:///etc/x", ""]
)
def test_unsupported_links_become_plain_text(url: str) -> None:
    assert one(f"see [this]({url})") == Formatted("see this", [])


def test_images_become_links() -> None:
    assert marked(one("![cat](http://a.b/c.png)"), "text_link") == ["🖼 cat"]
    assert marked(one("![](http://a.b/c.png)"), "text_link") == ["🖼 image"]
    badge = one("[![build](http://a.b/c.svg)](http://d.e)")
    assert [entity["url"] for entity in badge.entities] == ["http://d.e"]
    assert marked(one("[](http://d.e)"), "text_link") == ["http://d.e"]


def test_overlapping_formatting_is_cut_to_nest() -> None:
    part = one("**a ||b** c||")
    assert part.text == "a b c"
    assert marked(part, "bold") == ["a b"]
    assert marked(part, "spoiler") == ["b", "c"]


# ── Tables ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_narrow_table_is_aligned() -> None:
    part = one("| Name | Age |\n|---|--:|\n| **Ann** | 30 |\n| 日本 | 4<br>5 |")
    assert part.text == "Name | Age\n-----+----\nAnn  | 30\n日本 | 4 5"
    assert marked(part, "pre") == [part.text]


def test_a_wide_table_becomes_a_list_per_row() -> None:
    part = one(
        "Look:\n\n| Name | What it does | Where |\n|---|---|---|\n"
        "| Foo | a rather **long** description of it | `a\\|b` |\n| *Bar* | | [there](http://x.y) |\n\nEnd"
    )
    assert part.text == (
        "Look:\n\nFoo\n• What it does: a rather long description of it\n• Where: a|b\n\nBar\n• Where: there\n\nEnd"
    )
    assert marked(part, "bold") == ["Foo", "long", "Bar"]
    assert marked(part, "code") == ["a|b"]
    assert marked(part, "text_link") == ["there"]


def test_a_table_of_up_to_40_columns_is_narrow() -> None:
    def table(width: int) -> str:
        return f"| a | b |\n|---|---|\n| c | {'d' * (width - 4)} |"

    assert marked(one(table(40)), "pre")
    assert not marked(one(table(41)), "pre")


def test_a_table_with_links_or_formulas_loses_nothing() -> None:
    assert marked(one("|a|b|\n|-|-|\n|c|[d](http://x.y)|"), "text_link") == ["d"]
    assert one("|a|b|\n|-|-|\n|c|$\\alpha^2$|").text == "c\n• b: α²"


def test_a_table_is_aligned_in_quotes_and_lists_but_not_in_code() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    aligned = "a | b\n--+--\n1 | 2"
    assert one("> x\n>\n> " + table.replace("\n", "\n> ")).text == f"x\n\n{aligned}"
    assert one("- x\n\n  " + table.replace("\n", "\n  ")).text == f"• x\n{aligned}"
    assert one(f"```\n{table}\n```").text == table


def test_empty_table_cells_are_not_taken_for_spoilers() -> None:
    assert "spoiler" not in str(one("| a || b |\n|---|---|---|\n| c || d |").entities)


# ── Footer and preview ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_footer_and_the_tools_follow_the_answer() -> None:
    part = one("Hi **you**", footer="🧠 Learned:\nlikes tea", tools="🔧 web_search\n\nweather in Oslo")
    assert part.text == "Hi you\n\n🔧 web_search\nweather in Oslo\n🧠 Learned: likes tea"
    assert marked(part, "expandable_blockquote") == ["🔧 web_search\nweather in Oslo"]
    assert marked(part, "bold") == ["you"]


def test_a_footer_without_room_gets_its_own_part() -> None:
    parts = format_reply("x" * 4090, footer="🧠 Learned: likes tea")
    assert [part.text for part in parts] == ["x" * 4090, "🧠 Learned: likes tea"]


def test_a_footer_that_was_cut_says_so() -> None:
    part = one("Hi", footer="🧠 " * 4000, tools="🔧 " * 4000)
    tools, footer = part.text.split("\n")[2:]
    for line in (tools, footer):
        assert line.endswith("🧠 …" if line is footer else "🔧 …")
    assert marked(part, "expandable_blockquote") == [tools]


def test_the_footer_of_an_empty_answer_is_shown() -> None:
    assert format_reply(" \n", footer="🧠 Learned") == [Formatted("🧠 Learned", [])]


@pytest.mark.parametrize("blank", ["", " \n\t", "\u200b\u200d\ufeff", "\x00", "\u2800\u3000"])
def test_a_blank_text_gives_no_message(blank: str) -> None:
    assert format_reply(blank) == []
    assert format_reply(blank, footer=blank, tools=blank) == []
    assert format_preview(blank) == Formatted("", [])


def test_markdown_that_renders_as_nothing_is_shown_literally() -> None:
    assert one("[a]: http://x.y").text == "[a]: http://x.y"


@pytest.mark.parametrize(
    ("half", "text"),
    [
        ("see [this](http://exa", "see this"),
        ("see [this](", "see this"),
        ("see [thi", "see [thi"),
        ("```py\nx = 1", "x = 1"),
        ("a\n\n```", "a"),
        ("a **b", "a **b"),
        ("| a | b |\n|--", "| a | b |\n|--"),
    ],
)
def test_a_preview_of_half_written_markdown_is_readable(half: str, text: str) -> None:
    assert format_preview(half).text == text


def test_addresses_and_amounts_do_not_flicker_as_they_grow() -> None:
    text = (
        "https://e.org/__init__.py, https://e.org/*a*b_ https://e.org/~~x~~ https://e.org/||a|| US$5, $6 or 7$; <b> x"
    )
    for end in range(1, len(text)):
        assert format_preview(text[:end]).text == text[:end].rstrip()


def test_a_long_preview_shows_the_end_and_moves_in_steps() -> None:
    lines = [f"line **{number}** 😀" for number in range(2000)]
    starts = []
    for count in range(1000, 1100, 5):
        part = format_preview("\n".join(lines[:count]))
        assert part.text.endswith(f"line {count - 1} 😀")
        assert units(part.text) > 2000
        starts.append(part.text.split("\n")[:2])
    check(part)
    assert all(start[0] == "…" and start[1].startswith("line") for start in starts)
    assert len({start[1] for start in starts}) <= 3


def test_a_long_preview_of_code_stays_code() -> None:
    part = format_preview("```py\n" + "x = 1\n" * 2000)
    assert part.text.startswith("…\nx = 1\n")
    assert [entity["language"] for entity in part.entities] == ["py"]
    assert part.entities[0]["offset"] == 2


# ── Splitting ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_long_answer_with_code_and_tables_loses_nothing() -> None:
    block = (
        "## Part {n}\n\nSome **bold** words, `code` and [a link](http://a.b/{n}), then more. " + "Sentence here. " * 20
    )
    block += "\n\n```python\n" + "def f(x):\n    return x + 1\n\n" * 12 + "```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    block += "| Name | A long description of the thing |\n|---|---|\n| n{n} | about forty characters of text here |\n\n"
    markdown = "".join(block.replace("{n}", str(number)) for number in range(25))
    assert len(markdown) > 20_000
    parts = format_reply(markdown, footer="🧠 Learned")
    for part in parts:
        check(part)
        assert not part.text.split("\n")[-1].startswith("Part ")
        assert units(part.text) > 1500 or part is parts[-1]
    text, _ = formatting._render(markdown)
    assert squeeze("".join(part.text for part in parts)) == squeeze(text + "🧠 Learned")
    assert sum(len(marked(part, "text_link")) for part in parts) == 25
    assert len(parts) < 1.4 * units(text) / 4096 + 1


def test_paragraphs_are_not_split() -> None:
    parts = format_reply("\n\n".join([("word " * 300).strip()] * 6))
    assert [part.text.count("\n\n") for part in parts] == [1, 1, 1]


def test_long_texts_are_split_at_lines_then_sentences_then_words() -> None:
    lines = format_reply("- " + "\n- ".join(["word " * 20] * 60))
    assert all(part.text.startswith("• word") and part.text.endswith("word") for part in lines)
    assert all(part.text.endswith("now.") for part in format_reply("It is now. " * 1000))
    assert all(part.text.endswith("字。") for part in format_reply("字字字。" * 3000))
    assert all(part.text.endswith("word") for part in format_reply("word " * 3000))
    assert [len(part.text) for part in format_reply("x" * 9000)] == [4096, 4096, 808]


def test_a_long_code_block_is_split_at_line_borders() -> None:
    lines = [f"    line_{number} = {number}" for number in range(500)]
    parts = format_reply("Look:\n\n```python\n" + "\n".join(lines) + "\n```\n\nEnd")
    assert len(parts) > 2
    found: list[str] = []
    for part in parts:
        check(part)
        assert [entity["language"] for entity in part.entities] == ["python"]
        found += marked(part, "pre")[0].split("\n")
    assert found == lines


def test_code_that_fits_one_message_is_not_split() -> None:
    code = "\n\n".join(["x = 1"] * 300)
    parts = format_reply("word " * 400 + f"\n\n```\n{code}\n```")
    assert [marked(part, "pre") for part in parts] == [[], [code]]


def test_a_heading_stays_with_its_text() -> None:
    parts = format_reply("word " * 700 + "\n\n## Big\n\n### Small `x`\n\n" + "more " * 300)
    assert [part.text.split("\n")[0] for part in parts[1:]] == ["Big"]
    assert parts[1].text.startswith("Big\n\nSmall x\n\nmore")


@pytest.mark.parametrize("glyph", ["👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "a\u0301\u0302", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"])
def test_visible_characters_are_not_split(glyph: str) -> None:
    for lead in range(4):
        parts = format_reply("x" * lead + glyph * 2000)
        assert "".join(part.text for part in parts) == "x" * lead + glyph * 2000
        assert all(part.text.endswith(glyph) for part in parts)


def test_formatting_across_a_split_is_in_both_parts() -> None:
    parts = format_reply("**" + "word " * 1500 + "end**")
    assert [marked(part, "bold") == [part.text] for part in parts] == [True, True]


def test_a_part_has_at_most_100_entities_and_keeps_its_links() -> None:
    links = format_reply("[a](http://b.c) **d** " * 250)
    assert sum(len(marked(part, "text_link")) for part in links) == 250
    assert all(len(part.entities) == 100 for part in links[:-1])
    words = format_reply("**a** *b* " * 300)
    assert len(words) == 1
    assert len(marked(words[0], "bold")) == 100


# ── Any text ──────────────────────────────────────────────────────────────────────────────────────────────────────

anything = examples(300)


@anything
@given(markdowns)
@example("||a\n" + "> " * 50 + "b||")
@example("```\n" * 300)
@example("<b>x <tg-spoiler>y</b> `z` </tg-spoiler>" * 200)
def test_every_part_is_valid_for_telegram(markdown: str) -> None:
    parts = format_reply(markdown)
    for part in parts:
        check(part)
    text, _ = formatting._render(markdown)
    assert squeeze("".join(part.text for part in parts)) == squeeze(text)
    assert bool(parts) == (not is_blank(formatting._clean(markdown)))


@anything
@given(markdowns, st.integers(0, 60))
def test_a_preview_of_any_text_is_valid(markdown: str, cut: int) -> None:
    for text in (markdown, markdown[:-cut]):
        part = format_preview(text)
        if part.text:
            check(part)
        else:
            assert is_blank(formatting._clean(text)) or "](" in text


@anything
@given(markdowns, st.text(max_size=600), st.text(max_size=600))
def test_the_footer_is_always_shown(markdown: str, footer: str, tools: str) -> None:
    parts = format_reply(markdown, footer=f"F{footer}", tools=f"T{tools}")
    for part in parts:
        check(part)
    below = parts[-1]
    (collapsed,) = marked(below, "expandable_blockquote")
    assert collapsed.startswith("T")
    assert below.text.split("\n")[-1].startswith("F")


spans = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 60), st.sampled_from(sorted(KINDS)), st.just("")), max_size=30
)


@anything
@given(st.text(min_size=60, max_size=60), spans)
def test_tidying_nests_any_spans(text: str, raw: list[tuple[int, int, str, str]]) -> None:
    text = formatting._clean(text).strip() or "x"
    found = [Span(min(a, len(text)), min(b, len(text)), kind, "http://a.b") for a, b, kind, _ in raw]
    tidied = tidy(text, found)
    assert tidy(text, tidied) == tidied
    for part, marks in split(text, tidied):
        check(Formatted(part, formatting.entities(part, marks)))


# ── Robustness and speed ──────────────────────────────────────────────────────────────────────────────────────────


HOSTILE = [
    ">",
    "> ",
    "* ",
    "- a\n  ",
    "*a ",
    "**a *b ",
    "[",
    "[a](",
    "![a",
    "<a ",
    "<",
    "<!--",
    "\n<!-- x",
    "\\[",
    "\\(",
]
HOSTILE += [
    "`a ",
    "$a $1 ",
    "~a~ ",
    "```\n",
    "# a\n",
    "\n\nx",
    "<b>",
    "👨\u200d👩\u200d👧",
    "🇩🇪",
    "\u200bx",
    "\\",
    "||a",
]
HOSTILE += [
    "*",
    "`",
    "|",
    "_",
    "~~",
    "[x](",
    "](",
    "https://a_(",
    "$1{",
    "<b>x</b>",
    "> - ",
    "🎻*",
    "\n> ||a",
    "|a|b|\n|-|-|\n",
    "|a",
]


@pytest.mark.parametrize("unit", sampled(HOSTILE, 3))
@pytest.mark.timeout(60)  # takes less than 0.5 s; fails for exponential time, not for a slow machine
def test_hostile_text_is_formatted_in_bounded_time(unit: str) -> None:
    for part in format_reply(unit * (100_000 // len(unit))):
        check(part)


@pytest.mark.parametrize("error", [RuntimeError, RecursionError, BaseException])
def test_a_failing_library_leaves_plain_text(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(markdown.EventWalker, "walk", fail)
    assert format_reply("**a**\n") == [Formatted("**a**", [])]
    assert format_preview("**a**\n") == Formatted("**a**", [])


def test_the_librarys_global_configuration_stays_unchanged() -> None:
    from telegramify_markdown.config import get_runtime_config

    assert get_runtime_config() is not CONFIG
    assert get_runtime_config().markdown_symbol.heading_level_1


@pytest.mark.parametrize("piece", ["$", "$$ $$", r"$$\,$$", "$ $ ", "$$$$\n\n", "](", "||a", "*a _b ", "[a](", "`` ` "])
def test_no_text_blocks_the_event_loop_for_long(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "_SECONDS", 0.04)
    text = piece * (66_000 // len(piece))
    before = time.thread_time()
    assert format_reply(text) or not text.strip()
    format_preview(text)
    assert time.thread_time() - before < 4


def test_a_long_name_of_a_tag_that_never_ends_takes_no_time() -> None:
    before = time.thread_time()
    (first, *_) = format_reply("<div>\n<" + "a" * 66_000)
    assert first.text.startswith("<a")
    assert time.thread_time() - before < 2


@pytest.mark.parametrize(
    "shown",
    [
        "12*34*56",
        "2**3**4",
        "See[^1].\n\n[^1]: word",
        "[^a-z]: x",
        "See[^1].\n\n[^1]: https://e.org/a",
        "1. [^1]: word",
        "[draft\n[^1]: https://e.org/a",
    ],
)
def test_products_and_footnotes_are_shown_as_they_are(shown: str) -> None:
    for source in (shown, f"```\n{shown}\n```"):
        (part,) = format_reply(source)
        assert part.text == shown


@pytest.mark.parametrize(
    ("markdown", "bold"),
    [
        ("他说**“你好”**了", "“你好”"),
        ("**重要：**内容", "重要："),
        ("日本の**「東京」**は", "「東京」"),
        ("이것은 **마크다운(Markdown)**을", "마크다운(Markdown)"),
        ("**5%**的人", "5%"),
        ("**5**th", "5"),
        ("price **5**2", "5"),
        ("**“quoted”** text", "“quoted”"),
        ("见（文档)**重要**内容", "重要"),
    ],
)
def test_words_without_spaces_can_be_bold(markdown: str, bold: str) -> None:
    (part,) = format_reply(markdown)
    (entity,) = part.entities
    assert entity["type"] == "bold"
    assert part.text[entity["offset"] :][: entity["length"]] == bold
    assert part.text == markdown.replace("**", "")


def test_bold_words_behind_a_link_leave_it_a_link() -> None:
    (part,) = format_reply("参见[文档](https://e.org)**重要**内容")
    assert part.text == "参见文档重要内容"
    assert [one["type"] for one in part.entities] == ["text_link", "bold"]


@pytest.mark.parametrize(
    "piece",
    [
        "https://",
        "https://a(",
        "https://a[_",
        "https://a**é",
        "https://a||b",
        "$1{",
        "}$",
        "$$a ",
        "1*",
        "> ",
        "[^",
        "（**a",
    ],
)
def test_hiding_marks_takes_no_time(piece: str) -> None:
    text = piece * (66_000 // len(piece))
    before = time.thread_time()
    for hide in (hide_addresses, hide_bars, hide_dollars, hide_unmeant):
        assert reveal(hide(text)) == text
    assert time.thread_time() - before < 1


async def test_only_long_texts_are_formatted_in_a_thread() -> None:
    async def where(text: str) -> str:
        return await run_formatting(lambda _: threading.current_thread().name, text)

    assert await where("short") == threading.current_thread().name
    assert await where("long " * 1000) != threading.current_thread().name
    assert await run_formatting(format_reply, "**long** " * 1000) == format_reply("**long** " * 1000)

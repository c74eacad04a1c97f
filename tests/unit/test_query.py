"""Search queries as people write them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.commands.history.query import date_in, parse, weights_in
from relay.memory.rows.memories import Posted
from relay.memory.rows.search import MessageHit, Weights
from relay.surfaces.chat.history.search import passage, words_of
from relay.surfaces.chat.links import link_to
from relay.surfaces.telegram.formatting.format import format_reply

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 5, 14, 3, tzinfo=BERLIN)


def day(year: int, month: int = 1, number: int = 1) -> datetime:
    return datetime(year, month, number, tzinfo=BERLIN)


def test_words_phrases_and_filters_are_parsed() -> None:
    query = parse('boiler from:me "the red one" repair after:2026-10 before:2026-11-05 in:here', NOW)
    assert (query.words, query.phrases, query.me, query.you, query.here) == (
        "boiler repair",
        ("the red one",),
        True,
        False,
        True,
    )
    assert (query.since, query.until, query.wrong) == (day(2026, 10), day(2026, 11, 5), ())


def test_names_and_places_of_several_words_are_quoted() -> None:
    query = parse('from:"Ada Lovelace" FROM:@ben from:you in:"two words" in:Trips tea', NOW)
    assert (query.names, query.you, query.places, query.words) == (
        ("Ada Lovelace", "ben"),
        True,
        ("two words", "Trips"),
        "tea",
    )
    # in quotes, it is a name
    assert parse('in:"here" from:"me"', NOW).places == ("here",)
    assert parse('in:"here" from:"me"', NOW).names == ("me",)


def test_file_topic_weight_and_kind_filters_are_parsed() -> None:
    query = parse(
        'file:report FILE:"Q3 plan" topic:garden keepit:0.5..1 kind:message kind:Documents kind:message roses', NOW
    )
    assert (query.files, query.topics, query.kinds) == (("report", "Q3 plan"), ("garden",), ("message", "document"))
    assert (query.keepit, query.words, query.wrong, query.filtered) == (Weights("0.50", "1.00"), "roses", (), True)


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("0.5..1", ("0.50", "1.00")), ("0.75..", ("0.75", "1.00")), ("..0.25", ("0.00", "0.25")),
        ("0.8", ("0.80", "0.80")),
        ("0..0", ("0.00", "0.00")), ("1", ("1.00", "1.00")), ("0.5..0.4", None), ("1.5", None),
        ("..", None), ("", None),
        ("0.555", None), ("half", None), ("0.5...1", None), ("-1..1", None), ("0,5..1", None), ("1.01..", None),
    ],
)  # fmt: skip
def test_weight_ranges_are_parsed(text: str, weights: tuple[str, str] | None) -> None:
    assert weights_in(text) == (Weights(*weights) if weights else None)
    assert bool(parse(f"keepit:{text}", NOW).wrong) is (weights is None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("keepit:important", "keepit:important isn't a range of weights. Write a range from 0 to 1, such as"
                             " keepit:0.5..1,"
                             " keepit:0.75.. or keepit:..0.5."),
        ("kind:picture", "kind:picture isn't something I can look for. Write kind:message, kind:memory, kind:summary, "
                         "kind:document or kind:version."),
        ("file:", "file: needs the name of a document, or a part of it: file:report."),
        ("topic:", "topic: needs a word from a session's topics: topic:garden."),
        ("kind:version", "kind:version needs words, too: /search kind:version garden"),
        ("topic:a " * 9, "9 words after topic: are too many; at most 8."),
    ],
)  # fmt: skip
def test_a_wrong_filter_is_explained_with_an_example(text: str, says: str) -> None:
    assert parse(text, NOW).wrong == (says,)


@pytest.mark.parametrize("text", ["“exact words”", "„exact words“", "«exact words»", '"exact   words"'])
def test_all_kinds_of_quotation_marks_are_accepted(text: str) -> None:
    assert parse(text, NOW).phrases == ("exact words",)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-05", day(2026, 11, 5)),
        ("2026-1-5", day(2026, 1, 5)),
        ("2026-11", day(2026, 11)),
        ("2025", day(2025)),
        ("today", day(2026, 11, 5)),
        ("Yesterday", day(2026, 11, 4)),
        ("7d", day(2026, 10, 29)),
        ("0d", day(2026, 11, 5)),
        ("2026-13", None),
        ("2026-02-30", None),
        ("0000", None),
        ("99999d", day(1753, 1, 21)),
        ("next week", None),
        ("", None),
        ("d", None),
        ("-7d", None),
        ("２０２６", None),
    ],
)
def test_dates_are_parsed_as_people_write_them(text: str, moment: datetime | None) -> None:
    assert date_in(text, NOW) == moment


def test_a_day_begins_at_midnight_across_clock_changes() -> None:
    after_the_change = datetime(2026, 10, 26, 12, 0, tzinfo=BERLIN)
    found = date_in("yesterday", after_the_change)
    assert found is not None
    assert found.isoformat() == "2026-10-25T00:00:00+02:00"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("tea before:soon", "before:soon isn't a date"),
        ("tea after:", "after: isn't a date"),
        ("from: tea", "from: needs a person"),
        ("from:@", "from: needs a person"),
        ('in:"" tea', "in: needs a place"),
        ("after:2026-99-01", "after:2026-99-01 isn't a date"),
    ],
)
def test_a_malformed_filter_is_named(text: str, named: str) -> None:
    (sentence,) = parse(text, NOW).wrong
    assert sentence.startswith(named)


@pytest.mark.parametrize("text", ["", "  ", '"', '""', '"!?"', "\n\t"])
def test_a_query_without_words_is_empty(text: str) -> None:
    assert parse(text, NOW).empty


@pytest.mark.parametrize(
    "text", ["checkin:now", "https://example.com/a?from:b", "12:30", "in", "from", "plugin:here", "a:b:c", "'in:x'"]
)
def test_text_that_only_looks_like_a_filter_is_a_word(text: str) -> None:
    query = parse(text, NOW)
    assert (query.words, query.filtered, query.wrong) == (text, False, ())


@given(st.text(max_size=300))
def test_any_text_can_be_parsed(text: str) -> None:
    parse(text, NOW)


FILTERS = st.sampled_from(
    ["from:me", "from:you", "before:2026", "after:7d", "in:here", 'in:"a b"', "before:never", "in:"]
)
WORDS = st.text(st.characters(exclude_characters='"“”„‟«»', categories=["L", "N", "P", "S"]), min_size=1).filter(
    lambda word: not word.lower().startswith(("from:", "before:", "after:", "in:"))
)


@given(st.lists(st.tuples(st.sampled_from("wpf"), st.lists(WORDS, min_size=1, max_size=3), FILTERS), max_size=6))
def test_no_word_is_lost(parts: list[tuple[str, list[str], str]]) -> None:
    """All words between filters and phrases are searched for, in order."""
    written, words, phrases = [], [], []
    for kind, some, narrowed in parts:
        if kind == "w":
            written.extend(some)
            words.extend(some)
        elif kind == "p":
            written.append(f'"{" ".join(some)}"')
            if any(c.isalnum() for word in some for c in word):
                phrases.append(" ".join(some))
        else:
            written.append(narrowed)
    query = parse(" ".join(written), NOW)
    assert query.words.split() == " ".join(words).split()
    assert query.phrases == tuple(phrases)


# How a result is shown


@pytest.mark.parametrize(
    ("text", "shown", "bold"),
    [
        ("I like \x02tea\x03 a lot", "I like tea a lot", ["tea"]),
        ("\x02tea\x03", "tea", ["tea"]),
        ("\x02green\x03 \x02tea\x03!", "green tea!", ["green", "tea"]),
        ("\x02foo\x03-\x02bar\x03(\x02baz\x03)", "foo-bar(baz)", ["foo", "bar", "baz"]),
        ("pre\x02fix\x03es", "prefixes", ["fix"]),
        ("- \x02tea\x03", "- tea", ["tea"]),
        ("1. \x02tea\x03", "1. tea", ["tea"]),
        ("# no heading, *no* _stars_ `x` [y](z) \x02tea\x03", "# no heading, *no* _stars_ `x` [y](z) tea", ["tea"]),
        ("stray \x02 mark", "stray  mark", []),
        ("see \x02/usr/lib\x03 there", "see /usr/lib there", []),
        ("", "", []),
    ],
)
def test_a_passage_shows_the_text_with_the_words_in_bold(text: str, shown: str, bold: list[str]) -> None:
    messages = format_reply(f"x\n{passage(text)}")
    (message,) = messages
    assert " ".join(message.text.split()) == " ".join(f"x {shown}".split())
    units = message.text.encode("utf-16-le")
    marked = [
        units[2 * one["offset"] : 2 * (one["offset"] + one["length"])].decode("utf-16-le")
        for one in message.entities
        if one["type"] == "bold"
    ]
    assert marked == bold


@given(st.text(st.sampled_from("\x02\x03ab *_`[]()-+1.\n#>é🙂"), max_size=60))
def test_any_passage_shows_only_the_text(text: str) -> None:
    (message,) = format_reply(f"x\n{passage(text)}")
    plain = text.replace("\x02", "").replace("\x03", "")
    assert "".join(message.text.split()) == "".join(f"x{plain}".split())


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("**\x02Ferns\x03, ivy** like the *shade*", "\x02Ferns\x03, ivy like the shade"),
        ("## Plan\nRun `make test`, then 2 * 3 * 4 and 5*3", "Plan\nRun make test, then 2 * 3 * 4 and 5*3"),
        ("* one\n* *\x02two\x03*", "* one\n* \x02two\x03"),
    ],
)
def test_a_found_answer_shows_no_signs_of_its_formatting(said: str, shown: str) -> None:
    answer = MessageHit("message", 1, "assistant", None, None, NOW, 0, None, None, said)
    assert words_of(answer) == shown
    assert words_of(replace(answer, role="user")) == said


def test_the_length_of_a_passage_is_limited() -> None:
    (message,) = format_reply(passage("long " * 1000))
    assert len(message.text) < 450


@pytest.mark.parametrize(
    ("chat_id", "topic_id", "link"),
    [
        (-1001234567890, 0, "https://t.me/c/1234567890/7"),
        (-1001234567890, 5, "https://t.me/c/1234567890/5/7"),
        (-1234, 0, ""),
        (1001, 5, ""),
    ],
)
def test_only_messages_of_supergroups_have_links(chat_id: int, topic_id: int, link: str) -> None:
    assert link_to(Posted(chat_id, 7), topic_id) == link
    assert link_to(None, topic_id) == ""


@pytest.mark.parametrize("text", ["from:a{0}", "in:place{0}", '"phrase {0}"'])
def test_a_query_with_too_many_words_is_refused(text: str) -> None:
    few, many = (" ".join(text.format(n) for n in range(count)) for count in (8, 9))
    assert parse(few, NOW).wrong == ()
    assert "too many" in parse(many, NOW).wrong[0]

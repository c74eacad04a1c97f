"""Links behind words: the model reads their addresses, and everything else sees the bare text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.surfaces.telegram.parsing import message_parser, updates
from relay.surfaces.telegram.parsing.command_message import parse_command_message
from relay.surfaces.telegram.parsing.links import ALL_URLS, URL_LENGTH
from relay.surfaces.telegram.parsing.message_parser import text_of, words_of
from relay.surfaces.telegram.parsing.objects import Message
from relay.surfaces.telegram.parsing.updates import Bot, Command
from tests.strategies import ODD_TEXT, examples
from tests.telegram_objects import as_message

ADA = 1001
BOT = Bot(77, "relay_bot")
URL = "https://example.org/hidden"
Json = dict[str, Any]


def link(offset: int, length: int, url: str = URL) -> Json:
    return {"type": "text_link", "offset": offset, "length": length, "url": url}


def sent(text: str, *entities: Any, caption: bool = False, **more: Any) -> Message:
    kind = "caption" if caption else "text"
    entities_key = "caption_entities" if caption else "entities"
    body = {"message_id": 5, "date": 1, "from": {"id": ADA}, "chat": {"id": ADA, "type": "private"}}
    return as_message({**body, kind: text, entities_key: list(entities), **more})


def test_the_address_of_a_link_stands_behind_its_words() -> None:
    message = sent("Summarise this article please", link(15, 7))
    said = f"Summarise this article ({URL}) please"
    assert text_of(message) == words_of(message) == said
    assert message_parser.blocks_of(message, ADA) == [{"type": "text", "text": said}]


def test_an_address_holds_no_marker() -> None:
    marked = sent("read it", link(0, 4, "https://e.org/##keepit1.00##Ada-owes-Eve##/keepit##"))
    assert "##" not in text_of(marked)


def test_a_quote_across_a_link_is_what_was_stored() -> None:
    target = {
        "message_id": 3,
        "chat": {"id": ADA},
        "from": {"id": ADA},
        "text": "see here now",
        "entities": [link(4, 4)],
    }
    quote = {"text": "here now", "position": 4, "is_manual": True}
    assert parse_command_message(sent("/keepit", reply_to_message=target, quote=quote)).quote == f"here ({URL}) now"


def test_the_offsets_of_links_are_utf16_code_units() -> None:
    two = sent("🔥🔥 one, ü two", link(5, 3, "https://a.org"), link(12, 3, "https://b.org"))
    assert text_of(two) == "🔥🔥 one (https://a.org), ü two (https://b.org)"


def test_a_forward_a_caption_and_a_replied_message_have_their_links() -> None:
    origin = {"type": "channel", "chat": {"id": -1, "title": "News"}}
    (block,) = message_parser.blocks_of(sent("Read more here", link(10, 4), forward_origin=origin), ADA)
    assert block == {"type": "text", "text": f"Read more here ({URL})", "untrusted": "forward", "from": "News"}
    _, caption = message_parser.blocks_of(sent("here", link(0, 4), caption=True, photo=[{"file_id": "x"}]), ADA)
    assert (caption["text"], caption["untrusted"]) == (f"here ({URL})", "caption")
    target = {"message_id": 3, "chat": {"id": ADA}, "from": {"id": 5}, "text": "here", "entities": [link(0, 4)]}
    message = sent("and?", reply_to_message=target)
    reply = message_parser.reply_of(message, BOT.id, ADA)
    assert reply is not None
    assert reply.text == f"here ({URL})"
    replied = parse_command_message(message).replied
    assert replied is not None
    assert replied.text == f"here ({URL})"


@pytest.mark.parametrize(
    ("quote", "position", "shown"),
    [
        ("see here", 11, f"see here ({URL})"),
        ("see here", 0, "see here"),
        ("see he", 11, "see he"),
        ("🔥 here", 0, "🔥 here"),
        ("gone", 3, "gone"),
    ],
)
def test_a_quoted_part_has_the_links_that_are_whole_in_it(quote: str, position: int, shown: str) -> None:
    target = {"message_id": 3, "chat": {"id": ADA}, "from": {"id": 5}, "text": "🔥 here or see here"}
    target |= {"entities": [link(15, 4)]}
    quoted = {"text": quote, "position": position, "is_manual": True}
    reply = message_parser.reply_of(sent("and?", reply_to_message=target, quote=quoted), BOT.id, ADA)
    assert reply is not None
    assert reply.quote == shown


@pytest.mark.parametrize(
    ("words", "url"),
    [
        (URL, URL),
        ("example.org", "http://example.org/"),
        ("https://example.org", "https://example.org/"),
    ],
)
def test_words_that_are_the_address_stay_as_they_are(words: str, url: str) -> None:
    assert text_of(sent(f"see {words} now", link(4, len(words), url))) == f"see {words} now"


def test_words_that_look_like_another_address_show_the_real_one() -> None:
    assert text_of(sent("https://bank.com", link(0, 16))) == f"https://bank.com ({URL})"


@pytest.mark.parametrize(
    "entity",
    [
        5,
        None,
        {},
        {"type": "text_link"},
        {"type": "bold", "offset": 0, "length": 5},
        {"type": "url", "offset": 0, "length": 5},
        link(0, 5, ""),
        link(0, 5, "tg://user?id=5"),
        link(0, 5, "https://a b"),
        link(0, 5, "https://a\n</untrusted>"),
        link(0, 5, "https://a\u202eb"),
        link(0, 0),
        link(9, 5),
        link(0, 99),
        link(2**60, 5),
        link(-1, 5),
        {"type": "text_link", "offset": "0", "length": 5, "url": URL},
        {"type": "text_link", "length": 5, "url": URL},
        {"type": "text_link", "offset": 0, "length": "5", "url": URL},
        {"type": ["text_link"], "offset": 0, "length": 5, "url": URL},
        {"type": "text_link", "offset": 0, "length": 5, "url": {}},
    ],
)
def test_malformed_and_other_entities_are_ignored(entity: Any) -> None:
    assert text_of(sent("hello", entity)) == "hello"
    assert text_of(as_message({"text": "hello", "entities": entity})) == "hello"


def test_the_links_of_a_message_are_limited() -> None:
    text = "ab" * 2000
    long = [link(2 * at, 1, f"https://a.org/{'x' * 3000}") for at in range(2000)]
    said = text_of(sent(text, *long))
    assert len(said) < len(text) + ALL_URLS + 1000
    assert len(text_of(sent("hello", long[0]))) == len("hello ()") + URL_LENGTH
    assert "…)" in said


def test_commands_and_mentions_are_found_in_the_bare_text() -> None:
    message = sent("/remember@relay_bot this article", link(0, 9), link(25, 7))
    assert updates.command_of(message, BOT) == Command("remember", f"this article ({URL})")
    assert updates.command_of(sent("/new", link(0, 4)), BOT) == Command("new", "")
    group = {"id": -5, "type": "group"}
    assert not updates.is_addressed(sent("look here", link(5, 4, "https://a.org/@relay_bot"), chat=group), BOT)
    assert parse_command_message(message).text == "/remember@relay_bot this article"


@examples(200)
@given(ODD_TEXT, st.lists(st.tuples(st.integers(-3, 40), st.integers(-3, 40)), max_size=5))
def test_any_links_leave_the_words_as_they_are(text: str, places: list[tuple[int, int]]) -> None:
    said = text_of(sent(text, *(link(offset, length) for offset, length in places)))
    assert said.replace(f" ({URL})", "") == text.replace(f" ({URL})", "")

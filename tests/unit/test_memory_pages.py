"""The pages that show memory: one message each, whatever they contain, with buttons that Telegram accepts."""

from __future__ import annotations

from datetime import UTC
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.commands.memory.browse import PAGE
from relay.core.frozen import as_json
from relay.core.text import escape_markdown
from relay.memory.calls.base import decode_row
from relay.memory.rows.changes import ChangePage, ListedChange
from relay.memory.rows.memories import MemoryLine, MemoryPage, MemorySource, OpenedMemory, Posted
from relay.surfaces.chat.links import link_to
from relay.surfaces.chat.memory.cards import card
from relay.surfaces.chat.memory.origin import cut_around, origin, quote
from relay.surfaces.chat.memory_pages import CommandReply, cut_units, history_page, list_page, people_page
from relay.surfaces.chat.memory_views import CHOSEN, View
from relay.surfaces.telegram.formatting.format import Formatted, format_reply
from tests.strategies import examples

Json = dict[str, Any]
ADA, BEN = 1001, 1002
AT = "2026-05-03T22:30:00.5+00:00"
PLACE = f" in {escape_markdown('“Chess * club”')}"
NASTY = st.one_of(
    st.text(max_size=600),
    st.text(st.sampled_from("*_`[]()<>#|~$!&\\-+=.1 \n\t:🎻é\u0301\u202e\u200b"), max_size=900),
    st.text(min_size=1, max_size=60).map(lambda text: text * 40),
    st.sampled_from(
        ["- list", "1. one", "# head", "---", "> quote", "```\ncode", "|a|b|\n|-|-|", "$$x$$", "🎻" * 2500]
    ),
)
IDS = st.integers(1, 2**53) | st.sampled_from([2**63 - 1])
VIEWS = (
    st.builds(View.search, NASTY) | st.builds(View, st.sampled_from("".join(CHOSEN))) | st.just(View("u" + "9" * 16, 4))
)


def memory(number: int = 12, content: str = "likes tea", **more: Any) -> OpenedMemory:
    row = {"id": number, "number": number, "space": {"kind": "private", "owner_id": ADA},
           "kind": "fact", "subject": "Ada", "subject_id": ADA, "content": content,
           "category": None, "tags": [], "pinned": False, "created_at": AT, "updated_at": AT, "status": "active",
           "tainted": False, "by": "tag", "space_id": 7, "last": None, "importance": 5, "confidence": 1,
           "valid_from": None, "valid_until": None, "uses": 0, "last_used_at": None, "evidence": 0, "faded": False,
           "replaced_by": None, "replaced_number": None,
           "promoted_by": None}  # fmt: skip
    return decode_row(OpenedMemory, row | more)


def known(*rows: MemoryLine, **more: Any) -> MemoryPage:
    base = {"space_id": 7, "total": len(rows), "facts": len(rows), "learnings": 0, "pinned": 0, "matching": len(rows),
            "offset": 0, "pending": 0, "categories": {}, "kinds": {}, "past": 0, "people": [],
            "memories": [as_json(row) for row in rows]}  # fmt: skip
    return decode_row(MemoryPage, base | more)


def change(number: int = 5, action: str = "learn", status: str = "applied", **more: Any) -> ListedChange:
    row = {"id": number, "action": action, "status": status, "memory_id": 12, "kind": "fact", "subject": "Ada",
           "subject_id": ADA, "content": "likes tea", "before": None, "at": AT, "yours": True}  # fmt: skip
    return decode_row(ListedChange, row | more)


def history(*changes: ListedChange, **more: Any) -> ChangePage:
    base = {"space_id": 7, "total": len(changes), "pending": 0, "offset": 0, "changes": changes}
    return decode_row(ChangePage, base | more)


SAID: Json = {"role": "user", "name": "Ada", "user_id": ADA, "at": AT, "text": "I like tea", "foreign": []}


def source(**more: Any) -> MemorySource:
    base = {"elsewhere": False, "said": SAID, "answer": None, "at": AT, "tools": [], "reply_to": None, "chat_id": ADA,
            "topic_id": 0, "topic": None, "posted": None}  # fmt: skip
    return decode_row(MemorySource, base | more)


def one(page: CommandReply) -> Formatted:
    """The single message of a page. Asserts that Telegram accepts its buttons."""
    (message,) = format_reply(page.text)
    assert len(message.text.encode("utf-16-le")) // 2 <= 4096
    assert len(message.entities) <= 100
    for row in page.rows:
        assert 0 < len(row) <= 8
        for button in row:
            assert button.text.strip()
            assert len(button.text) <= 64
            assert 0 < len(button.callback_data.encode()) <= 64
            kind, *parts = button.callback_data.split(":")
            assert kind in {
                *("ml", "mo", "mw", "mp", "mq", "mg", "mf", "mc", "mb", "mu", "md", "mh", "mr", "mv", "e", "ma", "mk")
            }
            assert len(parts) == {"e": 1, "mb": 1, "mk": 1, "md": 3, "mv": 3}.get(kind, 2)
    return message


def labels(page: CommandReply) -> list[str]:
    return [button.text for row in page.rows for button in row]


def data(page: CommandReply, label: str) -> str:
    return next(button.callback_data for row in page.rows for button in row if label in button.text)


# Any content


@examples(150)
@given(contents=st.lists(NASTY, min_size=1, max_size=PAGE), name=NASTY, view=VIEWS, number=IDS, group=st.booleans())
def test_a_list_of_any_memories_is_one_message(
    contents: list[str], name: str, view: View, number: int, group: bool
) -> None:
    rows = [memory(number - n, text, subject=name, pinned=True, kind="learning") for n, text in enumerate(contents)]
    counts = {"identity": 10_000, "knowledge": 1, "operational": 3}
    people = [{"id": 2**52, "name": name, "memories": 10_000}] * 40 if group else []
    everything = known(*rows, space_id=number, total=10**9, matching=10**6, offset=8000, facts=5, learnings=7, pinned=8,
                       categories=counts, people=people, pending=9)  # fmt: skip
    page = list_page(everything, view, f" in {escape_markdown(name[:60])}" if group else "", UTC)
    assert all(f"#{row.id}" in one(page).text for row in rows)
    one(people_page(everything, f" in {escape_markdown(name[:60])}"))


@examples(150)
@given(content=NASTY, name=NASTY, view=VIEWS, number=IDS, tags=st.lists(NASTY, max_size=10), said=NASTY)
def test_a_card_of_any_memory_is_one_message(
    content: str, name: str, view: View, number: int, tags: list[str], said: str
) -> None:
    row = memory(number, content, subject=name, tags=tags, category=name, pinned=True, updated_at="2027-01-01T00:00Z",
                 last={"id": number, "action": "pin"}, tainted=True, space_id=number)  # fmt: skip
    assert one(card(row, view, UTC, ADA, True, said[:200])).text
    heard = {"role": "user", "name": name, "user_id": BEN, "at": AT, "text": said,
             "foreign": [{"kind": name, "from": name}, {"kind": None, "from": None}]}  # fmt: skip
    came = source(said=heard, answer=heard | {"role": "assistant"}, topic=name, topic_id=3, chat_id=-(10**12) - number,
                  tools=["web_search"], reply_to={"own": False, "by": name},
                  posted={"chat_id": -(10**12) - number, "message_id": number})  # fmt: skip
    assert one(origin(row, came, view, UTC, ADA, name)).text


@examples(100)
@given(
    contents=st.lists(NASTY, min_size=1, max_size=PAGE),
    name=NASTY,
    number=IDS,
    status=st.sampled_from(["applied", "pending", "undone", "discarded"]),
    action=st.sampled_from(["learn", "refresh", "forget", "pin"]),
)
def test_a_list_of_any_changes_is_one_message(
    contents: list[str], name: str, number: int, status: str, action: str
) -> None:
    rows = [change(number - n, action, status, content=text, before=text + "!", subject=name)
            for n, text in enumerate(contents)]  # fmt: skip
    found = history(*rows, space_id=number, total=10**8, pending=10**7, offset=80)
    for waiting in (True, False):
        one(history_page(found, waiting, PLACE, UTC))


@examples(200)
@given(st.text(st.sampled_from("ab*_`[]()<>#|~$!&\\-+=.1:\"'"), min_size=1, max_size=80))
def test_a_quote_shows_just_the_text(text: str) -> None:
    (message,) = format_reply(f"x\n\n{quote(text)}")
    assert message.text == f"x\n\n{text}"
    assert [entity["type"] for entity in message.entities] == ["blockquote"]


@given(NASTY, st.integers(2, 300))
def test_a_cut_text_fits(text: str, units: int) -> None:
    assert len(cut_units(text, units).encode("utf-16-le", "replace")) // 2 <= units


# Views


@given(VIEWS, st.integers(1, 10**6 - 1))
def test_a_view_survives_encoding(view: View, page: int) -> None:
    turned = View(view.chosen, page, view.words)
    assert View.decode(turned.encode()) == turned
    assert ":" not in turned.encode()


@pytest.mark.parametrize(
    "text", ["", "a", "zz.1", "u.1", "ux.1", "w.1", "a.-1", "a.x", "u" + "1" * 30, "a.0", "a.1.tea"]
)
def test_a_malformed_view_is_the_first_page_of_all(text: str) -> None:
    assert View.decode(text) == View()


@pytest.mark.parametrize(("text", "words"), [
    ("tea", "tea"), (" green \n tea ", "green tea"), ("a:b", "a b"), ("x" * 50, "x" * 32),
    ("крепкий зелёный чай с мёдом", "крепкий зелёный"), ("茶" * 20, "茶" * 10),
    ("one two three four five six seve n", "one two three four five six seve"),
])  # fmt: skip
def test_a_search_keeps_the_words_that_fit(text: str, words: str) -> None:
    assert View.search(text) == View("w", 1, words)


# What is shown


def test_a_list_shows_number_mark_text_and_date_of_each_memory() -> None:
    page = list_page(known(memory(12, "likes *tea*", pinned=True), memory(11, "tabs", kind="learning")), View(), "",
                     ZoneInfo("Europe/Berlin"))  # fmt: skip
    text = one(page).text
    assert "#12 📌 likes *tea* · 2026-05-04" in text
    assert "#11 ◆ tabs" in text
    assert "Ada" not in text
    assert labels(page) == ["#12", "#11", "🕘 Changes", "⚙️"]
    assert data(page, "#12") == "mo:12:a.1"


def test_a_groups_list_names_the_group_and_its_people() -> None:
    people = [{"id": ADA, "name": "Ada", "memories": 1}]
    page = list_page(known(memory(), people=people), View(f"u{ADA}"), PLACE, UTC)
    text = one(page).text
    assert text.startswith("What I know in “Chess * club” · about Ada (1 of 1)")
    assert "#12 Ada: likes tea" in text
    assert data(page, "By person") == "mb:7"
    assert data(page, "My own") == "ml:0:a.1"


def test_page_buttons_lead_only_to_existing_pages() -> None:
    def turned(offset: int, matching: int) -> list[str]:
        page = list_page(known(memory(), matching=matching, offset=offset), View("f", 1), "", UTC)
        return [label for label in labels(page) if label[0] in "«‹›»p"]

    assert turned(0, 8) == []
    assert turned(0, 9) == ["page 1 of 2", "›", "»"]
    assert turned(8, 17) == ["«", "‹", "page 2 of 3", "›", "»"]
    assert turned(16, 17) == ["«", "‹", "page 3 of 3"]
    page = list_page(known(memory(), matching=17, offset=8), View("w", 2, "tea"), "", UTC)
    assert data(page, "›") == "ml:7:w.3.tea"
    assert data(page, "#12") == "mo:12:w.2.tea"


def test_filters_are_shown_only_if_there_is_a_choice() -> None:
    mixed = known(memory(), total=9, facts=6, learnings=3, pinned=1, categories={"identity": 1, "operational": 2})
    assert labels(list_page(mixed, View(), "", UTC))[1:] == [
        "• All", "Facts 6", "Learnings 3", "📌 Pinned 1", "🕘 Changes", "⚙️"
    ]  # fmt: skip
    page = list_page(mixed, View("o"), "", UTC)
    assert {"Identity 1", "• Operational 2"} <= set(labels(page))
    assert data(page, "Operational") == "ml:7:o.1"


def test_empty_lists_say_whether_nothing_is_known_or_found() -> None:
    assert "I don't know anything yet" in one(list_page(known(space_id=None), View(), "", UTC)).text
    assert labels(list_page(known(space_id=None), View(), "", UTC)) == []
    nothing = list_page(known(total=4, facts=4, pending=1), View("w", 1, "tea"), "", UTC)
    assert "“tea”** (0 of 4)" in nothing.text
    assert "Nothing here matches that" in one(nothing).text
    assert "1 waiting for your tap" in one(nothing).text
    assert data(nothing, "1 waiting") == "mc:7:w.1"


def test_a_card_shows_all_details_and_the_permitted_buttons() -> None:
    row = memory(content="likes tea\n\n- and cake", category="identity", tags=["a", "b"], kind="learning",
                 subject=None, subject_id=None, updated_at="2026-05-05T00:00:00+00:00",
                 last={"id": 90, "action": "refresh"})  # fmt: skip
    page = card(row, View("l", 3), UTC, ADA, True, "📌 Pinned: x", edits=True)
    text = one(page).text
    for part in ("Learning #12", "likes tea\n- and cake", "learned 2026-05-03 22:30: I noticed it in a conversation",
                 "last changed 2026-05-05", "category: identity", "tags: a, b", "📌 Pinned: x"):  # fmt: skip
        assert part in text
    assert labels(page) == ["✎ Edit", "🗑 Forget", "📌 Pin", "✔ Confirm", "Source", "🕘 History", "↩ Undo rewording",
                            "‹ Back"]  # fmt: skip
    assert data(page, "✔ Confirm") == "mg:12:l.3"
    sure = card(memory(confidence=1.0, validated_at="2026-05-05T00:00:00+00:00"), View(), UTC, ADA, True)
    assert "✔ Confirm" not in labels(sure)
    assert "importance: 5 of 10, confirmed" in one(sure).text
    assert "importance: 5 of 10, 80% sure" in one(card(memory(confidence=0.8), View(), UTC, ADA, True)).text
    assert data(page, "Back") == "ml:7:l.3"
    assert data(page, "Undo") == "mu:90:l.3"
    assert data(card(memory(pinned=True), View(), UTC, ADA, True), "Unpin") == "mq:12:a.1"
    other = card(memory(), View(), UTC, BEN, False)
    assert labels(other) == ["Source", "🕘 History", "‹ Back"]
    assert "the person it's about" in one(other).text
    waiting = card(memory(status="pending"), View(), UTC, ADA, True, edits=True)
    assert labels(waiting) == ["✎ Edit", "Source", "🕘 History", "⏳ Keep or discard…", "‹ Back"]
    gone = card(memory(status="forgotten", last={"id": 4, "action": "forget"}), View(), UTC, ADA, True)
    assert labels(gone) == ["Source", "🕘 History", "↩ Undo forgetting", "‹ Back"]
    assert "Forgotten; I no longer use it" in one(gone).text


@pytest.mark.parametrize(("more", "viewer", "told"), [
    ({"by": "user"}, ADA, "you asked me to remember it"),
    ({"by": "user"}, BEN, "Ada asked me to remember it"),
    ({"tainted": True}, ADA, "confirmed by a tap"),
    ({"tainted": True, "status": "pending"}, ADA, "never confirmed"),
])  # fmt: skip
def test_a_card_says_how_it_was_learned(more: Json, viewer: int, told: str) -> None:
    assert told in one(card(memory(**more), View(), UTC, viewer, True)).text


def test_the_origin_page_quotes_who_said_it_when_and_where() -> None:
    answer = {"role": "assistant", "name": None, "user_id": ADA, "at": AT, "text": "Nice tea", "foreign": []}
    came = source(answer=answer, topic="Trips", topic_id=4, chat_id=-1001234,
                  posted={"chat_id": -1001234567890, "message_id": 55})  # fmt: skip
    message = one(origin(memory(), came, View("f", 2), ZoneInfo("Europe/Berlin"), BEN, "Chess"))
    assert "Ada said, 2026-05-04 00:30 in “Chess”, topic “Trips”:" in message.text
    assert "I like tea" in message.text
    assert "I noted it in my answer of 2026-05-04 00:30:\n\nNice tea" in message.text
    (link,) = [entity["url"] for entity in message.entities if entity["type"] == "text_link"]
    assert link == "https://t.me/c/1234567890/4/55"
    assert "You said" in one(origin(memory(), came, View(), UTC, ADA, "")).text
    without_topics = source(topic="Chess", topic_id=0, chat_id=-1001234)
    assert "22:30 in “Chess”:" in one(origin(memory(), without_topics, View(), UTC, BEN, "Chess")).text


@pytest.mark.parametrize(("more", "row", "told"), [
    ({"said": None}, {}, "The original message is gone"),
    ({"said": None, "elsewhere": True}, {"tainted": True}, "comes from another chat, which I don't show here"),
    ({"said": None}, {"by": "user"}, "You told me with /remember, 2026-05-03 22:30 in our private chat."),
    ({"chat_id": -5}, {}, "in a group:"), ({"chat_id": 0}, {}, "in the terminal:"), ({"chat_id": None}, {}, "22:30:"),
    ({"tools": ["web_fetch"]}, {"tainted": True}, "other people's words: web pages that I read."),
    ({"reply_to": {"own": False, "by": "Eve"}}, {"tainted": True}, "a message by Eve that was replied to."),
    ({}, {"tainted": True}, "other people's words: earlier in that conversation."),
])  # fmt: skip
def test_the_origin_page_says_when_the_source_is_not_available(more: Json, row: Json, told: str) -> None:
    message = one(origin(memory(**row), source(**more), View(), UTC, ADA, ""))
    assert told in message.text
    assert not [entity for entity in message.entities if entity["type"] == "text_link"]


def test_the_origin_page_names_forwarded_sources() -> None:
    said = SAID | {"foreign": [{"kind": "forward", "from": "Ben"}, {"kind": "caption", "from": None}]}
    told = one(origin(memory(tainted=True), source(said=said), View(), UTC, ADA, "")).text
    assert "other people's words: forwarded from Ben; the caption of a file." in told


@pytest.mark.parametrize(("kind", "by", "words"), [
    ("document", None, "words: a document."), ("poll", None, "words: a poll."), ("paid_media", None, "paid media."),
    ("reply", "Ben", "a replied-to file by Ben."), ("bot", "pic", "sent through the bot pic."),
    ("caption", "", "the caption of a file."), (None, None, "words: a text."),
])  # fmt: skip
def test_the_origin_page_names_files_and_special_messages(kind: str | None, by: str | None, words: str) -> None:
    said = SAID | {"foreign": [{"kind": kind, "from": by}]}
    assert words in one(origin(memory(tainted=True), source(said=said), View(), UTC, ADA, "")).text


@pytest.mark.parametrize(("posted", "topic", "link"), [
    ({"chat_id": -1001234567890, "message_id": 5}, 0, "https://t.me/c/1234567890/5"),
    ({"chat_id": -1001234567890, "message_id": 5}, 9, "https://t.me/c/1234567890/9/5"),
    ({"chat_id": -1234, "message_id": 5}, 0, ""), ({"chat_id": 1001, "message_id": 5}, 3, ""),
    ({"chat_id": -1001234567890, "message_id": None}, 0, ""), (None, 0, ""),
])  # fmt: skip
def test_only_supergroups_have_links(posted: Json | None, topic: int, link: str) -> None:
    assert link_to(Posted(**posted) if posted else None, topic) == link


def test_a_long_source_is_quoted_around_the_learned_text() -> None:
    text = "so " * 900 + "and by the way I keep bees in Bergen " + "so " * 900
    shown = cut_around(text, "Ada keeps bees in Bergen")
    assert "bees in Bergen" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= 602
    assert cut_around("short", "anything") == "short"
    assert cut_around(text, "xyz").startswith("so so")


def test_the_change_list_shows_outcomes_and_offers_open_decisions() -> None:
    rows = [
        change(9, "pin"),
        change(8, "refresh", before="likes coffee"),
        change(7, "forget", "pending"),
        change(6, "learn", "undone"),
        change(5, "learn", "applied", yours=False),
        change(4, "learn", "discarded"),
    ]
    found = history(*rows, total=20, pending=1, offset=8)
    page = history_page(found, False, "", UTC)
    text = one(page).text
    assert text.startswith("Changes (20, page 2 of 3)")
    assert "• 1 · 2026-05-03 22:30 · 📌 Pinned: likes tea" in text
    assert "🧠 Updated: likes tea (was: likes coffee)" in text
    assert "🧠 Learned: likes tea – undone" in text
    assert "🧠 Learned: likes tea – discarded" in text
    assert labels(page) == ["🗑 Forget 3", "✖ Discard 3", "↩ Undo 1", "↩ Undo 2", "«", "‹", "page 2 of 3", "›", "»",
                            "‹ What I know", "⏳ 1 waiting"]  # fmt: skip
    assert data(page, "Undo 2") == "md:8:u:a.2"
    waiting = history_page(history(*rows[2:3], total=20, pending=1), True, PLACE, UTC)
    assert one(waiting).text.startswith("Waiting for your tap in “Chess * club” (1)")
    assert data(waiting, "Discard") == "md:7:x:w.1"


@pytest.mark.parametrize("active", [0, 2])
def test_past_memories_are_counted_by_themselves(active: int) -> None:
    page = list_page(known(memory(status="archived"), total=active, past=1, matching=1), View("z"), "", UTC)
    assert "🗄 Past** (1)" in page.text
    assert "I don't know anything" not in page.text

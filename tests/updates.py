"""Updates as Telegram sends them, of every kind and with everything that a message can carry, and malformed ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from relay.surfaces.chat import BUTTONS, COMMANDS
from tests.strategies import ODD, ODD_TEXT, altered, json_of, nested, replies

Json = dict[str, Any]
ADA, BEN, STRANGER, BOT = 1001, 1002, 6666, 77
GROUP = -1001234567890
FIELDS = (
    "chat", "from", "id", "type", "text", "caption", "message_id", "date", "reply_to_message", "message", "data",
    "forward_origin", "via_bot", "photo", "document", "file_id", "media_group_id", "quote", "new_chat_member", "status",
    "edited_message", "callback_query", "left_chat_member", "migrate_to_chat_id", "is_topic_message",
)  # fmt: skip
FILE = {"file_id": "no-such-file", "file_unique_id": "u1", "file_size": 10, "width": 9, "height": 9, "duration": 1}
PLACE = {"latitude": 52.5, "longitude": 13.4}
BEN_IS = {"id": BEN, "is_bot": False, "first_name": "Ben"}

user_ids = st.sampled_from([ADA, ADA, ADA, BEN, STRANGER, BOT])
users = st.builds(
    lambda number, name: {"id": number, "is_bot": number == BOT, "first_name": name}, user_ids, ODD_TEXT | st.just("A")
)
chats = st.one_of(
    st.builds(lambda number: {"id": number, "type": "private", "first_name": "Ada"}, user_ids),
    st.just({"id": GROUP, "type": "supergroup", "title": "Friends", "is_forum": True}),
    st.just({"id": -44, "type": "group", "title": "Small"}),
    st.just({"id": -1009, "type": "channel", "title": "News"}),
)
commands = st.builds(
    lambda name, at, rest: f"/{name}{at} {rest}".strip(),
    st.sampled_from([*COMMANDS, "nonsense"]), st.sampled_from(["", "", "@relay_bot", "@other_bot"]), ODD_TEXT,
)  # fmt: skip
texts = st.one_of(ODD_TEXT, replies, commands, st.sampled_from(["hello", "@relay_bot hello", "x" * 4096, "/say"]))
carried = st.sampled_from(
    [
        {"photo": [FILE, FILE | {"width": 90}]}, {"photo": []}, {"document": FILE | {"file_name": "a.pdf"}},
        {"voice": FILE}, {"audio": FILE | {"title": "t"}}, {"video": FILE}, {"video_note": FILE | {"length": 9}},
        {"animation": FILE, "document": FILE}, {"sticker": FILE | {"emoji": "🎲", "is_animated": True}},
        {"location": PLACE}, {"location": PLACE | {"live_period": 900}},
        {"venue": {"title": "Café", "address": "A 1", "location": PLACE}, "location": PLACE},
        {"contact": {"first_name": "Ben", "phone_number": "+491"}},
        {"poll": {"id": "1", "question": "Tea?", "options": [{"text": "yes", "voter_count": 1}], "type": "quiz"}},
        {"dice": {"emoji": "🎰", "value": 64}}, {"game": {"title": "Snake", "description": "eat", "photo": [FILE]}},
        {"checklist": {"title": "Trip", "tasks": [{"id": 1, "text": "Pack"}]}},
        {"rich_message": {"blocks": [{"type": "paragraph", "text": ["Tea ", {"type": "bold", "text": "?"}]}]}},
        {"story": {"chat": {"id": 9, "type": "private"}, "id": 3}}, {"paid_media": {"star_count": 5, "paid_media": []}},
        {"gift": {"gift": {"sticker": FILE, "star_count": 15}}}, {"giveaway": {"winner_count": 5}},
        {"users_shared": {"request_id": 1, "users": [{"user_id": 5}]}}, {"chat_shared": {"chat_id": 5}},
        {"invoice": {"title": "Tea", "currency": "EUR", "total_amount": 1}}, {"web_app_data": {"data": "x"}},
        {"new_chat_members": [BEN_IS]}, {"left_chat_member": BEN_IS}, {"new_chat_title": "T"}, {"pinned_message": {}},
        {"forum_topic_created": {"name": "Tea", "icon_color": 1}}, {"forum_topic_edited": {"name": "Coffee"}},
        {"forum_topic_closed": {}}, {"general_forum_topic_hidden": {}}, {"group_chat_created": True},
        {"migrate_to_chat_id": -1007}, {"migrate_from_chat_id": -44}, {"successful_payment": {"currency": "XTR"}},
        {"video_chat_started": {}}, {"write_access_allowed": {}}, {"passport_data": {}},
    ]
)  # fmt: skip
around = st.sampled_from(
    [
        {}, {}, {}, {"message_thread_id": 7, "is_topic_message": True}, {"message_thread_id": 7},
        {"media_group_id": "55"}, {"via_bot": {"id": 5, "is_bot": True, "first_name": "Gif"}},
        {"forward_origin": {"type": "user", "sender_user": BEN_IS, "date": 1}, "forward_date": 1},
        {"forward_origin": {"type": "hidden_user", "sender_user_name": "Eve", "date": 1}},
        {"forward_origin": {"type": "channel", "chat": {"id": -1, "title": "News"}, "message_id": 1, "date": 1}},
        {"quote": {"text": "words", "position": 0, "is_manual": True}}, {"edit_date": 1_700_000_001},
        {"external_reply": {"origin": {"type": "user", "sender_user": BEN_IS}, "photo": [FILE]}},
        {"reply_to_message": nested(60)}, {"entities": [{"type": "bold", "offset": 0, "length": 99}]},
        {"link_preview_options": {"is_disabled": True}, "has_protected_content": True, "is_from_offline": True},
    ]
)  # fmt: skip


@st.composite
def messages(draw: st.DrawFn) -> Json:
    """A message from anybody in any chat, with text or content, that may reply to another."""
    chat = draw(chats)
    made: Json = {"message_id": draw(st.integers(1, 2**31)), "date": 1_700_000_000, "chat": chat, "from": draw(users)}
    if draw(st.booleans()):
        made["text"] = draw(texts)
    else:
        made |= draw(carried) | draw(st.just({}) | st.builds(lambda text: {"caption": text}, texts))
    made |= draw(around)
    if draw(st.integers(0, 3)) == 0:
        author = draw(st.sampled_from([BEN_IS, {"id": BOT, "is_bot": True, "first_name": "Relay"}]))
        words = draw(st.sampled_from(["✎ soul #1", "✎ edit #9 Reply", "🎤 what was heard", "words"]) | texts)
        made["reply_to_message"] = {"message_id": 5, "date": 1, "chat": chat, "from": author, "text": words}
    return made


presses = st.one_of(
    st.builds(
        lambda kind, given: ":".join([kind, *given]),
        st.sampled_from(sorted([*BUTTONS, "r", "w", "a", "n", "zz"])),
        st.lists(st.sampled_from(["1", "0", "-1", "k", "u", "x", "all", "", "f", str(2**63), "9" * 30, "١"]) | ODD_TEXT,
                 max_size=4),
    ),
    ODD_TEXT,
)  # fmt: skip
"""Callback data of buttons: from this version, from others, and forged."""
members = st.builds(
    lambda status, user: {"user": user, "status": status},
    st.sampled_from(["member", "left", "kicked", "administrator", "restricted", "odd"]), users,
)  # fmt: skip


def _kind(name: str, **fields: Any) -> st.SearchStrategy[Json]:
    made = {key: one if isinstance(one, st.SearchStrategy) else st.just(one) for key, one in fields.items()}
    return st.fixed_dictionaries(made).map(lambda body: {name: body})


said = st.one_of(
    *(
        messages().map(lambda body, name=name: {name: body})
        for name in (
            "message", "message", "message", "message", "edited_message", "channel_post", "edited_channel_post",
            "business_message", "edited_business_message",
        )
    )
)  # fmt: skip
reactions = st.lists(
    st.sampled_from([{"type": "emoji", "emoji": "✍"}, {"type": "custom_emoji", "custom_emoji_id": "5"}]), max_size=2
)
told = st.one_of(
    _kind("callback_query", **{"id": "1", "from": users, "message": messages(), "chat_instance": "1", "data": presses}),
    _kind("callback_query", **{"id": "1", "from": users, "inline_message_id": "9", "data": presses}),
    _kind("message_reaction", chat=chats, message_id=st.integers(1, 99), user=users, date=1, old_reaction=reactions,
          new_reaction=reactions),
    _kind("message_reaction_count", chat=chats, message_id=1, date=1, reactions=st.just([])),
    _kind("my_chat_member", **{"chat": chats, "from": users, "date": 1, "old_chat_member": members,
                               "new_chat_member": members}),
    _kind("chat_member", **{"chat": chats, "from": users, "date": 1, "old_chat_member": members,
                            "new_chat_member": members}),
    _kind("stopped_message_generation", chat=chats, message_thread_id=st.integers(0, 9), draft_id=st.integers(0, 99)),
    _kind("inline_query", **{"id": "1", "from": users, "query": texts, "offset": ""}),
    _kind("chosen_inline_result", **{"result_id": "1", "from": users, "query": texts}),
    _kind("shipping_query", **{"id": "1", "from": users, "invoice_payload": texts}),
    _kind("pre_checkout_query", **{"id": "1", "from": users, "currency": "XTR", "total_amount": 1}),
    _kind("purchased_paid_media", **{"from": users, "paid_media_payload": texts}),
    _kind("poll", id="1", question=texts, options=st.just([]), total_voter_count=0),
    _kind("poll_answer", poll_id="1", user=users, option_ids=st.just([0])),
    _kind("chat_join_request", **{"chat": chats, "from": users, "user_chat_id": 1, "date": 1}),
    _kind("chat_boost", chat=chats, boost={"boost_id": "1"}),
    _kind("removed_chat_boost", chat=chats, boost_id="1", remove_date=1),
    _kind("business_connection", id="1", user=users, user_chat_id=1, date=1, is_enabled=True),
    _kind("deleted_business_messages", business_connection_id="1", chat=chats, message_ids=st.just([1])),
)  # fmt: skip
shaped = st.one_of(said, said, told)
"""Well-formed updates that Telegram may send."""
mutated = shaped.flatmap(lambda update: st.fixed_dictionaries({kind: altered(body) for kind, body in update.items()}))
"""The same with something missing or replaced."""
random_updates = st.one_of(
    st.dictionaries(st.sampled_from(["message", "edited_message", "callback_query", "my_chat_member", "odd"]),
                    json_of(*FIELDS, leaves=ODD | user_ids | st.sampled_from(["private", "supergroup"])), max_size=3),
    st.integers(1, 400).map(lambda depth: {"message": nested(depth)}),
)  # fmt: skip
updates = st.one_of(shaped, mutated, random_updates)

"""An update of every type of the Bot API, from one person."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tests.standins.telegram.values import Chat, Json, User

MEMBER, LEFT = "member", "left"


def every_update(user: User, dm: Chat, group: Chat, word: str) -> Iterator[Json]:
    """Yield every update that a bot can get about a person's acts, in their own chat and in a group. Each text contains
    `word`.

    Follows the Bot API's `Update`, field by field. A bot gets `chosen_inline_result` and business updates only if it
    asked for them; here they are delivered as if it had.
    """
    chats = (dm.json(), group.json())
    who, now = user.json(), int(time.time())
    numbers = iter(range(900_001, 910_000))

    def message(chat: Json, **more: object) -> Json:
        return {"message_id": next(numbers), "from": who, "chat": chat, "date": now, **more}

    for chat in chats:
        said = message(chat, text=f"{word} said")
        yield {"message": said}
        yield {"edited_message": said | {"text": f"{word} edited", "edit_date": now}}
        yield from ({"message": message(chat, **more)} for more in contents(word, who, now))
        yield {
            "message_reaction": {
                "chat": chat, "message_id": said["message_id"], "user": who, "date": now, "old_reaction": [],
                "new_reaction": [{"type": "emoji", "emoji": "👍"}],
            }
        }  # fmt: skip
        yield {
            "message_reaction_count": {
                "chat": chat, "message_id": said["message_id"], "date": now,
                "reactions": [{"type": {"type": "emoji", "emoji": "👍"}, "total_count": 3}],
            }
        }  # fmt: skip
        yield {"callback_query": {"id": word, "from": who, "chat_instance": "1", "message": said, "data": f"r:{word}"}}
        yield {
            "callback_query": {"id": word, "from": who, "chat_instance": "1", "inline_message_id": word, "data": "n"}
        }
        yield {
            "callback_query": {"id": word, "from": who, "chat_instance": "1", "message": said, "game_short_name": word}
        }
        for kind in ("my_chat_member", "chat_member"):
            old, new = ({"user": who, "status": status} for status in (LEFT, MEMBER))
            yield {kind: {"chat": chat, "from": who, "date": now, "old_chat_member": old, "new_chat_member": new}}
        yield {
            "chat_join_request": {"chat": chat, "from": who, "user_chat_id": user.id, "date": now, "bio": f"{word} bio"}
        }
        boost = {
            "boost_id": word,
            "add_date": now,
            "expiration_date": now + 9,
            "source": {"source": "premium", "user": who},
        }
        yield {"chat_boost": {"chat": chat, "boost": boost}}
        yield {"removed_chat_boost": {"chat": chat, "boost_id": word, "remove_date": now, "source": boost["source"]}}
        business = message(chat, text=f"{word} in business", business_connection_id=word)
        yield {"business_message": business}
        yield {"edited_business_message": business | {"edit_date": now}}
        yield {"guest_message": business}
        yield {"deleted_business_messages": {"business_connection_id": word, "chat": chat, "message_ids": [1, 2]}}
        yield {"stopped_message_generation": {"chat": chat, "draft_id": 1}}
    channel = {"id": -1_009_000_000_001, "type": "channel", "title": f"{word} channel"}
    post = {"message_id": 7, "sender_chat": channel, "chat": channel, "date": now, "text": f"{word} in a channel"}
    yield {"channel_post": post}
    yield {"edited_channel_post": post | {"edit_date": now}}
    yield {"message": {**message(chats[1]), "sender_chat": channel, "text": f"{word} as a channel"}}
    yield {
        "message": {**message(chats[1]), "is_automatic_forward": True, "sender_chat": channel, "text": f"{word} auto"}
    }
    yield {
        "business_connection": {
            "id": word, "user": who, "user_chat_id": user.id, "date": now, "is_enabled": True, "can_reply": True
        }
    }  # fmt: skip
    yield {"inline_query": {"id": word, "from": who, "query": f"{word} inline", "offset": "", "chat_type": "sender"}}
    yield {"chosen_inline_result": {"result_id": word, "from": who, "query": f"{word} chosen"}}
    address = {"country_code": "DE", "state": "", "city": word, "street_line1": "", "street_line2": "", "post_code": ""}
    yield {"shipping_query": {"id": word, "from": who, "invoice_payload": word, "shipping_address": address}}
    yield {
        "pre_checkout_query": {
            "id": word, "from": who, "currency": "XTR", "total_amount": 1, "invoice_payload": f"{word} payload"
        }
    }  # fmt: skip
    yield {"purchased_paid_media": {"from": who, "paid_media_payload": f"{word} paid"}}
    poll = {"id": word, "question": f"{word} poll", "options": [{"text": word, "voter_count": 1}], "type": "regular"}
    yield {"poll": poll | {"total_voter_count": 1, "is_closed": False, "is_anonymous": True}}
    yield {"poll_answer": {"poll_id": word, "user": who, "option_ids": [0]}}
    yield {"managed_bot": {"user": who, "bot": {"id": 9, "is_bot": True, "first_name": f"{word} bot"}}}
    yield {"an_update_of_the_future": message(chats[0], text=f"{word} of the future")}


def contents(word: str, who: Json, now: int) -> Iterator[Json]:
    """Yield what a message may hold besides text and files, and what may accompany it."""
    yield {"contact": {"phone_number": "1", "first_name": f"{word} contact"}}
    yield {"location": {"latitude": 1.0, "longitude": 2.0}, "caption": word}
    yield {"venue": {"location": {"latitude": 1.0, "longitude": 2.0}, "title": f"{word} venue", "address": word}}
    yield {"poll": {"id": "1", "question": f"{word} poll", "options": [], "type": "quiz", "explanation": word}}
    yield {"dice": {"emoji": "🎲", "value": 3}}
    yield {"game": {"title": word, "description": f"{word} game", "photo": []}}
    yield {"checklist": {"title": f"{word} list", "tasks": [{"id": 1, "text": word}]}}
    yield {"rich_message": {"blocks": [{"type": "paragraph", "text": [{"type": "bold", "text": word}]}]}}
    yield {"story": {"id": 1, "chat": {"id": 5, "type": "private", "first_name": word}}}
    yield {
        "invoice": {"title": word, "description": word, "start_parameter": word, "currency": "XTR", "total_amount": 1}
    }
    yield {"successful_payment": {"currency": "XTR", "total_amount": 1, "invoice_payload": word}}
    yield {"users_shared": {"request_id": 1, "users": [{"user_id": 5, "first_name": word}]}}
    yield {"chat_shared": {"request_id": 1, "chat_id": -5, "title": word}}
    yield {"web_app_data": {"data": word, "button_text": word}}
    yield {"write_access_allowed": {"web_app_name": word}}
    yield {"passport_data": {"data": [], "credentials": {"data": word, "hash": word, "secret": word}}}
    yield {"giveaway": {"chats": [], "winners_selection_date": now, "winner_count": 1, "prize_description": word}}
    yield {"new_chat_title": f"{word} title"}
    yield {"new_chat_photo": []}
    yield {"pinned_message": {"message_id": 5, "date": now, "chat": {"id": 5, "type": "private"}, "text": word}}
    yield {"forum_topic_created": {"name": f"{word} topic", "icon_color": 1}, "message_thread_id": 77}
    yield {"forum_topic_edited": {"name": f"{word} topic"}, "message_thread_id": 77}
    yield {"new_chat_members": [who]}
    yield {"left_chat_member": who}
    yield {"migrate_from_chat_id": -12345}
    yield {"text": f"{word} by a bot", "via_bot": {"id": 9, "is_bot": True, "first_name": f"{word} bot"}}
    yield {"text": word, "external_reply": {"origin": {"type": "hidden_user", "sender_user_name": word, "date": now}}}
    yield {"text": word, "quote": {"text": f"{word} quote", "position": 0, "is_manual": True}}
    yield {"text": word, "link_preview_options": {"url": f"https://example.com/{word}"}}
    yield {"text": word, "business_connection_id": word}
    yield {"text": word, "guest_query_id": word, "guest_bot_caller_user": who}

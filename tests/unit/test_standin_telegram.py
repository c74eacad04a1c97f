"""The Telegram stand-in, driven by the real python-telegram-bot over loopback."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from telegram import (
    Bot,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    MenuButtonDefault,
    MenuButtonWebApp,
    MessageEntity,
    ReplyParameters,
    WebAppInfo,
)
from telegram.error import BadRequest, Conflict, Forbidden, InvalidToken, NetworkError, RetryAfter, TimedOut
from telegram.request import HTTPXRequest

from tests.standins.telegram import TelegramStandIn, Upload


@pytest.fixture
async def tg() -> AsyncIterator[TelegramStandIn]:
    async with TelegramStandIn() as standin:
        standin.user(7, "Ada", "ada")
        standin.dm(7)
        yield standin


def make_bot(tg: TelegramStandIn, token: str | None = None) -> Bot:
    request = HTTPXRequest(read_timeout=2, connection_pool_size=8)
    return Bot(
        token or tg.token,
        base_url=f"{tg.url}/bot",
        base_file_url=f"{tg.url}/file/bot",
        request=request,
        get_updates_request=HTTPXRequest(read_timeout=2),
    )


@pytest.fixture
async def bot(tg: TelegramStandIn) -> AsyncIterator[Bot]:
    async with make_bot(tg) as client:
        yield client


# The bot itself, and updates


async def test_the_bot_is_described(bot: Bot) -> None:
    assert bot.bot.has_topics_enabled
    assert bot.bot.can_read_all_group_messages


async def test_a_wrong_token_is_unauthorized(tg: TelegramStandIn) -> None:
    with pytest.raises(InvalidToken, match="rejected by the server"):
        await make_bot(tg, "1:WRONG").initialize()


async def test_an_unknown_method_is_not_found(bot: Bot) -> None:
    with pytest.raises(Exception, match="not found"):
        await bot.do_api_request("makeCoffee")


async def test_an_offset_acknowledges_earlier_updates(tg: TelegramStandIn, bot: Bot) -> None:
    first, second = await tg.say(7, 7, "one"), await tg.say(7, 7, "two")
    updates = await bot.get_updates()
    assert [update.message.text for update in updates] == ["one", "two"]
    assert second.message_id == first.message_id + 1
    assert len(await bot.get_updates()) == 2
    assert len(await bot.get_updates(offset=updates[0].update_id + 1)) == 1
    assert tg.acked == [updates[0].update_id]
    tg.redeliver(updates[0].update_id)
    again = await bot.get_updates(offset=updates[1].update_id + 1)
    assert [update.update_id for update in again] == [updates[0].update_id]
    assert tg.pending_updates == []


async def test_a_long_poll_ends_when_an_update_arrives(tg: TelegramStandIn, bot: Bot) -> None:
    poll = asyncio.create_task(bot.get_updates(timeout=5))
    await tg.wait_polling()
    started = time.monotonic()
    await tg.say(7, 7, "hello")
    assert (await poll)[0].message.text == "hello"
    assert time.monotonic() - started < 4
    assert await bot.get_updates(offset=poll.result()[0].update_id + 1, timeout=0) == ()


async def test_a_second_poller_terminates_the_first(tg: TelegramStandIn, bot: Bot) -> None:
    first = asyncio.create_task(bot.get_updates(timeout=5))
    await tg.wait_polling()
    async with make_bot(tg) as other:
        second = asyncio.create_task(other.get_updates(timeout=5))
        with pytest.raises(Conflict, match="terminated by other getUpdates"):
            await first
        await tg.say(7, 7, "for the second")
        assert len(await second) == 1


async def test_reactions_and_member_updates_are_sent_only_on_request(tg: TelegramStandIn, bot: Bot) -> None:
    group = tg.group(-1001, "Club", [tg.users[7]])
    message = await tg.say(group, 7, "hi")
    tg.react(group, 7, message, "👍")
    assert [update.message_reaction for update in await bot.get_updates()] == [None]
    await bot.get_updates(allowed_updates=["message", "message_reaction", "chat_member", "my_chat_member"])
    tg.react(group, 7, message, None)
    tg.add_member(group, tg.user(8, "Bob"))
    tg.remove_member(group, tg.bot)
    updates = (await bot.get_updates())[1:]
    assert updates[0].message_reaction.old_reaction[0].emoji == "👍"
    assert updates[1].chat_member.new_chat_member.status == "member"
    assert updates[2].message.new_chat_members[0].id == 8
    assert updates[3].my_chat_member.new_chat_member.status == "kicked"
    with pytest.raises(Forbidden, match="kicked"):
        await bot.send_message(-1001, "still here?")


async def test_messages_from_people_can_be_parsed(tg: TelegramStandIn, bot: Bot) -> None:
    topic = tg.topic(7, "Cooking")
    first = await tg.say(7, 7, "/start@relay_test_bot 👋 @ada", topic=topic)
    await tg.say(7, 7, "that", topic=topic, reply_to=first, quote="👋", forward_from="Someone")
    await tg.say(7, 7, "look", photo=True, media_group_id="album")
    await tg.say(7, 7, voice=Upload(b"sound", "note.oga", duration=3), document=b"text")
    tg.edit(7, first, "/start over")
    created, start, reply, photo, voice, edited = await bot.get_updates()
    assert created.message.forum_topic_created.name == "Cooking"
    assert start.message.message_thread_id == topic
    assert start.message.is_topic_message
    assert start.message.parse_entities() == {
        start.message.entities[0]: "/start@relay_test_bot",
        start.message.entities[1]: "@ada",
    }
    assert reply.message.quote.text == "👋"
    assert reply.message.forward_origin.sender_user_name == "Someone"
    assert reply.message.reply_to_message.message_id == first.message_id
    assert photo.message.caption == "look"
    assert edited.edited_message.text == "/start over"
    file = await bot.get_file(voice.message.voice.file_id)
    assert bytes(await file.download_as_bytearray()) == b"sound"
    with pytest.raises(BadRequest, match="Wrong file_id"):
        await bot.get_file("nonsense")


async def test_forum_topics_have_their_threads(tg: TelegramStandIn, bot: Bot) -> None:
    forum = tg.group(-1002, "Forum", [tg.users[7]], forum=True)
    topic = tg.topic(forum, "Plans")
    general = await tg.say(forum, 7, "in General")
    answer = await tg.say(forum, 7, "a reply", reply_to=general)
    inside = await tg.say(forum, 7, "in the topic", topic=topic)
    assert (topic, general.message_id, answer.message_id) == (2, 3, 4)
    assert answer.raw["message_thread_id"] == general.message_id
    assert "is_topic_message" not in answer.raw
    sent = await bot.send_message(forum.id, "hi", reply_parameters=ReplyParameters(inside.message_id))
    assert (sent.message_thread_id, sent.is_topic_message) == (topic, True)
    assert [message.text for message in tg.messages(forum, topic=0)] == ["in General", "a reply"]
    tg.delete_topic(forum, topic)
    with pytest.raises(BadRequest, match="Message thread not found"):
        await bot.send_message(forum.id, "gone", message_thread_id=topic)
    made = await bot.create_forum_topic(forum.id, "New")
    assert await bot.edit_forum_topic(forum.id, made.message_thread_id, name="Newer")
    assert forum.topics[made.message_thread_id].name == "Newer"


async def test_raw_updates_are_delivered(tg: TelegramStandIn, bot: Bot) -> None:
    tg.stop_generation(7, draft_id=5, topic=9)
    tg.push({"update_id": 999_999_999, "something_new": {}})
    stopped, new = await bot.get_updates()
    assert stopped.api_kwargs["stopped_message_generation"]["draft_id"] == 5
    assert new.update_id == 999_999_999


async def test_privacy_mode_hides_messages_that_do_not_mention_the_bot(tg: TelegramStandIn) -> None:
    tg.can_read_all_group_messages = False
    group = tg.group(-5, "Small", [tg.users[7]], bot_status="member")
    await tg.say(group, 7, "not for you")
    await tg.say(group, 7, "@relay_test_bot for you")
    assert [update["message"]["text"] for update in tg.pending_updates] == ["@relay_test_bot for you"]


# Sending


async def test_a_sent_message_is_returned_whole(tg: TelegramStandIn, bot: Bot) -> None:
    topic = tg.topic(7, "Cooking")
    keyboard = InlineKeyboardMarkup([[InlineKeyboardButton("Undo", callback_data="undo:1")]])
    bold = MessageEntity(MessageEntity.BOLD, 0, 2)
    sent = await bot.send_message(
        7, "👋 hi", entities=[bold], reply_markup=keyboard, message_thread_id=topic, disable_notification=True
    )
    assert (sent.text, sent.entities, sent.reply_markup) == ("👋 hi", (bold,), keyboard)
    assert (sent.message_thread_id, sent.is_topic_message, sent.from_user.id) == (topic, True, bot.id)
    kept = tg.messages(7, topic=topic)[-1]
    assert (kept.from_bot, kept.silent, kept.buttons) == (True, True, {"Undo": "undo:1"})
    assert await tg.wait_reply(7, after=topic, topic=topic) is kept
    assert tg.calls("sendMessage", chat_id=7)[0].ok


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"text": "  "}, "Message text is empty"),
        ({"text": "👋" * 2049}, "Message is too long"),
        ({"text": "hi", "entities": [MessageEntity("bold", 1, 2)]}, "Entity_bounds_invalid"),
        ({"text": "👋", "entities": [MessageEntity("bold", 1, 1)]}, "Entity_bounds_invalid"),
        ({"text": "abcd", "entities": [MessageEntity("bold", 0, 2), MessageEntity("code", 1, 2)]}, "Entity_bounds"),
        ({"text": "<x>hi</x>", "parse_mode": "HTML"}, "Can't parse entities"),
        ({"text": "hi.", "parse_mode": "MarkdownV2"}, "Can't parse entities.*reserved"),
        ({"text": "*hi", "parse_mode": "MarkdownV2"}, "Can't parse entities"),
        ({"text": "hi", "message_thread_id": 1}, "Message thread not found"),
        ({"text": "hi", "message_thread_id": 77}, "Message thread not found"),
        ({"text": "hi", "reply_parameters": ReplyParameters(99)}, "Message to be replied not found"),
        ({"text": "hi", "chat_id": 404}, "Chat not found"),
        (
            {"text": "hi", "reply_markup": InlineKeyboardMarkup([[InlineKeyboardButton("x", callback_data="é" * 33)]])},
            "Button_data_invalid",
        ),
    ],
)
async def test_invalid_messages_are_refused(tg: TelegramStandIn, bot: Bot, arguments: dict, reason: str) -> None:
    with pytest.raises(BadRequest, match=reason):
        await bot.send_message(**{"chat_id": 7, **arguments})
    assert tg.messages(7) == []
    assert tg.log[-1].code == 400


async def test_html_and_markdown_become_entities(bot: Bot) -> None:
    sent = await bot.send_message(7, "<b>👋</b> &lt; <a href='https://a.b/'>here</a>", parse_mode="HTML")
    assert sent.text == "👋 < here"
    assert [(entity.type, entity.offset, entity.length) for entity in sent.entities] == [
        ("bold", 0, 2),
        ("text_link", 5, 4),
    ]
    sent = await bot.send_message(7, "*bold* \\. `co.de` [a](http://x)", parse_mode="MarkdownV2")
    assert sent.text == "bold . co.de a"
    assert [entity.type for entity in sent.entities] == ["bold", "code", "text_link"]


async def test_a_reply_may_be_sent_without_its_target(bot: Bot) -> None:
    sent = await bot.send_message(7, "hi", reply_parameters=ReplyParameters(99, allow_sending_without_reply=True))
    assert sent.reply_to_message is None


async def test_a_user_who_blocked_the_bot_gets_no_messages(tg: TelegramStandIn, bot: Bot) -> None:
    tg.block(7)
    with pytest.raises(Forbidden, match="bot was blocked by the user"):
        await bot.send_message(7, "hi")
    assert (await bot.get_updates())[0].my_chat_member.new_chat_member.status == "kicked"
    tg.unblock(7)
    assert await bot.send_message(7, "hi")


async def test_drafts_are_replaced_and_end_with_the_message(tg: TelegramStandIn, bot: Bot) -> None:
    assert await bot.send_message_draft(7, 3, "thinking", api_kwargs={"can_stop": True})
    await bot.send_message_draft(7, 3, "thinking more")
    assert [(draft["text"], draft["can_stop"]) for draft in tg.drafts(7)] == [("thinking more", False)]
    with pytest.raises(BadRequest, match="non-zero"):
        await bot.send_message_draft(7, 0, "x")
    tg.group(-9, "Club", [7])
    with pytest.raises(BadRequest, match="private"):
        await bot.send_message_draft(-9, 1, "x")
    await bot.send_message(7, "done")
    assert tg.drafts(7) == []
    assert len(tg.calls("sendMessageDraft")) == 4


async def test_media_can_be_sent_forwarded_and_downloaded(tg: TelegramStandIn, bot: Bot) -> None:
    voice = await bot.send_voice(7, b"OggS opus", caption="listen", duration=4)
    assert (voice.voice.duration, voice.caption) == (4, "listen")
    document = await bot.send_document(7, b"{}", filename="export.json")
    assert document.document.file_name == "export.json"
    assert (await bot.send_document(7, document.document.file_id)).document.file_size == 2
    assert (await bot.send_photo(7, b"jpeg")).photo[-1].width == 1280
    forwarded = await bot.forward_message(7, 7, voice.message_id)
    assert forwarded.forward_origin.sender_user.id == bot.id
    copied = await bot.copy_message(7, 7, voice.message_id)
    assert tg.message(7, copied.message_id).text == "listen"
    with pytest.raises(BadRequest, match="edit"):
        await bot.edit_message_text("text", 7, voice.message_id)


async def test_web_app_buttons_need_https_and_a_private_chat(tg: TelegramStandIn, bot: Bot) -> None:
    def opens(url: str) -> InlineKeyboardMarkup:
        return InlineKeyboardMarkup([[InlineKeyboardButton("Open", web_app=WebAppInfo(url))]])

    sent = await bot.send_message(7, "hi", reply_markup=opens("https://x.example/"))
    assert sent.reply_markup == opens("https://x.example/")
    with pytest.raises(BadRequest, match="only https links are allowed"):
        await bot.edit_message_reply_markup(7, sent.message_id, reply_markup=opens("http://x.example/"))
    tg.group(-5, "Room", [tg.users[7]])
    with pytest.raises(BadRequest, match="Button_type_invalid"):
        await bot.send_message(-5, "hi", reply_markup=opens("https://x.example/"))
    app = MenuButtonWebApp("Open", WebAppInfo("https://x.example/"))
    assert await bot.get_chat_menu_button(7) == MenuButtonDefault()
    assert await bot.set_chat_menu_button(7, app)
    assert await bot.get_chat_menu_button(7) == app
    assert await bot.set_chat_menu_button(7)
    assert await bot.get_chat_menu_button(7) == MenuButtonDefault()
    for chat_id, url, reason in (
        (404, "https://x.example/", "Chat not found"),
        (-5, "https://x.example/", "Chat not found"),
        (7, "http://x.example/", "only https links are allowed"),
    ):
        with pytest.raises(BadRequest, match=reason):
            await bot.set_chat_menu_button(chat_id, MenuButtonWebApp("Open", WebAppInfo(url)))


# Edits, deletions, buttons and commands


async def test_messages_can_be_edited(tg: TelegramStandIn, bot: Bot) -> None:
    keyboard = InlineKeyboardMarkup([[InlineKeyboardButton("Undo", callback_data="undo")]])
    theirs = await tg.say(7, 7, "mine")
    sent = await bot.send_message(7, "one")
    edited = await bot.edit_message_text("two", 7, sent.message_id, reply_markup=keyboard)
    assert (edited.text, edited.reply_markup) == ("two", keyboard)
    with pytest.raises(BadRequest, match="is not modified: specified new message content"):
        await bot.edit_message_text("two", 7, sent.message_id, reply_markup=keyboard)
    cleared = await bot.edit_message_reply_markup(7, sent.message_id)
    assert (cleared.text, cleared.reply_markup) == ("two", None)
    with pytest.raises(BadRequest, match="to edit not found"):
        await bot.edit_message_text("x", 7, 12345)
    with pytest.raises(BadRequest, match="can't be edited"):
        await bot.edit_message_text("x", 7, theirs.message_id)
    assert tg.message(7, sent.message_id).history == ["one"]


async def test_messages_can_be_deleted_pinned_and_reacted_to(tg: TelegramStandIn, bot: Bot) -> None:
    theirs = await tg.say(7, 7, "mine")
    sent = await bot.send_message(7, "one")
    assert await bot.set_message_reaction(7, theirs.message_id, "👀")
    with pytest.raises(BadRequest, match="Reaction_invalid"):
        await bot.set_message_reaction(7, theirs.message_id, "🦖")
    assert await bot.pin_chat_message(7, sent.message_id)
    assert (await bot.get_chat(7)).pinned_message.text == "one"
    assert await bot.delete_message(7, sent.message_id)
    assert await bot.delete_messages(7, [theirs.message_id, 999])
    with pytest.raises(BadRequest, match="to delete not found"):
        await bot.delete_message(7, sent.message_id)
    assert tg.messages(7) == []


async def test_a_pressed_button_can_be_answered(tg: TelegramStandIn, bot: Bot) -> None:
    sent = await bot.send_message(7, "one")
    query_id = tg.press(7, 7, sent.message_id, "undo:1")
    query = (await bot.get_updates())[0].callback_query
    assert (query.data, query.message.message_id, query.from_user.id) == ("undo:1", sent.message_id, 7)
    assert await query.answer("Undone")
    assert tg.answers[query_id]["text"] == "Undone"
    with pytest.raises(BadRequest, match="Query is too old"):
        await bot.answer_callback_query("1")


async def test_chats_and_commands_can_be_queried(tg: TelegramStandIn, bot: Bot) -> None:
    group = tg.group(-1003, "Club", [tg.users[7], tg.user(8, "Bob")])
    assert (await bot.get_chat(group.id)).title == "Club"
    assert await bot.get_chat_member_count(group.id) == 3
    assert (await bot.get_chat_member(group.id, 8)).status == "member"
    assert {member.user.id for member in await bot.get_chat_administrators(group.id)} == {7, bot.id}
    assert await bot.send_chat_action(group.id, "typing")
    assert await bot.set_my_commands([("start", "Begin")])
    assert (await bot.get_my_commands())[0].command == "start"
    assert await bot.delete_my_commands()
    assert await bot.leave_chat(group.id)


# Faults


@pytest.mark.parametrize(
    ("kind", "error", "carried_out"),
    [
        (429, RetryAfter, False),
        (500, NetworkError, False),
        (502, NetworkError, False),
        ("timeout", TimedOut, False),
        ("lost", NetworkError, True),
        ("disconnect", NetworkError, False),
        ("conflict409", Conflict, False),
        ("unauthorized401", InvalidToken, False),
        ("error", BadRequest, False),
    ],
)
async def test_faults_hit_the_chosen_requests(
    tg: TelegramStandIn, bot: Bot, kind: str | int, error: type[Exception], carried_out: bool
) -> None:
    fault = tg.fault("sendMessage", kind, after=1)
    await bot.send_message(7, "passes")
    with pytest.raises(error):
        await bot.send_message(7, "is hit", read_timeout=0.3)
    assert tg.calls("sendMessage")[-1].fault == str(kind)
    await bot.send_message(7, "passes again")
    texts = [message.text for message in tg.messages(7)]
    assert texts == ["passes", *(["is hit"] if carried_out else []), "passes again"]
    assert fault.hits == 1


async def test_a_late_request_is_carried_out_after_the_client_left(tg: TelegramStandIn, bot: Bot) -> None:
    tg.fault("sendMessage", "late", delay=0.3, chat_id=7, times=2)
    with pytest.raises(TimedOut):
        await bot.send_message(7, "late", read_timeout=0.1)
    await tg.wait_reply(7)
    assert (await bot.send_message(7, "in time")).text == "in time"


async def test_the_standin_can_be_stopped_and_restarted(tg: TelegramStandIn, bot: Bot) -> None:
    await tg.say(7, 7, "first")
    poll = asyncio.create_task(bot.get_updates(offset=tg.pending_updates[0]["update_id"] + 1, timeout=5))
    await tg.wait_polling()
    await tg.say(7, 7, "before")
    await poll
    poll = asyncio.create_task(bot.get_updates(offset=poll.result()[0].update_id + 1, timeout=5))
    await tg.wait_polling()
    tg.stopped = True
    with pytest.raises(NetworkError):
        await poll
    with pytest.raises(NetworkError):
        await bot.send_message(7, "refused")
    await tg.say(7, 7, "meanwhile")
    url = tg.url
    await tg.restart()
    assert tg.url == url
    assert (await bot.get_updates())[0].message.text == "meanwhile"


async def test_requests_take_the_configured_latency(tg: TelegramStandIn, bot: Bot) -> None:
    tg.latency = 0.2
    started = time.monotonic()
    await bot.send_message(7, "slow")
    assert time.monotonic() - started >= 0.2


async def test_waiting_ends_with_a_timeout_error(tg: TelegramStandIn) -> None:
    with pytest.raises(TimeoutError, match="the last requests"):
        await tg.wait_for(lambda: False, timeout=0.05)

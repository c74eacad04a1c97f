"""Photos, stickers and pictures sent as files: the model sees them, and nothing else does."""

from __future__ import annotations

import asyncio
import base64
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.acceptance.shared_bot import SESSION, World
from tests.pictures import CAMERA, HEIC, PLACE, SVG, TGS, WEBM, animation, bomb, drawn, picture, saved, with_place
from tests.standins.anthropic import Recorded
from tests.standins.telegram import Chat, StoredMessage, Upload
from tests.standins.telegram.media import as_upload, media_object

pytestmark = SESSION
WAIT = 60


@pytest.fixture
def world(shared_world: World) -> World:
    return shared_world


def trip(world: World) -> Chat:
    """Returns a group of the two people."""
    return world.tg.group(-1_001_000_000_000 - world.owner.id, "Trip", [world.owner, world.friend])


def images(request: Recorded) -> list[tuple[str, bytes]]:
    """Returns the types and contents of a request's pictures."""
    blocks = [block for message in request.messages for block in message["content"] if block["type"] == "image"]
    return [(block["source"]["media_type"], base64.b64decode(block["source"]["data"])) for block in blocks]


def asked(world: World) -> list[Recorded]:
    """Returns the requests for answers."""
    return [one for one in world.model.requests if "sonnet" in one.model]


async def say(world: World, chat: Chat, text: str = "", **more: Any) -> StoredMessage:
    """Sends something and returns the answer."""
    said = await world.tg.say(chat, None, text, **more)
    return await world.tg.wait_reply(chat, said, timeout=WAIT)


def upload(content: bytes, name: str, mime: str, **more: Any) -> Upload:
    return Upload(content, name, mime, **more)


def files_in(world: World) -> list[Path]:
    """Returns all files of the bot, including those of its embedded database."""
    data = Path(world.relay.environment["RELAY_DATA_DIR"])
    return [path for path in data.rglob("*") if path.is_file()]


def keeps(world: World, content: bytes) -> list[Path]:
    """Returns the files that hold a part of some content."""
    piece = content[len(content) // 2 :][:200]
    return [path for path in [*files_in(world), world.relay.log] if piece in path.read_bytes()]


async def test_the_model_sees_a_photo_in_its_turn_and_in_later_turns(world: World) -> None:
    photo = picture("JPEG", 2000, 1500)
    await say(world, world.dm, "what is on it?", photo=photo)
    ((kind, content),) = images(world.model.last)
    assert kind == "image/jpeg"
    assert Image.open(io.BytesIO(content)).size == (1267, 950), "scaled to the largest size that the model uses"
    assert "what is on it?" in world.model.last.last_text
    assert "without a word" not in world.model.last.last_text
    before = world.model.last.messages
    downloads = len(world.tg.calls("getFile"))
    await say(world, world.dm, "and what colour?")
    assert images(world.model.last) == [(kind, content)]
    assert world.model.last.messages[0] == before[0] | {
        "content": [block for block in before[0]["content"] if not block.get("text", "").startswith("<context>")]
    }
    assert len(world.tg.calls("getFile")) == downloads, "the picture is still cached"
    await world.relay.kill()
    assert not keeps(world, content)
    await world.relay.start()
    await world.tg.wait_polling(timeout=WAIT)
    await say(world, world.dm, "do you still see it?")
    assert images(world.model.last) == [(kind, content)]
    assert not keeps(world, content)
    why = await say(world, world.dm, "/why")
    assert "pictures and documents: 1 shown, 0 only described" in why.text
    assert "media" in why.text


async def test_a_picture_that_is_no_longer_available_is_described(world: World) -> None:
    await say(world, world.dm, "look", photo=picture())
    await world.relay.stop()
    world.tg.files.clear()
    await world.relay.start()
    await world.tg.wait_polling(timeout=WAIT)
    await say(world, world.dm, "what was it?")
    assert not images(world.model.last)
    assert "(photo, 640 × 480 pixels, sent on 20" in world.model.last.text
    assert "not shown here)" in world.model.last.text


async def test_the_model_does_not_get_a_pictures_location_or_camera(world: World) -> None:
    content = with_place(orientation=6)
    assert CAMERA.encode() in content
    await say(world, world.dm, "where am I?", document=upload(content, "IMG_1.jpg", "image/jpeg"))
    ((_, seen),) = images(world.model.last)
    image = Image.open(io.BytesIO(seen))
    assert image.size == (480, 640), "the picture is rotated upright"
    assert not image.getexif()
    for told in (seen, world.model.last.text.encode()):
        assert CAMERA.encode() not in told
        assert PLACE.encode() not in told


async def test_an_album_is_one_turn_and_one_request(world: World) -> None:
    for number in range(10):
        await world.tg.say(
            world.dm,
            None,
            "which is best?" if number == 0 else "",
            media_group_id="7",
            photo=picture(width=300 + number),
        )
    await world.tg.wait_reply(world.dm, 0, timeout=WAIT)
    await world.tg.wait_for(lambda: not world.tg.pending_updates and asked(world))
    (request,) = asked(world)
    widths = [Image.open(io.BytesIO(content)).width for _, content in images(request)]
    assert widths == list(range(300, 310))
    assert "which is best?" in request.last_text
    await say(world, world.dm, "thanks")
    assert len(images(world.model.last)) == 10


@pytest.mark.slow("the other pictures, albums and edits of this file, and test_media_limits.py")
async def test_a_late_part_of_an_album_is_in_the_same_answer(world: World) -> None:
    world.model.delay = 4
    await world.tg.say(world.dm, None, "which is best?", media_group_id="7", photo=picture(width=300))
    await world.model.wait_requests(1)
    await world.tg.say(world.dm, None, media_group_id="7", photo=picture(width=301))
    await world.tg.wait_reply(world.dm, 0, timeout=WAIT)
    assert len(images(world.model.last)) == 2
    assert "which is best?" in world.model.last.last_text
    assert len([one for one in world.tg.messages(world.dm) if one.from_bot]) == 1


@pytest.mark.parametrize("captioned", [0, 2])
async def test_an_album_in_a_group_is_answered_if_one_part_addresses_the_bot(world: World, captioned: int) -> None:
    group = trip(world)
    for number in range(3):
        text = f"@{world.tg.bot.username} which one?" if number == captioned else ""
        await world.tg.say(group, world.friend, text, media_group_id="8", photo=picture(width=300 + number))
        await world.tg.wait_for(lambda: not world.tg.pending_updates)
    await world.tg.wait_reply(group, 0, timeout=WAIT)
    await world.tg.wait_for(lambda: asked(world))  # a slow machine first says that it takes time
    (request,) = asked(world)
    assert len(images(request)) == 3
    assert request.text.count('<said by="Ben">\n<untrusted kind="picture">') == 3


async def test_an_album_in_a_group_that_does_not_address_the_bot_is_ignored(world: World) -> None:
    group = trip(world)
    for _ in range(3):
        await world.tg.say(group, world.friend, "our trip", media_group_id="8", photo=picture())
    said = await world.tg.say(group, world.friend, f"@{world.tg.bot.username} hello")
    await world.tg.wait_reply(group, said, timeout=WAIT)
    await world.tg.wait_for(lambda: asked(world))
    (request,) = asked(world)
    assert not images(request)
    assert "our trip" not in request.text


async def test_stickers_and_animations_are_shown_as_pictures(world: World) -> None:
    still = picture("PNG", 320, 320)
    await say(world, world.dm, sticker=upload(picture("WEBP", 512, 512, "RGBA"), "s.webp", ""))
    assert len(images(world.model.last)) == 1
    await say(world, world.dm, sticker=upload(WEBM, "s.webm", "", thumbnail=still))
    assert len(images(world.model.last)) == 2
    assert "a small still picture that Telegram made of it" in world.model.last.last_text
    await say(world, world.dm, "funny?", animation=upload(bytes(100), "a.mp4", "video/mp4", thumbnail=still))
    assert len(images(world.model.last)) == 3
    await say(world, world.dm, document=upload(animation(), "moves.gif", "image/gif"))
    assert "some of the 12 pictures of an animation" in world.model.last.last_text
    scan = saved(drawn(), "TIFF", save_all=True, append_images=[drawn(), drawn()])
    told = await say(world, world.dm, document=upload(scan, "scan.tif", "image/tiff"))
    assert "🖼 scan.tif: I see the first of its 3 pages." in told.text
    requests = len(asked(world))
    told = await say(world, world.dm, sticker=upload(TGS, "s.tgs", ""))
    assert "⚠️ I couldn't use your sticker 😀." in told.text
    assert "screenshot" in told.text
    assert len(asked(world)) == requests


async def test_a_picture_whose_file_has_another_type_is_shown_in_full(world: World) -> None:
    for name, mime in (("IMG_1.JPG", "application/octet-stream"), ("scan", "application/zip")):
        sent = upload(picture("JPEG", 1200, 900), name, mime, thumbnail=picture())
        await say(world, world.dm, "what is on it?", document=sent)
        _, content = images(world.model.last)[-1]
        assert Image.open(io.BytesIO(content)).size == (1200, 900)
        assert "a small still picture" not in world.model.last.text


async def test_a_photo_of_another_chat_that_is_replied_to_is_shown(world: World) -> None:
    news = {"type": "channel", "chat": {"id": -9, "type": "channel", "title": "News"}, "message_id": 3, "date": 1}
    photo = media_object(world.tg, "photo", as_upload("photo", picture(width=300)))
    await say(world, world.dm, "what is on this?", external_reply={"origin": news, "photo": photo})
    ((_, content),) = images(world.model.last)
    assert Image.open(io.BytesIO(content)).width == 300
    assert '<untrusted kind="picture" from="News">' in world.model.last.last_text
    assert "(photo)" in world.model.last.last_text


@pytest.mark.asyncio(loop_scope="function")
@pytest.mark.settings(RELAY_MAX_MEGAPIXELS="2")
async def test_an_unusable_picture_gets_a_helpful_explanation(own_world: World) -> None:
    for content, name, mime, line in (
        (HEIC, "IMG.HEIC", "image/heic", "Send it as a photo"),
        (bomb(5000), "bomb.png", "image/png", "5000 × 5000 pixels. I can take 2 megapixels."),
        (picture()[:500], "half.jpg", "image/jpeg", "damaged"),
        (b"%PDF-1.7 not a picture", "lie.png", "image/png", "none of them"),
    ):
        told = await say(own_world, own_world.dm, document=upload(content, name, mime))
        assert f"⚠️ I couldn't use your file {name}." in told.text
        assert line in told.text
    assert not asked(own_world)
    with_preview = upload(HEIC, "IMG.HEIC", "image/heic", thumbnail=picture())
    await say(own_world, own_world.dm, "and this?", document=with_preview)
    assert len(images(own_world.model.last)) == 1
    told = await say(own_world, own_world.dm, "what is on it?", document=upload(HEIC, "IMG.HEIC", "image/heic"))
    assert "couldn't use your file IMG.HEIC" in told.text, "the text is answered in the same message"
    assert "could not be opened" in own_world.model.last.last_text
    drawn = await say(own_world, own_world.dm, "and drawn?", document=upload(SVG, "logo.svg", "image/svg+xml"))
    assert "couldn't use" not in drawn.text
    assert "<svg" in own_world.model.last.last_text, "SVG is read as text"


async def test_a_new_answer_after_an_edited_caption_sees_the_picture(world: World) -> None:
    said = await world.tg.say(world.dm, None, "what is red?", photo=picture())
    await world.tg.wait_reply(world.dm, said, timeout=WAIT)
    world.tg.edit(world.dm, said, "what is grey?")
    answer = await world.tg.wait_for(
        lambda: next(
            (one for one in world.tg.messages(world.dm) if one.from_bot and any("again" in b for b in one.buttons)),
            None,
        ),
        WAIT,
    )
    world.tg.press(world.dm, None, answer, await world.tg.button(answer, "again"))
    again = await world.tg.wait_for(
        lambda: next((one for one in world.model.requests if "what is grey?" in one.last_text), None), WAIT
    )
    assert len(images(again)) == 1


@pytest.mark.slow("the other pictures, albums and edits of this file, and test_media_limits.py")
async def test_a_new_answer_after_an_edit_sees_the_picture_that_replaced_the_old_one(world: World) -> None:
    said = await world.tg.say(world.dm, None, "what is it?", photo=picture(width=300))
    answer = await world.tg.wait_reply(world.dm, said, timeout=WAIT)
    for width in (301, 302):
        world.tg.edit(world.dm, said, "what is it?", photo=picture(width=width))
        data = await world.tg.wait_for(
            lambda: next((data for label, data in answer.buttons.items() if "again" in label), None), WAIT
        )
        before = len(asked(world))
        world.tg.press(world.dm, None, answer, data)
        await world.tg.wait_for(lambda before=before: len(asked(world)) > before and "again" not in str(answer.buttons))
        assert [Image.open(io.BytesIO(one)).width for _, one in images(asked(world)[-1])] == [width]
        assert '<untrusted kind="picture">' in asked(world)[-1].last_text


async def test_pictures_are_left_out_if_the_request_is_too_long(world: World) -> None:
    await say(world, world.dm, "first", photo=picture())
    world.model.fault("too_long", times=2)
    await say(world, world.dm, "second", photo=picture(width=300))
    first, second, third = asked(world)[1:]
    assert [len(images(one)) for one in (first, second, third)] == [2, 1, 0]


@pytest.mark.asyncio(loop_scope="function")
@pytest.mark.settings(RELAY_KEEP_MEDIA="on")
async def test_files_are_kept_if_the_setting_asks_for_it(own_world: World) -> None:
    content = with_place()
    await say(own_world, own_world.dm, "look", document=upload(content, "../../IMG 1.jpg", "image/jpeg"))
    folder = Path(own_world.relay.environment["RELAY_DATA_DIR"]) / "media"
    (kept,) = [path for path in folder.rglob("*") if path.is_file()]
    assert kept.read_bytes() == content
    assert kept.stat().st_mode & 0o777 == 0o600
    assert {path.stat().st_mode & 0o777 for path in (folder, kept.parent)} == {0o700}
    await own_world.relay.kill()
    own_world.tg.files.clear()
    await own_world.relay.start()
    await own_world.tg.wait_polling(timeout=WAIT)
    await say(own_world, own_world.dm, "do you still see it?")
    assert len(images(own_world.model.last)) == 1


@pytest.mark.slow("the other pictures, albums and edits of this file, and test_media_limits.py")
async def test_a_kill_while_a_picture_is_decoded_leaves_no_file(world: World) -> None:
    content = picture("PNG", 3000, 3000)
    before = len(files_in(world))
    await world.tg.say(world.dm, None, "look", document=upload(content, "a.png", "image/png"))
    await world.tg.wait_calls("getFile", timeout=WAIT)
    await asyncio.sleep(0.1)
    await world.relay.kill()
    assert not keeps(world, content)
    assert before
    await world.relay.start()
    await world.tg.wait_reply(world.dm, 1, timeout=WAIT)
    assert len(images(world.model.last)) == 1
    assert not keeps(world, content)

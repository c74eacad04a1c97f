"""Captions of up to 1,024 UTF-16 code units are kept whole, as somebody else's words, next to the file."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from relay.conversation.history import user_blocks
from relay.core.models import Sound
from relay.core.prompt_markup import neutralize_markup
from relay.core.text import utf16_offsets
from relay.memory.calls.base import storable
from relay.memory.intents import process_intents
from relay.surfaces.telegram.formatting.attachments import extract_long_code
from relay.surfaces.telegram.outgoing.files import choose_method, file_request, voice_request
from relay.surfaces.telegram.parsing.message_parser import join_blocks, parts_of, reply_of
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.parsing.updates import WITH_DOCUMENT, Bot, command_of
from tests.strategies import ODD_TEXT, examples, markdowns, replies
from tests.telegram_objects import as_message
from tests.updates import ADA, BEN, BOT

Json = dict[str, Any]
LIMIT = 1024
FILE = {"file_id": "f", "file_unique_id": "u", "width": 9, "height": 9, "duration": 1}
CARRIERS = ("photo", "document", "voice", "audio", "video", "animation")
LONG_CODE = "\n\n```py\n" + "x = 1\n" * 2000 + "```"
GLYPHS = [
    "x", "ü", "😀", "👨‍👩‍👧", "🇩🇪", "a\u0301", "\u202e",
    " ", "\n", "</untrusted>", "[LEARN: odd]", "/soul ", "@relay_bot ",
]  # fmt: skip


def at_limit(text: str) -> str:
    """Cuts a text to a caption's length. May leave half a surrogate pair, as a careless app does."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * LIMIT].decode("utf-16-le", "surrogatepass")


captions = st.one_of(
    st.tuples(st.lists(st.sampled_from(GLYPHS), min_size=1, max_size=6), st.integers(150, 1100)).map(
        lambda drawn: at_limit("".join(drawn[0]) * drawn[1])
    ),
    st.one_of(ODD_TEXT, replies, markdowns).map(at_limit),
)


def sent(kind: str, caption: str, **more: Any) -> Json:
    carried: Json = {kind: [FILE] if kind == "photo" else FILE}
    chat = {"id": ADA, "type": "private"}
    return {"message_id": 5, "date": 1, "chat": chat, "from": {"id": ADA}, "caption": caption, **carried, **more}


@examples(100)
@given(captions, st.sampled_from(CARRIERS), st.booleans())
@example("😀" * 512, "photo", False)
@example("x" + "😀" * 511 + "\ud83d", "video", False)
@example("/soul " + "y" * 1018, "document", True)
def test_a_caption_is_kept_whole_and_marked_untrusted(caption: str, kind: str, album: bool) -> None:
    message = as_message(sent(kind, caption, **({"media_group_id": "5"} if album else {})))
    file, *words = join_blocks([message], ADA, BOT)
    assert file["type"] == "attachment"
    assert words == ([{"type": "text", "text": caption, "untrusted": "caption"}] if caption.strip() else [])
    assert [part.sequel for part in parts_of([message, message], ADA, BOT)] == [False, False]
    shown = [block["text"] for block in user_blocks(words, "Ada", group=False)]
    if caption.strip():
        assert shown == [f'<untrusted kind="caption">\n{neutralize_markup(caption)}\n</untrusted>']
        assert shown[0].count("</untrusted>") == 1
    command = command_of(message, Bot(BOT, "relay_bot"))
    assert command is None or (kind == "document" and command.name in WITH_DOCUMENT)
    assert not any("\ud800" <= c <= "\udfff" for block in storable(words) for c in block["text"])


@examples(60)
@given(captions, st.sampled_from(CARRIERS))
def test_a_caption_that_is_replied_to_is_quoted_whole(caption: str, kind: str) -> None:
    target = sent(kind, caption, **{"from": {"id": BEN, "first_name": "Ben"}})
    reply = reply_of(as_message({"message_id": 6, "text": "Why?", "reply_to_message": target}), BOT, ADA)
    assert reply is not None
    assert not reply.own
    assert caption in reply.text or not caption.strip()


@examples(60)
@given(markdowns.map(lambda text: text + LONG_CODE))
def test_files_are_sent_without_captions(answer: str) -> None:
    place = Place(ADA, 0, True)
    _, files = extract_long_code(answer)
    requests = [choose_method(file_request(file, place)) for file in files]
    if spoken := voice_request(process_intents(answer).text, place):
        requests.append(choose_method(spoken, Sound(b"OggS", "audio/ogg", 1)))
        assert utf16_offsets(spoken["say"]["text"])[-1] > 0
    assert not [parameters for _, parameters in requests if "caption" in parameters]

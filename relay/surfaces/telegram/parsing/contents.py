"""What a Telegram message can contain besides text: files, places, polls and so on. Pure.

Values of an unexpected shape count as absent, so that a change in the Bot API loses a detail instead of a message.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import PlainValidator, ValidatorFunctionWrapHandler, WrapValidator

from relay.core.frozen import frozen

COUNTS = 2**53
T = TypeVar("T")


def text_in(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < COUNTS else 0


def _decode_list(value: object, decode: ValidatorFunctionWrapHandler) -> Any:
    return decode([one for one in value if isinstance(one, dict)] if isinstance(value, list) else [])


Text = Annotated[str, PlainValidator(text_in)]
Count = Annotated[int, PlainValidator(_count)]
Measure = Annotated[float | None, PlainValidator(lambda value: value if isinstance(value, int | float) else None)]
Present = Annotated[bool, PlainValidator(lambda value: isinstance(value, dict))]
"""Whether there is an object, whatever its fields."""
Flag = Annotated[bool, PlainValidator(bool)]
Listed = Annotated[tuple[T, ...], WrapValidator(_decode_list)]
Lenient = Annotated[T | None, WrapValidator(lambda value, decode: decode(value) if isinstance(value, dict) else None)]


@frozen
class MediaFile:
    """Any object with a `file_id`: Voice, Audio, Video, PhotoSize, Document, Sticker and so on."""

    file_id: Text = ""
    file_unique_id: Text = ""
    file_name: Text = ""
    mime_type: Text = ""
    file_size: Count = 0
    duration: Count = 0
    width: Count = 0
    height: Count = 0
    length: Count = 0
    title: Text = ""
    performer: Text = ""
    emoji: Text = ""
    is_animated: Flag = False
    is_video: Flag = False
    thumbnail: Lenient[MediaFile] = None


@frozen
class Location:
    latitude: Measure = None
    longitude: Measure = None
    horizontal_accuracy: Measure = None
    live_period: Count = 0


@frozen
class Venue:
    title: Text = ""
    address: Text = ""
    location: Lenient[Location] = None


@frozen
class Contact:
    first_name: Text = ""
    last_name: Text = ""
    phone_number: Text = ""


@frozen
class PollOption:
    text: Text = ""
    voter_count: Count = 0


def _indexes(value: object) -> tuple[int, ...]:
    return tuple(one for one in value if isinstance(one, int)) if isinstance(value, list) else ()


@frozen
class Poll:
    question: Text = ""
    type: Text = ""
    options: Listed[PollOption] = ()
    correct_option_ids: Annotated[tuple[int, ...], PlainValidator(_indexes)] = ()
    explanation: Text = ""
    description: Text = ""
    allows_multiple_answers: Flag = False
    is_closed: Flag = False


@frozen
class Dice:
    emoji: Text = ""
    value: Count = 0


@frozen
class ChecklistTask:
    text: Text = ""
    completion_date: Count = 0


@frozen
class Checklist:
    title: Text = ""
    tasks: Listed[ChecklistTask] = ()


@frozen
class Contents:
    """What a message can contain besides text."""

    voice: Lenient[MediaFile] = None
    audio: Lenient[MediaFile] = None
    video_note: Lenient[MediaFile] = None
    animation: Lenient[MediaFile] = None
    video: Lenient[MediaFile] = None
    photo: Listed[MediaFile] = ()
    sticker: Lenient[MediaFile] = None
    document: Lenient[MediaFile] = None

    venue: Lenient[Venue] = None
    location: Lenient[Location] = None
    contact: Lenient[Contact] = None
    poll: Lenient[Poll] = None
    dice: Lenient[Dice] = None
    checklist: Lenient[Checklist] = None
    game: Present = False
    invoice: Present = False
    gift: Present = False
    unique_gift: Present = False
    giveaway: Present = False
    giveaway_winners: Present = False
    story: Present = False
    paid_media: Present = False

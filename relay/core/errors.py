"""The tree of errors. Each text is a sentence that a person can act on, without secrets or addresses.

`str(error)` is for the people who run Relay. Everyone else sees `error.plain`, which names no settings or shell
commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Found = TypeVar("Found")
NO_MODEL = "I can't answer right now. My admins need to look into it; please try again later."


class RelayError(Exception):
    """Something went wrong in Relay. `str(error)` is the sentence that surfaces show."""

    PLAIN = ""
    """The sentence for people who don't run Relay, if it differs for all errors of a kind."""

    def __init__(self, cause: object = "", plain: str = "") -> None:
        """`plain`: the sentence for people who don't run Relay, if it differs."""
        super().__init__(*([cause] if cause else []))
        self._plain = plain or self.PLAIN

    def __str__(self) -> str:
        return super().__str__() or (type(self).__doc__ or "").split("\n")[0]

    @property
    def plain(self) -> str:
        """The sentence for people who do not run Relay."""
        return self._plain or str(self)

    def message_for(self, operator: bool) -> str:
        """Returns the sentence for an operator, or for anyone else."""
        return str(self) if operator else self.plain


class SettingsError(RelayError):
    """A setting is missing or malformed; the text names it and says how to get it."""


class CommandRefused(RelayError):
    """The request was refused."""


class NotAllowed(CommandRefused):
    """That's not yours to decide."""


class NotFound(CommandRefused):
    """There is no such thing here."""


class Conflict(CommandRefused):
    """It is in use, or it has changed in the meantime."""


class InUse(Conflict):
    """It is in use by a running conversation."""

    def __init__(self, cause: str, held: Sequence[tuple[int, str, bool]]) -> None:
        """`held`: the compositions that hold it: id, name, and whether a running conversation began with it."""
        super().__init__(cause)
        self.held = tuple(held)


class WrongArgument(CommandRefused):
    """An argument is missing, or it can't be understood."""


class OutOfRange(WrongArgument):
    """A value is out of range."""


def require_found(found: Found | None, refusal: CommandRefused) -> Found:
    """Returns what was found. Raises the refusal if it is None."""
    if found is None:
        raise refusal
    return found


class DatabaseError(RelayError):
    """The database could not carry out the request."""


class DatabaseUnavailable(DatabaseError):
    """The database cannot be reached right now; the call is safe to repeat."""


class CallTooSlow(DatabaseUnavailable):
    """A call to the database took too long and was cancelled."""


class AccessRefused(DatabaseUnavailable):
    """The database does not accept the address or the key; a person has to look into it."""


class DataRefused(DatabaseError):
    """The database cannot hold this value; trying again does not help."""


class SchemaError(DatabaseError):
    """The database's schema does not fit this version of Relay."""


class OtherVersion(SchemaError):
    """Another version of Relay has set up the database, and this one can't go on."""


class DataReplaced(OtherVersion):
    """A move or restore into this database is under way. Start Relay again when it is done."""


class TurnLost(DatabaseError):
    """Another process has taken this turn over; nothing more may be written for it."""


class TurnUndone(DatabaseError):
    """The database server lost what this turn had saved; the turn has to begin again."""


class ModelError(RelayError):
    """The model could not answer."""


class ModelUnavailable(ModelError):
    """The model is not available right now; try again in a moment."""


class ModelRefused(ModelError):
    """The model declined to answer this."""


class ModelAccountError(ModelError):
    """The model's account cannot be used: the key is wrong, or its credit is used up."""

    PLAIN = NO_MODEL


class OutOfCredit(ModelAccountError):
    """The model's account is out of credit. Its owner can top it up in the console."""


class ModelMisconfigured(ModelError):
    """A setting of the model doesn't work; the text names it."""

    PLAIN = NO_MODEL


class ContextTooLong(ModelError):
    """The conversation is too long for the model."""


class EmptyAnswer(ModelError):
    """The model returned an empty answer."""


class MessengerError(RelayError):
    """Telegram did not accept a request."""


class MessengerUnavailable(MessengerError):
    """Telegram cannot be reached right now; the request was not carried out."""


class DeliveryUncertain(MessengerError):
    """Telegram may or may not have carried the request out; look before repeating it."""


class MessengerThrottled(MessengerError):
    """Telegram asks to wait. `retry_after` is in seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"Telegram asks to wait {retry_after:g} s.")
        self.retry_after = retry_after


class MessengerRefused(MessengerError):
    """Telegram refused the request for good; `reason` is its description."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Telegram refused the request: {reason}")
        self.reason = reason


class FileTooLarge(MessengerRefused):
    """A file is larger than Relay accepts, or than Telegram gives to bots."""

    def __init__(self) -> None:
        super().__init__("file is too big")


class ChatGone(MessengerRefused):
    """The bot can no longer write to this chat (blocked, kicked, or the chat is gone)."""


class ChatMigrated(ChatGone):
    """The group has become a supergroup: the same people under another id, `new_chat_id`."""

    def __init__(self, new_chat_id: int) -> None:
        super().__init__(f"the group has become the supergroup {new_chat_id}")
        self.new_chat_id = new_chat_id


class TokenRefused(MessengerError):
    """Telegram does not accept TELEGRAM_BOT_TOKEN. Ask @BotFather for the current one (/mybots → API Token)."""

    def __init__(self, absent: bool = False) -> None:
        """`absent`: the response was "not found" (404). Telegram sends that for an unknown method, too."""
        super().__init__()
        self.absent = absent


class PollConflict(MessengerError):
    """Another program is reading this bot's messages. Stop the other one, or give this one a bot of its own."""


class StreamCut(ModelUnavailable):
    """The model's answer was cut off. `blocks` holds what had arrived: whole blocks, and the text of the last one."""

    def __init__(self, blocks: list[dict[str, object]], usage: dict[str, int], model: str) -> None:
        super().__init__("The model's answer was cut off.")
        self.blocks = blocks
        self.usage = usage
        self.model = model


class ModelThrottled(ModelUnavailable):
    """The model is busy. `retry_after` is in seconds, if the server named a time."""

    def __init__(self, retry_after: float | None = None) -> None:
        super().__init__("The model is very busy right now.")
        self.retry_after = retry_after


class MediaRefused(RelayError):
    """This file can't be used. The text tells its sender why."""


MUTE = "My voice isn't set up right. My admins need to look into it."


class VoiceUnavailable(RelayError):
    """The answer can't be read aloud right now."""


class BudgetUsedUp(RelayError):
    """Today's budget is used up."""


class EmbedderUnavailable(RelayError):
    """Search by meaning isn't available right now, only search by words."""

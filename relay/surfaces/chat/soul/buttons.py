"""The buttons under a draft of the soul."""

from __future__ import annotations

from relay.core.models import Rows
from relay.surfaces.chat.callbacks import Callback, callback
from relay.surfaces.chat.reply import button


@callback("sa")
class ActivateDraft(Callback):
    """Activates a draft, if the active version is still the one that the person has seen."""

    draft_id: int
    seen: int


@callback("sx")
class DiscardDraft(Callback):
    """Discards a draft."""

    draft_id: int


@callback("so")
class OfferTrial(Callback):
    """Says what a trial of a draft answers, and its cost."""

    draft_id: int


@callback("st")
class RunTrial(Callback):
    """Answers the person's last questions (`message_id` 0), or one of them, with a draft."""

    draft_id: int
    message_id: int


@callback("sr")
class RestoreVersion(Callback):
    """Restores an old version as a new one."""

    version: int


def draft_rows(draft_id: int, seen: int, tried: bool = False) -> Rows:
    """Returns the buttons that decide about a draft; `tried`: without the one that tries it."""
    decide = [button("✅ Activate", ActivateDraft(draft_id, seen)), button("✖ Discard", DiscardDraft(draft_id))]
    return [decide] if tried else [decide, [button("🧪 Try", OfferTrial(draft_id))]]


def back_rows(version: int) -> Rows:
    """Returns the button that undoes an activation. Each version replaced the one before it."""
    return [[button(f"↩ Back to version {version - 1}", RestoreVersion(version - 1))]] if version > 1 else []

"""The buttons under a draft of the soul."""

from __future__ import annotations

from relay.core.models import Rows
from relay.surfaces.chat.callbacks import AboutDraft, Callback
from relay.surfaces.chat.reply import button


class ActivateDraft(AboutDraft, code="sa"):
    """Activates a draft, if the active version is still the one that the person has seen."""

    seen: int


class DiscardDraft(AboutDraft, code="sx"):
    """Discards a draft."""


class OfferTrial(AboutDraft, code="so"):
    """Says what a trial of a draft answers, and its cost."""


class RestoreVersion(Callback, code="sr"):
    """Restores an old version as a new one."""

    version: int


def draft_rows(draft_id: int, seen: int, tried: bool = False) -> Rows:
    """Returns the buttons that decide about a draft; `tried`: without the one that tries it."""
    decide = [button("✅ Activate", ActivateDraft(draft_id, seen)), button("✖ Discard", DiscardDraft(draft_id))]
    return [decide] if tried else [decide, [button("🧪 Try", OfferTrial(draft_id))]]


def back_rows(version: int) -> Rows:
    """Returns the button that undoes an activation. Each version replaced the one before it."""
    return [[button(f"↩ Back to version {version - 1}", RestoreVersion(version - 1))]] if version > 1 else []

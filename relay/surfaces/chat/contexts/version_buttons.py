"""The buttons of versions. Their data stays in chats, so codes and fields never change."""

from __future__ import annotations

from typing import Literal

from relay.surfaces.chat.callbacks import AboutSession, AboutVersion
from relay.surfaces.chat.contexts.draft import Draft


class CompressSession(AboutSession, code="oc"):
    """Shows the preview of a version of a session; `offset` leads back to the list of sessions."""

    offset: int = 0


class ShowPreview(AboutSession, code="lw"):
    """Shows the preview of a version."""

    draft: Draft


class ChangeDraft(AboutSession, code="le"):
    """Shows the settings of a version, to be changed."""

    draft: Draft


class MakeVersion(AboutSession, code="lv"):
    """Makes a version."""

    draft: Draft


class MakeWithoutModel(AboutVersion, code="ln"):
    """Makes a requested version, without a model."""


class LookAtVersion(AboutVersion, code="lh"):
    """Shows how far a version is."""


class DownloadVersion(AboutVersion, code="lf"):
    """Sends a version as a file."""

    format: Literal["md", "jsonl"] = "md"


class KeepLeftOut(AboutVersion, code="lk"):
    """Marks a message that a version left out; `offset` leads back to the list."""

    message_id: int
    offset: int


class ListLeftOut(AboutVersion, code="lx"):
    """Shows the messages that a version left out, starting at an offset."""

    offset: int


class ListVersions(AboutSession, code="ov"):
    """Shows a session's versions starting at an offset."""

    offset: int = 0


class OpenVersion(AboutVersion, code="lo"):
    """Shows one version."""


class SelectVersion(AboutVersion, code="ld"):
    """Selects or deselects a version. The buttons of the message hold the selection."""

    chosen: bool = False
    """Whether it is selected now."""
    offset: int = 0
    """The page to show."""


class PruneSelected(AboutSession, code="lp"):
    """Asks whether to drop the selected versions."""


class ConfirmPruning(AboutSession, code="ly"):
    """Drops the selected versions; with `force` also those in use."""

    force: bool


class CompareSelected(AboutSession, code="lm"):
    """Shows the two selected versions side by side."""


class UndoPruning(AboutSession, code="lu"):
    """Brings back what was pruned together with a version."""

    version_id: int


class UndoNight(AboutVersion, code="lg"):
    """Brings back what the night dropped together with a version."""

"""The buttons of versions. Their data stays in chats, so codes and fields never change."""

from __future__ import annotations

from typing import Literal

from relay.surfaces.chat.callbacks import Callback, callback
from relay.surfaces.chat.contexts.draft import Draft


@callback("oc")
class CompressSession(Callback):
    """Shows the preview of a version of a session; `offset` leads back to the list of sessions."""

    session_id: int
    offset: int = 0


@callback("lw")
class ShowPreview(Callback):
    """Shows the preview of a version."""

    session_id: int
    draft: Draft


@callback("le")
class ChangeDraft(Callback):
    """Shows the settings of a version, to be changed."""

    session_id: int
    draft: Draft


@callback("lv")
class MakeVersion(Callback):
    """Makes a version."""

    session_id: int
    draft: Draft


@callback("ln")
class MakeWithoutModel(Callback):
    """Makes a requested version, without a model."""

    version_id: int


@callback("lh")
class LookAtVersion(Callback):
    """Shows how far a version is."""

    version_id: int


@callback("lf")
class DownloadVersion(Callback):
    """Sends a version as a file."""

    version_id: int
    format: Literal["md", "jsonl"] = "md"


@callback("lk")
class KeepLeftOut(Callback):
    """Marks a message that a version left out; `offset` leads back to the list."""

    version_id: int
    message_id: int
    offset: int


@callback("lx")
class ListLeftOut(Callback):
    """Shows the messages that a version left out, starting at an offset."""

    version_id: int
    offset: int


@callback("ov")
class ListVersions(Callback):
    """Shows a session's versions starting at an offset."""

    session_id: int
    offset: int = 0


@callback("lo")
class OpenVersion(Callback):
    """Shows one version."""

    version_id: int


@callback("ld")
class SelectVersion(Callback):
    """Selects or deselects a version. The buttons of the message hold the selection."""

    version_id: int
    chosen: bool = False
    """Whether it is selected now."""
    offset: int = 0
    """The page to show."""


@callback("lp")
class PruneSelected(Callback):
    """Asks whether to drop the selected versions."""

    session_id: int


@callback("ly")
class ConfirmPruning(Callback):
    """Drops the selected versions; with `force` also those in use."""

    session_id: int
    force: bool


@callback("lm")
class CompareSelected(Callback):
    """Shows the two selected versions side by side."""

    session_id: int


@callback("lu")
class UndoPruning(Callback):
    """Brings back what was pruned together with a version."""

    session_id: int
    version_id: int


@callback("lg")
class UndoNight(Callback):
    """Brings back what the night dropped together with a version."""

    version_id: int

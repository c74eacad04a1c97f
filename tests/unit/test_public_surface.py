"""The public surface (settings, commands, metrics, tags, exit codes, pages, files …) only changes on purpose."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace

import pytest
import typer

from relay.archive import export
from relay.core import metrics
from relay.core.settings import Settings
from relay.memory import tags
from relay.memory.api import Memory
from relay.surfaces.chat import COMMANDS
from relay.surfaces.chat.callbacks import CALLBACKS
from relay.surfaces.cli import cli
from scripts import surface

ON_PURPOSE = """What others build on has changed: a script, an .env, a dashboard or an old button of theirs may break.
If it is meant: run `make surface`, commit the file with the change, and say it in CHANGELOG.md.
"""


def changed(before: str) -> list[str]:
    """The lines that differ."""
    lines = difflib.unified_diff(before.splitlines(), surface.surface().splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def test_the_public_surface_is_unchanged() -> None:
    lines = changed(surface.FILE.read_text("utf-8"))
    assert not lines, ON_PURPOSE + "\n".join(lines)


def other_default(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Settings.model_fields["max_tokens"], "default", 4096)


def other_label(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(metrics.LABELS, "relay_jobs", ("name", "outcome"))


def other_flag(patch: pytest.MonkeyPatch) -> None:
    def doctor(as_json: bool = typer.Option(False, "--as-json")) -> None: ...

    at = next(n for n, one in enumerate(cli.cli.registered_commands) if one.callback is cli.doctor)
    patch.setattr(cli.cli.registered_commands[at], "callback", doctor)


def other_usage(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(COMMANDS, "new", replace(COMMANDS["new"], places=("private",)))


def other_button(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(CALLBACKS, "hl", CALLBACKS["ov"])


def other_argument(patch: pytest.MonkeyPatch) -> None:
    async def recall(self: Memory, words: str) -> list[str]:
        return []

    patch.setattr(Memory, "recall", recall)


def other_tag(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(surface, "TAGS", (*tags.TAGS, "SLEEP"))


def other_file(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(export, "SCHEMA", "relay-export/4")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (other_default, "+RELAY_MAX_TOKENS = 4096 (int, ge 64, le 128000)"),
        (other_label, "+counter relay_jobs{name, outcome}"),
        (other_flag, "+relay doctor [--as-json]"),
        (other_usage, "+/new [title | with <name>] (private)"),
        (other_button, "+hl(session_id: int, offset: int = 0)"),
        (other_argument, "+memory.recall(words: str) -> list[str]"),
        (other_tag, "+[LEARN] [FORGET] [VOICE_REPLY] [REMEMBER] [SLEEP]"),
        (other_file, "+export: relay-export/4"),
    ],
)
def test_a_change_of_the_public_surface_is_detected(change: Callable[[pytest.MonkeyPatch], None], named: str) -> None:
    before = surface.surface()
    with pytest.MonkeyPatch.context() as patch:
        change(patch)
        assert [line for line in changed(before) if line.startswith("+")] == [named]

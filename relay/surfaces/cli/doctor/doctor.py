"""`relay doctor`: checks everything that Relay needs; one line for each check, and below each problem how to fix it."""

from __future__ import annotations

import asyncio
import json
import platform
import textwrap
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

from relay.clients.embedded.instance import in_use
from relay.core.errors import SettingsError
from relay.core.program import read_version
from relay.core.redaction.patterns import load
from relay.core.settings import Settings
from relay.core.text import pluralize
from relay.runtime.runtime import load_budget
from relay.surfaces.cli.doctor import (
    machine,
    meaning,
    model,
    network,
    settings,
    speech,
    storage,
    telegram,
    voice,
)
from relay.surfaces.cli.doctor.finding import Finding, run_within, skip_all

WIDTH = 80
MARKS = {"ok": "✓", "warning": "!", "failed": "✗", "skipped": "–"}
COLOURS = {"ok": "32", "warning": "33", "failed": "31", "skipped": "2"}
HIDDEN = 6
"""The shortest text that is treated as a secret."""


async def examine(given: Settings, wrong: Mapping[str, str]) -> list[Finding]:
    """Runs all checks, in parallel if possible. Changes nothing. `wrong`: as `load_with_errors` returns it."""
    wrong = await asyncio.to_thread(with_files, given, wrong)
    here = await asyncio.to_thread(_runs_here, given)
    looking = asyncio.create_task(_look(given, wrong))

    async def running() -> telegram.Running:
        work = (await looking).work
        if work is None:
            return telegram.Running(here, False, frozenset())
        return telegram.Running(here, work.working, frozenset(work.rivalled))

    async def on_this_machine() -> list[Finding]:
        look = await looking
        return await asyncio.to_thread(_files, given, look.since)

    first, asked, models, files, others, look = await asyncio.gather(
        asyncio.to_thread(lambda: [*settings.settings(given, wrong), *settings.file(given)]),
        _ask(telegram, lambda: telegram.telegram(given, running), wrong),
        _ask(model, lambda: model.model(given), wrong),
        _ask(machine, on_this_machine, wrong),
        asyncio.gather(
            _ask(network, lambda: network.network(given, bool(here)), wrong),
            _ask(voice, lambda: voice.voice(given), wrong),
            _ask(meaning, lambda: meaning.meaning(given), wrong),
        ),
        looking,
    )
    people = settings.people(given, look.work)
    beside = [line for findings in others for line in findings]
    return [*first, people, *asked, *models, *look.findings, *files, *beside, speech.speech(given)]


async def _ask(
    subject: ModuleType, check: Callable[[], Coroutine[Any, Any, list[Finding]]], wrong: Mapping[str, str]
) -> list[Finding]:
    """Runs the checks of a module, which says their names, the settings that they need, and their time limit."""
    return skip_all(subject.NAMES, wrong, subject.NEEDS) or await run_within(subject.SECONDS, subject.NAMES, check())


async def _look(given: Settings, wrong: Mapping[str, str]) -> storage.DatabaseReport:
    """Reads the database, or says why it cannot be read."""
    seen = storage.DatabaseReport([])

    async def work() -> list[Finding]:
        nonlocal seen
        seen = await storage.look(given)
        return seen.findings

    findings = await _ask(storage, work, wrong)
    return storage.DatabaseReport(findings, seen.work, seen.since)


def with_files(given: Settings, wrong: Mapping[str, str]) -> Mapping[str, str]:
    """Checks the settings, and the files that they name: prices and patterns."""
    found = dict(wrong)
    for name, read in (("RELAY_PRICES", lambda: load_budget(given)), ("RELAY_REDACT", lambda: load(given.redact))):
        try:
            read()
        except SettingsError as error:
            found = {name: str(error), **found}
    return found


def _files(given: Settings, since: str) -> list[Finding]:
    return [machine.data_directory(given), machine.disk(given), machine.backup(given, since)]


def _runs_here(given: Settings) -> bool | None:
    """Whether a Relay is running on the data directory; None if unknown."""
    try:
        return in_use(given.data_dir)
    except (OSError, SettingsError):
        return None


def exit_code(findings: list[Finding]) -> int:
    """0: no failures. 1: something failed. 2: a setting is wrong or missing."""
    broken = {one.name for one in findings if one.state == "failed"}
    return 2 if "settings" in broken else 1 if broken else 0


def as_json(findings: list[Finding], given: Settings) -> str:
    """One object: `{ok, checks: [{name, state, said, fix}]}`."""
    checks = [{key: _hide_secrets(text, given) for key, text in asdict(one).items()} for one in findings]
    return json.dumps({"ok": exit_code(findings) == 0, "checks": checks}, ensure_ascii=False, indent=2)


def as_page(findings: list[Finding], given: Settings, colours: bool = False) -> str:
    """Renders the findings: a line for each, and below it how to fix it."""
    lines = [f"Relay {read_version()}, Python {platform.python_version()}"]
    for one in findings:
        lines += _wrap(
            f"{MARKS[one.state]} {one.name:<12}", _hide_secrets(one.said, given), COLOURS[one.state], colours
        )
        if one.fix:
            lines += _wrap(f"{'':14}→ ", _hide_secrets(one.fix, given))
    return "\n".join([*lines, _summary(findings)])


def _summary(findings: list[Finding]) -> str:
    failures = sum(one.state == "failed" for one in findings)
    warnings = sum(one.state == "warning" for one in findings)
    told = [f"{failures} failed"] if failures else []
    told += [pluralize(warnings, "warning")] if warnings else []
    return f"{', '.join(told) or 'Everything works'}."


def _wrap(head: str, text: str, colour: str = "", colours: bool = False) -> list[str]:
    lines = textwrap.wrap(
        text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    if colours and colour and lines:
        lines[0] = f"\x1b[{colour}m{lines[0][0]}\x1b[0m{lines[0][1:]}"
    return lines


def _hide_secrets(text: str, given: Settings) -> str:
    """Removes secrets of the settings from a text, in case an error contains one."""
    password = unquote(urlsplit(given.database_url).password or "")
    for secret in sorted({*given.secrets, password}, key=len, reverse=True):
        if len(secret) >= HIDDEN:
            text = text.replace(secret, "[secret]")
    return text

"""`relay doctor`: its findings about the settings and the machine, and how it prints them."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import sys
import time
from collections import namedtuple
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from relay.clients.embedded.instance import Instance, in_use
from relay.clients.speech import installed
from relay.core.errors import TokenRefused
from relay.core.settings import Settings, load_with_errors
from relay.memory.rows.operations import WorkState
from relay.surfaces.chat.people.bot_rights import decode
from relay.surfaces.cli.doctor import doctor, machine, network, speech, storage, telegram
from relay.surfaces.cli.doctor import settings as configuration
from relay.surfaces.cli.doctor.finding import Finding, of_error, run_within
from tests.standins.telegram import TelegramStandIn

TOKEN = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8"
Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty directory and an environment without Relay's settings."""
    names = {str(field.alias) for field in Settings.model_fields.values()}
    for name in list(os.environ):
        if name.upper() in names or name.startswith("RELAY_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RELAY_DATA_DIR", str(tmp_path / "data"))


def env(text: str, mode: int = 0o600) -> None:
    Path(".env").write_text(text, "utf-8")
    Path(".env").chmod(mode)


def said_of_settings() -> dict[str, tuple[str, str]]:
    """The findings about the settings and their file: state and fix."""
    given, wrong = load_with_errors()
    found = [*configuration.settings(given, wrong), *configuration.file(given)]
    return {one.said: (one.state, one.fix) for one in found}


# Settings


def working(admins: int = 0, users: int = 0, incidents: tuple[str, ...] = ()) -> WorkState:
    """The state of the work when nothing waits."""
    return WorkState(False, admins, users, 0, None, 0, incidents)


def test_all_wrong_settings_are_reported_and_the_others_are_kept() -> None:
    env(f"TELEGRAM_BOT_TOKEN={TOKEN}\nRELAY_ADMINS=@ada\nRELAY_MAX_TOKENS=many\nDATABASE_URL=mysql://u:hunter22@h/d\n")
    given, wrong = load_with_errors()
    assert list(wrong) == ["RELAY_ADMINS", "RELAY_MAX_TOKENS", "DATABASE_URL"]
    assert (given.telegram_bot_token, given.admins, given.database_url) == (TOKEN, frozenset(), "")
    told = said_of_settings()
    assert [state for state, _ in told.values()].count("failed") == 4  # and the key is missing
    assert any(said.startswith("ANTHROPIC_API_KEY is not set") for said in told)
    assert "hunter22" not in str(told)


def test_an_unreadable_env_file_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_bytes(b"RELAY_ADMINS=\xff\xfe1\n")
    given, wrong = load_with_errors()
    assert list(wrong) == [".env"]
    ((said, (state, _)), *_) = said_of_settings().items()
    assert ("it is not UTF-8 text" in said, state) == (True, "failed")
    monkeypatch.setenv("RELAY_MAX_TOKENS", "many")
    assert list(load_with_errors()[1]) == [".env", "RELAY_MAX_TOKENS"]
    assert given.max_tokens == 8192


@pytest.mark.parametrize(
    ("text", "said", "fix"),
    [
        ("RELAY_ADMIN=1", "RELAY_ADMIN in .env is not a setting of this version", "Did you mean RELAY_ADMINS?"),
        (
            "TELEGRAM_TOKEN=1",
            "TELEGRAM_TOKEN in .env is not a setting of this version",
            "Did you mean TELEGRAM_BOT_TOKEN?",
        ),
        ("RELAY_XYZZY=1", "RELAY_XYZZY in .env is not a setting of this version", "Remove it"),
        ("RELAY_ADMINS=1\nhello there\n", "line 2 of .env is not a setting", "NAME=value"),
        ("RELAY_ADMINS=1\n\n\n\nhello you\n \nthat is bad\n", "line 5, 7 of .env is not a setting", "NAME=value"),
    ],
)
def test_meaningless_settings_are_warned_about(text: str, said: str, fix: str) -> None:
    env(text)
    state, told = said_of_settings()[said]
    assert (state, fix in told) == ("warning", True)


def test_the_compose_files_password_is_not_warned_about() -> None:
    env("RELAY_POSTGRES_PASSWORD=hunter22\n")
    assert "RELAY_POSTGRES_PASSWORD" not in str(said_of_settings())


def test_unrelated_names_are_not_warned_about(monkeypatch: pytest.MonkeyPatch) -> None:
    env(f"EDITOR=vi\nANTHROPIC_API_KEY=sk\ntelegram_bot_token={TOKEN}\n")
    assert {state for state, _ in said_of_settings().values()} == {"ok"}
    monkeypatch.setenv("RELAY_MODLE", "x")
    assert said_of_settings()["RELAY_MODLE in the environment is not a setting of this version"][0] == "warning"


def test_an_env_file_that_others_may_read_is_warned_about() -> None:
    said = "other users of this machine can read or change it, and its keys"
    for mode in (0o644, 0o660):
        env("RELAY_ADMINS=1", mode)
        assert said_of_settings()[said] == ("warning", "chmod g-w,o= .env")
    env("RELAY_ADMINS=1", 0o640)  # readable by the service's group
    assert said not in said_of_settings()


def test_overriding_environment_variables_are_warned_about(monkeypatch: pytest.MonkeyPatch) -> None:
    env(f"ANTHROPIC_API_KEY=new-key-new-key\nTELEGRAM_BOT_TOKEN={TOKEN}\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "old-key-old-key")
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", TOKEN)
    state, fix = said_of_settings()["the environment has other values, which take precedence: ANTHROPIC_API_KEY"]
    assert (state, "unset ANTHROPIC_API_KEY " in fix) == ("warning", True)
    assert "key-new" not in str(said_of_settings())


def test_a_missing_env_file_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert said_of_settings()[f"none in {machine.shorten(tmp_path)}"][0] == "warning"
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", TOKEN)
    assert said_of_settings()[f"none in {machine.shorten(tmp_path)}; using the environment"][0] == "skipped"


def test_the_doctor_reports_settings_that_a_start_would_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_PRICES", "nowhere.json")
    assert "nowhere.json cannot be read" in doctor.with_files(*load_with_errors())["RELAY_PRICES"]
    monkeypatch.delenv("RELAY_PRICES")
    assert doctor.with_files(*load_with_errors()) == {}
    monkeypatch.setenv("RELAY_DAILY_BUDGET_USD", "5")
    monkeypatch.setenv("RELAY_SMALL_MODEL", "llama9")
    assert (
        "RELAY_SMALL_MODEL is llama9, whose price is unknown" in doctor.with_files(*load_with_errors())["RELAY_PRICES"]
    )


def test_the_doctor_says_how_many_people_may_use_the_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    given = load_with_errors()[0]
    nobody = configuration.people(given, working())
    assert (nobody.state, "prints when it starts" in nobody.fix) == ("warning", True)
    assert configuration.people(given, None).state == "skipped"
    assert configuration.people(given, working(admins=1, users=2)).said == "1 admin, 2 other people"
    monkeypatch.setenv("RELAY_ADMINS", "1,2")
    assert configuration.people(load_with_errors()[0], None).said == "2 admins, 0 other people"


# The machine


@pytest.mark.parametrize(
    ("total", "free", "state"),
    [
        (100e9, 50e9, "ok"),
        (100e9, 4e9, "warning"),
        (10e9, 0.9e9, "warning"),
        (4e12, 100e9, "ok"),
        (10e9, 9e7, "failed"),
    ],
)
def test_free_disk_space_is_checked(monkeypatch: pytest.MonkeyPatch, total: float, free: float, state: str) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(total, total - free, free))
    found = machine.disk(load_with_errors()[0])
    assert (found.state, bool(found.fix)) == (state, state != "ok")


def test_the_data_directory_is_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = load_with_errors()[0]
    assert machine.data_directory(given).state == "skipped"
    assert not given.data_dir.exists()
    given.data_dir.mkdir(mode=0o700)
    assert machine.data_directory(given).state == "ok"
    given.data_dir.chmod(0o755)
    assert "chmod 7" in machine.data_directory(given).fix
    monkeypatch.setattr(os, "access", lambda *_: False)  # root can access everything
    found = machine.data_directory(given)
    assert (found.state, "no right to write" in found.said) == ("failed", True)
    assert "as root" not in found.fix
    monkeypatch.setattr(machine, "is_read_only", lambda _: True)
    found = machine.data_directory(given)
    assert (found.state, "read-only disk" in found.said, "run Relay as" in found.fix) == ("failed", True, False)
    monkeypatch.setenv("RELAY_DATA_DIR", str(tmp_path / "file"))
    (tmp_path / "file").touch()
    assert machine.data_directory(load_with_errors()[0]).said.endswith("is not a directory")


def test_the_age_of_backups_is_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given, long_ago = load_with_errors()[0], (datetime.now(UTC) - timedelta(days=9)).isoformat()
    assert machine.backup(given, "").state == "skipped"
    assert machine.backup(given, datetime.now(UTC).isoformat()).state == "skipped"
    assert machine.backup(given, long_ago).state == "warning"
    (given.data_dir / "backups").mkdir(parents=True)
    file = given.data_dir / "backups" / "relay-20260101-031000.relaybackup"
    file.touch()
    assert machine.backup(given, long_ago).said.endswith("the last less than 1 h ago")
    os.utime(file, (time.time() - 5 * 86400,) * 2)
    assert "5 days ago" in machine.backup(given, long_ago).said
    for place in (file, file / "below"):
        monkeypatch.setenv("RELAY_BACKUP_DIR", str(place))
        found = machine.backup(load_with_errors()[0], long_ago)
        assert (found.state, "is not a directory" in found.said) == ("failed", True)
        assert str(machine.shorten(file)) not in machine.disk(load_with_errors()[0]).said
    monkeypatch.setenv("RELAY_BACKUP_DAYS", "0")
    assert machine.backup(load_with_errors()[0], long_ago).state == "skipped"


@pytest.mark.skipif(sys.platform != "linux", reason="its /proc")
def test_an_impossible_directory_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_DATA_DIR", "/proc/x")
    monkeypatch.setenv("RELAY_BACKUP_DIR", "/proc/x")
    given = load_with_errors()[0]
    found = [machine.data_directory(given), machine.backup(given, ""), machine.disk(given)]
    assert [one.state for one in found] == ["failed", "failed", "skipped"]


def test_incidents_are_reported_as_sentences() -> None:
    found = storage.check_work(working(incidents=("The disk is full.", "Another one.")))
    assert found.said == "The disk is full. And 1 more."


async def silent(*_: object) -> int:
    """A port on which nothing answers, whatever runs on this machine."""
    return 0


async def test_a_port_used_by_another_program_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setenv("RELAY_WEB_PORT", str(taken.getsockname()[1]))
        monkeypatch.setattr(network, "ASK_SECONDS", 0.2)
        for here in (False, True):
            found = await network.ports(load_with_errors()[0], here)
            assert (found.state, "another program uses" in found.said) == ("failed", True)
            assert "RELAY_WEB_PORT" in found.fix
        with monkeypatch.context() as unset:
            unset.setattr(network, "_bind", lambda *_: errno.EADDRINUSE)
            unset.delenv("RELAY_WEB_PORT")
            unset.setattr(network, "_status", silent)
            for here in (False, True):
                found = await network.ports(load_with_errors()[0], here)
                assert (found.state, "without its health page" in found.said) == ("warning", True), "a start does too"
            unset.setenv("RELAY_WEBHOOK_URL", "https://me.example")
            found = await network.ports(load_with_errors()[0], False)
            assert (found.state, "RELAY_WEBHOOK_PORT" in found.fix) == ("failed", True)
    assert (await network.ports(load_with_errors()[0], False)).state == "ok"
    monkeypatch.setenv("RELAY_WEB_HOST", "203.0.113.7")
    assert "RELAY_WEB_HOST" in (await network.ports(load_with_errors()[0], False)).fix
    monkeypatch.setenv("RELAY_WEB", "off")
    assert (await network.ports(load_with_errors()[0], False)).state == "skipped"


@pytest.mark.parametrize(("ahead", "said"), [(0, "correct"), (600, "s behind"), (10, "s behind"), (-600, "s ahead")])
async def test_the_clock_is_compared_with_the_clock_of_telegram(
    monkeypatch: pytest.MonkeyPatch, ahead: float, said: str
) -> None:
    async with TelegramStandIn() as tg:
        monkeypatch.setenv("TELEGRAM_API_URL", tg.url)
        tg.clock_ahead = ahead
        found = await network.clock(load_with_errors()[0])
        assert (found.state, said in found.said) == ("warning" if ahead else "ok", True)
        tg.stopped = True
        assert (await network.clock(load_with_errors()[0])).state == "skipped"


def test_a_stopped_relay_is_not_taken_for_a_running_one(tmp_path: Path) -> None:
    assert not in_use(tmp_path / "data")
    assert not (tmp_path / "data").exists()
    Instance(tmp_path / "data").release()
    assert not in_use(tmp_path / "data")
    assert (tmp_path / "data").stat().st_mode & 0o066 == 0, "other users never have access"


@pytest.mark.parametrize(
    ("settings", "there", "state", "said"),
    [
        ({}, (), "skipped", "not transcribed; run `relay setup` where Relay runs, then restart"),
        ({"RELAY_STT": "off"}, ("faster_whisper", "av"), "skipped", "off (RELAY_STT)"),
        ({"RELAY_STT": "openai-whisper"}, ("faster_whisper", "av"), "warning", "which is not installed"),
        ({}, ("faster_whisper", "whisper", "av"), "ok", "faster-whisper"),
        (
            {"RELAY_WHISPER_MODEL": "./nothing"},
            ("faster_whisper", "av"),
            "warning",
            "is not a model for faster-whisper",
        ),
        ({"RELAY_WHISPER_MODEL": "./mine.pt"}, ("whisper", "av"), "ok", "model ./mine.pt"),
        ({"RELAY_STT_LANGUAGE": "Deutsch, bitte"}, ("whisper", "av"), "warning", "not a language code"),
    ],
)
def test_speech_to_text_is_checked(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], there: tuple[str, ...], state: str, said: str
) -> None:
    Path("mine.pt").touch()
    monkeypatch.setattr(installed, "find_spec", lambda name: name if name in there else None)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    found = speech.speech(load_with_errors()[0])
    assert (found.state, said in found.said) == (state, True), found
    assert bool(found.fix) == (state == "warning")


# Telegram's answers


@pytest.mark.parametrize(
    ("info", "webhook", "here", "state", "said"),
    [
        ({"url": ""}, "", False, "ok", "polled, 0 waiting"),
        ({"url": "", "pending_update_count": 99}, "", True, "warning", "99 are waiting at Telegram"),
        ({"url": "https://else.example/secretpath"}, "", True, "failed", "a webhook is set, at else.example"),
        ({"url": ""}, "https://me.example", False, "skipped", "`relay run` sets it"),
        ({"url": ""}, "https://me.example", True, "failed", "the webhook is not set"),
        ({"url": "https://else.example/x"}, "https://me.example", True, "failed", "not to RELAY_WEBHOOK_URL"),
        ({"url": "https://me.example/x"}, "https://me.example", True, "ok", "delivered to me.example"),
        (
            {"url": "https://me.example/x", "last_error_date": int(time.time()), "last_error_message": "502 Bad"},
            "https://me.example", True, "warning", "502 Bad",
        ),
    ],
)  # fmt: skip
def test_polling_and_the_webhook_are_checked(
    monkeypatch: pytest.MonkeyPatch, info: dict[str, Any], webhook: str, here: bool, state: str, said: str
) -> None:
    monkeypatch.setenv("RELAY_WEBHOOK_URL", webhook)
    given = decode(telegram.WebhookInfo, info) or telegram.WebhookInfo()
    found = telegram.messages(load_with_errors()[0], given, here)
    assert (found.state, said in found.said) == (state, True), found
    assert "secretpath" not in str(found)
    assert bool(found.fix) == (state in ("failed", "warning"))


# Printing


def test_an_error_is_split_into_the_problem_and_the_fix() -> None:
    found = of_error("telegram", TokenRefused())
    assert found.said == "Telegram does not accept TELEGRAM_BOT_TOKEN."
    assert found.fix == "Ask @BotFather for the current one (/mybots → API Token)."


def test_the_page_keeps_its_width_and_contains_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:hunt%20er22@h/d")
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", TOKEN)
    found = [
        Finding("database", "failed", f"{'word ' * 40}hunt er22 {TOKEN}", "Do that. " * 20),
        Finding("x", "ok", "y"),
    ]
    given = load_with_errors()[0]
    page = doctor.as_page(found, given)
    assert max(map(len, page.splitlines())) <= 80
    assert page.splitlines()[-1] == "1 failed."
    assert "\x1b" not in page
    assert "\x1b[31m✗" in doctor.as_page(found, given, colours=True)
    for text in (page, doctor.as_json(found, given)):
        assert "[secret]" in text
        assert TOKEN not in text
        assert "er22" not in text
    assert json.loads(doctor.as_json(found, given))["ok"] is False


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        ([("a", "ok"), ("b", "warning"), ("c", "skipped")], 0),
        ([("database", "failed"), ("settings", "ok")], 1),
        ([("database", "failed"), ("settings", "failed")], 2),
    ],
)
def test_the_exit_code_follows_the_findings(findings: list[tuple[str, Any]], code: int) -> None:
    assert doctor.exit_code([Finding(name, state, "") for name, state in findings]) == code


async def test_a_check_that_breaks_or_hangs_becomes_a_finding() -> None:
    async def breaks() -> list[Finding]:
        raise KeyError("result")

    async def hangs() -> list[Finding]:
        import asyncio

        await asyncio.Event().wait()
        return []

    for work, said in ((breaks(), "KeyError"), (hangs(), "no answer within 0.01 s")):
        first, second = await run_within(0.01, ("first", "second"), work)
        assert (first.state, said in first.said, second.state) == ("failed", True, "skipped")

"""What the shell prints: counts, times, and the exit code when nothing was done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from typer.testing import CliRunner

from relay.surfaces.cli.cli import cli
from tests.integration.conftest import TEMPLATE, Server

ZONE = ZoneInfo("Pacific/Kiritimati")
"""14 hours ahead of UTC."""


@pytest.fixture(autouse=True)
def there(embedded: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty database, in the settings of the environment."""
    name = embedded.create(TEMPLATE)
    values = {"DATABASE_URL": embedded.url(name), "RELAY_DATA_DIR": str(tmp_path / "data"), "RELAY_ADMINS": "1"}
    for key, value in (values | {"RELAY_EMBEDDER": "off", "RELAY_TIMEZONE": str(ZONE)}).items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(tmp_path)
    yield
    embedded.drop(name)


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, words)
    return done.exit_code, done.output or str(done.exception)


def test_times_are_in_the_persons_zone() -> None:
    before = datetime.now(ZONE).replace(second=0, microsecond=0)
    run("remember", "I", "sail")
    for words in (("memory", "changes"), ("memory", "history", "1")):
        code, shown = run(*words)
        assert code == 0
        assert any(f"{before + timedelta(minutes=n):%Y-%m-%d %H:%M}" in shown for n in range(5)), shown


def test_counts_are_in_words() -> None:
    for group in ("memory", "preferences"):
        assert "There is nothing to forget." in run(group, "reset", "--yes", "0")[1]
    run("remember", "I", "sail")
    run("preferences", "prefer", "short", "answers")
    assert "Relay knows 1 memory. To forget everything: relay memory reset --yes 1" in run("memory", "reset")[1]
    assert "Relay knows 1 preference. To forget" in run("preferences", "reset")[1]
    assert "1 entries" not in run("memory", "index")[1]


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_an_erasure_that_erases_nothing_exits_with_1(as_json: tuple[str, ...]) -> None:
    run("remember", "I", "sail", "a", "zanzibarix")
    assert run("memory", "erase", "quinceberry", *as_json)[0] == 1
    assert run("memory", "erase", "zanzibarix", *as_json)[0] == 1
    assert run("memory", "erase", "zanzibarix", "--yes", *as_json)[0] == 0
    assert run("memory", "erase", "zanzibarix", "--yes", *as_json)[0] == 1


def test_a_decision_prints_its_change_and_exits_with_1_if_it_did_nothing() -> None:
    run("remember", "I", "sail")
    assert run("memory", "undo", "1") == (0, "↩ Undone: I sail\n")
    assert run("memory", "keep", "1") == (1, "That's already decided.")
    assert run("memory", "undo", "1", "--json")[0] == 0, "it is as wanted"
    assert run("memory", "undo", "99") == (1, "This is gone, or not yours to see.")
    run("remember", "I", "ski")
    run("memory", "edit", "2", "I", "ski", "in", "Tyrol")
    assert run("memory", "undo", "2") == (1, "It has changed again since. Undo the newer change first.")
    run("memory", "pin", "2")
    assert run("memory", "pin", "2") == (0, "Nothing to change.\n")


def test_a_change_that_no_turn_made_is_undone_or_refused_like_others() -> None:
    run("remember", "I", "sail")
    assert run("memory", "reset", "--yes", "1")[0] == 0
    assert "2 " in run("memory", "changes")[1]
    assert run("memory", "undo", "2") == (0, "↩ Undone: I sail\n")
    assert run("memory", "reset", "--yes", "1")[0] == 0
    assert run("memory", "restore", "1")[0] == 0
    assert run("memory", "undo", "3") == (1, "It has changed again since. Undo the newer change first.")


def test_a_refusal_names_the_command_of_the_shell() -> None:
    run("memory", "off")
    code, shown = run("remember", "I", "sail")
    assert code == 1
    assert "(memory is off or paused, relay memory on): I sail" in shown


def test_a_search_lists_more_results_than_a_page_in_the_chat() -> None:
    for number in range(8):
        run("remember", "I", "play", "chess", "with", f"friend {number}")
    shown = run("search", "chess")[1]
    assert all(f"friend {number}" in shown for number in range(8))


def test_the_readable_export_has_reminders_and_no_empty_conversations(tmp_path: Path) -> None:
    run("remember", "I", "sail")
    run("remind", "2031-01-01", "9:00", "bins")
    run("remind", "when", "dentist:", "take", "the", "card")
    assert run("export")[0] == 0
    text = (tmp_path / "relay-export-1.md").read_text()
    assert "## Reminders\n\n- ⏰ bins (active, next 2031-01-01 09:00)\n" in text
    assert "- 💡 When “dentist” comes up: take the card (active)\n" in text
    assert "## Terminal" not in text


@pytest.mark.parametrize(
    ("token", "admins", "said"),
    [
        ("123456:AAF_stand-in_7nQxW0vTgKe2LrYbZ9mPsD4", "1", "The bot reminds you in Telegram"),
        ("123456:AAF_stand-in_7nQxW0vTgKe2LrYbZ9mPsD4", "", "Nothing reminds you yet"),
        ("", "1", "Nothing reminds you yet"),
    ],
)
def test_a_reminder_and_a_digest_promise_only_what_a_bot_can_keep(
    monkeypatch: pytest.MonkeyPatch, token: str, admins: str, said: str
) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", token)
    monkeypatch.setenv("RELAY_ADMINS", admins)
    assert said in run("remind", "2031-01-01", "9:00", "bins")[1]
    for others in (("digest", "at", "7:30"), ("heartbeat", "on")):
        assert said.replace("reminds you", "does that") in run(*others)[1]


def test_people_in_the_settings_are_listed_for_programs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_USERS", "2")
    code, shown = run("users", "--json")
    listed = [(one["user_id"], one["role"]) for one in json.loads(shown)["people"]]
    assert (code, listed) == (0, [(1, "admin"), (2, "user")])
    assert run("users")[1].splitlines() == [
        "People who can use me", "• 1 – admin, set in RELAY_ADMINS", "• 2 – set in RELAY_USERS"
    ]  # fmt: skip


def test_a_shell_is_not_told_to_reply_to_messages() -> None:
    code, shown = run("keepit")
    assert code == 0
    assert shown.startswith("Nothing is marked in this conversation yet.\n\nTo keep a passage, write ##keepit0.80##")
    code, shown = run("keepit", "0.8")
    assert code == 1
    assert shown == "Say which passage to keep: relay keepit 0.80 the gate code is 4711\n"


def test_lists_say_what_they_leave_out_and_that_nothing_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    run("remember", "I", "sail")
    assert run("memory", "changes")[1].splitlines()[-1].startswith("`relay memory undo NUMBER`")
    run("remember", "I", "cook")
    assert run("memory", "zanzibar") == (0, "Nothing here matches that.\n")
    monkeypatch.setattr("relay.surfaces.cli.memory.look.PAGE", 1)
    assert "The newest 1 of 2. `relay memory undo NUMBER` undoes one" in run("memory", "changes")[1]


def test_a_file_that_is_not_written_exits_with_1(tmp_path: Path) -> None:
    run("remind", "tomorrow", "9:00", "tea")
    assert run("reminders", "ics")[0] == 0
    (tmp_path / "relay.ics").unlink()
    (tmp_path / ".relay.ics.partial").mkdir()
    code, said = run("reminders", "ics")
    assert (code, "relay.ics was not written: " in said) == (1, True), said

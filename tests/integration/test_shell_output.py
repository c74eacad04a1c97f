"""What the shell prints: counts, times, and the exit code when nothing was done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from typer.testing import CliRunner

from relay.core.errors import RelayError
from relay.surfaces.cli.cli import cli
from relay.surfaces.cli.shell import error_text, exit_code
from tests.integration.conftest import TEMPLATE, Server
from tests.integration.long_session import long_session, superuser_sql

ZONE = ZoneInfo("Pacific/Kiritimati")
"""14 hours ahead of UTC."""


@pytest.fixture(autouse=True)
def there(embedded: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an empty database, which is in the settings of the environment."""
    name = embedded.create(TEMPLATE)
    values = {"DATABASE_URL": embedded.url(name), "RELAY_DATA_DIR": str(tmp_path / "data"), "RELAY_ADMINS": "1"}
    for key, value in (values | {"RELAY_EMBEDDER": "off", "RELAY_TIMEZONE": str(ZONE)}).items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(tmp_path)
    yield embedded.url(name, superuser=True)
    embedded.drop(name)


@pytest.fixture
async def in_telegram(there: str) -> None:
    """Three sessions in the admin's Telegram chat: Alpha, Beta and Gamma, whose ids are 1 to 3."""
    async with superuser_sql(there) as sql:
        for title in ("Alpha", "Beta", "Gamma"):
            made = await long_session(sql, 4, 200, user_id=1)
            await sql("update session set title = %s where id = %s", title, made.id)


def run(*words: str, typed: str = "") -> tuple[int, str]:
    """Runs a command; returns the exit code, and what is printed or else the error, as `relay` itself does."""
    done = CliRunner().invoke(cli, words, typed)
    if isinstance(done.exception, RelayError):
        return exit_code(done.exception), done.output or error_text(done.exception)
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
    assert "That would forget 1 memory. To confirm: relay memory reset --yes 1" in run("memory", "reset")[1]
    assert (
        "That would forget 1 preference. To confirm: relay preferences reset --yes 1" in run("preferences", "reset")[1]
    )
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
    assert run("memory", "undo", "99") == (1, "There is no change 99. `relay memory changes` lists them.")
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
    assert code == 2
    assert shown == "Say which passage to keep: relay keepit 0.80 the gate code is 4711\n"
    shown = run("preferences")[1]
    assert "Or say it about my last answer: relay tag too long." in shown
    assert "reply" not in shown.lower()
    run("heartbeat", "on")
    assert "reply" not in run("heartbeat", "edit")[1].lower()
    code, shown = run("soul", "edit")
    assert (code, "answer with my new soul, as text." in shown) == (1, True), shown
    assert "reply" not in shown.lower()


def test_lists_say_what_they_leave_out_and_that_nothing_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    run("remember", "I", "sail")
    assert run("memory", "changes")[1].splitlines()[-1].startswith("`relay memory undo NUMBER`")
    run("remember", "I", "cook")
    assert run("memory", "zanzibar") == (0, "Nothing here matches that.\n")
    monkeypatch.setattr("relay.surfaces.cli.memory.look.PAGE", 1)
    assert "The newest 1 of 2. `relay memory undo NUMBER` undoes one" in run("memory", "changes")[1]


def test_a_file_that_is_not_written_exits_with_1(tmp_path: Path) -> None:
    run("remind", "in", "1", "day", "at", "9:00", "tea")
    assert run("reminders", "ics")[0] == 0
    (tmp_path / "relay.ics").unlink()
    (tmp_path / ".relay.ics.partial").mkdir()
    code, said = run("reminders", "ics")
    assert (code, "relay.ics was not written: " in said) == (1, True), said


IN_TELEGRAM = "There are 3 sessions in your Telegram chat: relay session list --chat 1"


def test_an_empty_list_says_that_the_sessions_are_in_telegram(in_telegram: None) -> None:
    assert run("session", "list") == (0, f"There are no sessions here yet.\n{IN_TELEGRAM}\n")
    assert run("sessions") == (0, f"We haven't talked here yet.\n{IN_TELEGRAM}\n")
    for words in (
        ("sessions", "2"),
        ("session", "show", "2"),
        ("session", "versions", "2"),
        ("compress", "gentle", "2"),
    ):
        code, shown = run(*words)
        assert (code, shown.strip()) == (1, f"There's no session with that number. {IN_TELEGRAM}"), words
    assert run("session", "show", "#2") == (1, f"There's no session with that id here. {IN_TELEGRAM}")
    assert json.loads(run("session", "list", "--json")[1])["total"] == 0


def test_all_lists_of_sessions_take_a_chat(in_telegram: None) -> None:
    code, shown = run("sessions", "--chat", "1")
    assert (code, "Sessions in this conversation (3)" in shown, "1 · Gamma" in shown) == (0, True, True), shown
    assert "\nGamma\n" in f"\n{run('sessions', '1', '--chat', '1')[1]}"
    assert json.loads(run("sessions", "--chat", "1", "--json")[1])["total"] == 3
    assert "3 of 3" in run("session", "list", "--chat", "1")[1]
    assert "Which sessions belong together?" in run("compose", "garden", "--chat", "1")[1]


def test_nothing_is_said_of_telegram_if_there_are_no_sessions_there() -> None:
    assert run("session", "list") == (0, "There are no sessions here yet.\n")
    assert run("session", "show", "1")[1] == "There's no session with that number. relay sessions lists them."


def test_composing_where_there_are_no_sessions_exits_with_1(in_telegram: None) -> None:
    assert run("compose", "garden") == (1, f"There are no sessions here to compose.\n{IN_TELEGRAM}\n")
    code, shown = run("compose", "garden", "--json")
    assert (code, IN_TELEGRAM in json.loads(shown)["error"]) == (1, True)


def test_a_composition_takes_sessions_by_their_numbers_in_the_list_or_by_their_ids(in_telegram: None) -> None:
    def composed(name: str, *options: str) -> list[str]:
        code, shown = run("compose", "new", name, *options, "--chat", "1", "--json")
        assert code == 0, shown
        return [part["title"] for part in json.loads(shown)["parts"]]

    assert composed("one", "--session", "1") == ["Gamma"]
    assert composed("two", "--session", "#1", "--session", "2=original", "--in-order") == ["Alpha", "Beta"]
    code, shown = run("compose", "new", "three", "--session", "9", "--chat", "1")
    assert (code, shown) == (1, "There's no session with that number. relay sessions lists them.")
    assert run("compose", "new", "four", "--session", "1") == (
        1,
        f"There's no session with that number. {IN_TELEGRAM}",
    )


def test_markers_are_listed_of_the_session_with_that_number_in_the_list(in_telegram: None) -> None:
    def sessions(name: str) -> set[int]:
        shown = run("session", "keepits", "--session", name, "--chat", "1", "--json")[1]
        return {one["session_id"] for one in json.loads(shown)["keepits"]}

    assert sessions("1") == {3}
    assert sessions("#1") == {1}


@pytest.mark.parametrize(
    "words",
    [
        "compose new C --session 1 --chat 1 --strategy x",
        "compose new C --session 1 --chat 1 --format x",
        "compose new C --session 1 --chat 1 --budget 5",
        "compose new C --session one --chat 1",
        "session list --topic 5",
        "usage 0",
        "usage abc",
        "settings sound maybe",
        "digest at 99:99",
        "digest maybe",
        "private maybe",
        "session list --chat 99999999999999999999",
        "session nope",
        "session --nope",
    ],
)
def test_a_wrong_argument_exits_with_2(words: str, in_telegram: None) -> None:
    assert run(*words.split())[0] == 2
    code, said = run(*words.split(), "--json")
    assert code == 2
    assert json.loads(said)["error"]


def test_a_number_that_no_database_can_hold_is_like_any_other_that_is_not_there() -> None:
    huge = "99999999999999999999"
    for words in ("memory pin {}", "memory edit {} tea", "memory undo {}", "memory keep {}", "session list --chat {}"):
        _, shown = run(*words.format(huge).split())
        assert shown == run(*words.format("99999").split())[1].replace("99999", huge), words


def test_off_the_record_the_terminal_speaks_of_no_messages_in_telegram() -> None:
    shown = run("private")[1]
    assert "Off the record" in shown
    assert "The model that answers still sees your messages." in shown
    assert "Telegram" not in shown


def test_a_search_for_single_letters_says_that_it_skips_them() -> None:
    run("remember", "I", "sail")
    for words in ("x", "the", "?!"):
        assert "I skip very common words, single letters and punctuation." in run("search", words)[1]


@pytest.mark.parametrize("admins", ["", "1"])
def test_tokens_are_only_offered_to_somebody_who_can_make_them(monkeypatch: pytest.MonkeyPatch, admins: str) -> None:
    monkeypatch.setenv("RELAY_ADMINS", admins)
    code, shown = run("token", "list")
    assert (code, "relay token new" in shown) == ((0, True) if admins else (1, False)), shown
    assert run("token", "new", "phone")[0] == code


def test_a_token_says_that_the_api_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "RELAY_API" not in run("token", "new", "phone")[1]
    monkeypatch.setenv("RELAY_API", "off")
    assert "The API is switched off. Set RELAY_API=on" in run("token", "new", "clock")[1]


def test_a_token_cannot_be_called_like_another_ones_number() -> None:
    run("token", "new", "phone")
    code, shown = run("token", "new", " 1 ")
    assert (code, shown) == (2, "A name can't be only digits, because tokens have numbers, too.")
    assert run("token", "new", "1st")[0] == 0
    assert run("token", "revoke", "1")[1] == "Revoked: 1 phone.\n"


def test_a_restore_backs_up_a_database_without_messages(tmp_path: Path) -> None:
    assert run("backup", "--to", str(tmp_path / "empty.relaybackup"))[0] == 0
    assert "backed up" not in run("restore", str(tmp_path / "empty.relaybackup"), "--replace")[1]
    assert run("preferences", "prefer", "short", "answers")[0] == 0
    code, shown = run("restore", str(tmp_path / "empty.relaybackup"), "--replace")
    assert code == 0
    assert "about 0 messages, 0 memories, and everything else in it." in shown
    (saved,) = (tmp_path / "data" / "backups").iterdir()
    assert f"It is backed up in {saved}" in " ".join(shown.split())
    assert "Prefer: short answers" not in run("preferences")[1]
    assert run("restore", str(saved), "--replace")[0] == 0
    assert "short answers" in run("preferences")[1]


def test_a_restore_names_the_command_of_the_shell(tmp_path: Path) -> None:
    run("remember", "I", "sail")
    assert run("backup", "--to", str(tmp_path / "one.relaybackup"))[0] == 0
    code, shown = run("restore", str(tmp_path / "one.relaybackup"), "--replace")
    assert (code, "check `relay users`. Unused invitations are void." in " ".join(shown.split())) == (0, True), shown


def test_an_export_and_an_import_take_only_ids_that_telegram_has(tmp_path: Path) -> None:
    run("remember", "I", "sail")
    assert run("export")[0] == 0
    for option, wrong in (("--user", ("0", "-3", "9" * 20)), ("--chat", ("0", "5", "9" * 20))):
        for words in (("export",), ("import", str(tmp_path / "relay-export-1.jsonl"))):
            for number in wrong:
                code, shown = run(*words, option, number)
                assert (code, shown.startswith(f"{option} must be ")) == (2, True), shown
    assert run("export", "--chat", "-5") == (1, "There is nothing to export: nobody has said anything there.")


@pytest.mark.parametrize(
    "words",
    [
        "reminders soon", "reminders ics please", "status now", "why me", "voice loud", "digest maybe",
        "heartbeat maybe", "heartbeat off now", "heartbeat on every 30h", "memory here often", "memory pause forever",
        "summary please",
        "preferences on maybe", "preferences here often", "users approve 5 6", "users praise 5", "soul grow up",
        "soul history please", "compose show", "usage forever",
        "forget", "forget x", "remember", "remind", "remind sometime the dentist", "quiet whenever", "search",
        "search before:never", "tag", "revoke ada", "soul try", "compress nonsense", "compress moderate", "sessions x",
        "sessions settings nope", "memory rederive --what x", "preferences prefer", "preferences forget x",
        "preferences signal --kind x", "session compress --tiers x", "session show x",
        "session settings nope 1", "keepit 0.8",
    ],
)  # fmt: skip
def test_words_that_mean_nothing_are_refused_as_wrong_arguments(words: str) -> None:
    code, said = run(*words.split())
    assert code == 2, said


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        (f"summary correct {'ä' * 3_500}", ""), ("heartbeat edit", "x" * 2_001),
        (f"remind when {'w' * 101}: tea", ""), (f"remind when dentist: {'x' * 1_001}", ""),
        (f"remind 2031-03-01 9:00 {'x' * 1_001}", ""), (f"remember {'x' * 501}", ""), ("soul edit", "x" * 20_000),
        (f"persona {'x' * 5_000}", ""),
    ],
)  # fmt: skip
def test_a_text_that_is_too_long_exits_with_2(words: str, typed: str) -> None:
    run("heartbeat", "on")
    code, said = run(*words.split(), typed=typed)
    assert (code, "can have" in said) == (2, True), said


def test_a_summary_that_is_not_there_is_not_corrected() -> None:
    for words in (("summary", "correct"), ("summary", "correct", "Tea.")):
        code, said = run(*words)
        assert (code, said.startswith("This conversation has no summary yet.")) == (1, True), said


def test_a_session_without_messages_is_not_compressed() -> None:
    code, said = run("compress")
    assert (code, said.startswith("There's nothing to compress")) == (1, True), said


def test_a_page_behind_the_last_one_exits_with_2() -> None:
    run("soul", "set", "Be brief.")
    assert run("soul", "history", "9") == (2, "There's no page 9. The last one is 1.\n")


@pytest.mark.parametrize("words", ["soul try Be-brief. --yes", "summary refresh"])
def test_what_the_budget_forbids_exits_with_1(words: str, in_telegram: None, monkeypatch: pytest.MonkeyPatch) -> None:
    async def used_up(*_: object) -> str:
        return "Today's budget is used up."

    monkeypatch.setattr("relay.memory.spending.gate.Gate.used_up", used_up)
    code, said = run(*words.split())
    assert (code, said.splitlines()[-1]) == (1, "Today's budget is used up."), said
    code, said = run(*words.split(), "--json")
    assert (code, json.loads(said)) == (1, {"error": "Today's budget is used up."})


def test_a_memorys_history_and_what_waits_are_told_in_words() -> None:
    assert run("memory", "waiting") == (0, "Nothing waits for your decision.\n")
    assert run("memory", "changes") == (0, "Nothing has changed yet.\n")
    run("remember", "I sail")
    run("memory", "pin", "#1")
    pinned, learned = run("memory", "history", "1")[1].splitlines()
    assert pinned.endswith("📌 Pinned: I sail")
    assert learned.endswith("🧠 Learned: I sail")

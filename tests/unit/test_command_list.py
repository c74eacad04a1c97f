"""What `relay --help` shows, and the program's name in messages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from relay.core.program import find_program
from relay.surfaces.cli.cli import cli
from relay.surfaces.cli.parameters import read_number

run = CliRunner().invoke


def test_help_lists_all_commands_sorted_with_their_arguments() -> None:
    shown = run(cli, ["--help"], terminal_width=80).stdout
    names = re.findall(r"^  ([a-z]+)\b", shown.partition("Commands:")[2], re.MULTILINE)
    assert names == sorted(names)
    assert {"run", "users", "move", "memory"} <= set(names)
    assert "..." not in shown.partition("Commands:")[2], "a description is cut off"
    assert "users [approve|deny|block|admit|cancel <id>]" in shown
    assert "import <file>" in shown
    assert "move --to <to>" in shown
    one = run(cli, ["revoke", "--help"]).stdout
    assert "relay revoke [OPTIONS] <id or @name>" in one.replace("root", "relay")
    assert "--yes" in one


@pytest.mark.parametrize("group", ["compose", "db", "memory", "preferences", "session", "token"])
def test_the_help_of_a_group_is_sorted_and_whole(group: str) -> None:
    listed = run(cli, [group, "--help"], terminal_width=80).stdout.partition("Commands:")[2]
    names = re.findall(r"^  ([a-z]+)\b", listed, re.MULTILINE)
    assert names == sorted(names)
    assert len(names) > 1
    assert "..." not in listed
    assert "<" in listed or group == "db", "with arguments"


@pytest.mark.parametrize("words", ["nope --json", "token nope --json", "memory --json controls", "memory pin x --json"])
def test_a_usage_error_is_json_for_programs(words: str) -> None:
    done = run(cli, words.split())
    assert (done.exit_code, json.loads(done.stdout).keys(), done.stderr) == (2, {"error"}, "")


def every_help(command: Any, name: str, parent: Any = None) -> dict[str, str]:
    """Returns the help of a command and of those below it, by their words."""
    ctx = command.make_context(name, [], parent=parent, resilient_parsing=True)
    below = [every_help(command.get_command(ctx, one), one, ctx) for one in getattr(command, "commands", ())]
    return {ctx.command_path: command.get_help(ctx)} | dict(one for each in below for one in each.items())


def test_help_shows_no_types_of_python() -> None:
    root = get_command(cli)
    assert root.get_command(None, "memory")  # which imports the others
    shown = every_help(root, "relay")
    assert len(shown) > 90
    for words, one in shown.items():
        assert not re.search(r"<int|<str|<Path|list\[|range>|[{}%]|x<=|x>=|\[required|default: -1", one), words
    assert "relay memory pin [OPTIONS] <number>" in shown["relay memory pin"]
    assert "--user <number>" in shown["relay export"]
    assert "[default: all]" in shown["relay memory rederive"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["memory", "pin", "x"], "Invalid value for 'number': “x” is not a number."),
        (["export", "--user", "x"], "Invalid value for '--user': “x” is not a number."),
        (["session", "list", "--offset=-3"], "“-3” should be greater than or equal to 0."),
        (["memory", "rederive", "--since", "may"], "“may” is not a date, such as 2026-12-24."),
    ],
)
def test_a_wrong_number_is_refused_in_plain_words(words: list[str], sentence: str) -> None:
    done = run(cli, words)
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_a_number_may_have_its_sign() -> None:
    assert read_number("#12") == read_number("12") == 12


def test_the_version_option_and_command_print_the_same() -> None:
    assert run(cli, ["--version"]).stdout == run(cli, ["version"]).stdout != ""


def test_messages_name_the_program_as_the_shell_finds_it(tmp_path: Path) -> None:
    program = tmp_path / ".venv" / "bin" / "relay"
    program.parent.mkdir(parents=True)
    program.touch()
    other = tmp_path / "relay"
    other.touch()
    assert find_program(str(program), None, tmp_path) == ".venv/bin/relay"
    assert find_program(str(program), str(other), tmp_path / "elsewhere") == str(program)
    assert find_program(str(program), str(program), tmp_path) == "relay", "it is on the PATH"
    assert find_program("/usr/lib/relay/__main__.py", None, tmp_path) == "relay"


def test_ctrl_c_while_modules_are_imported_prints_no_traceback() -> None:
    program = (
        "import sys, relay.__main__\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "relay.__main__.main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")

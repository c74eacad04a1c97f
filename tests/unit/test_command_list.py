"""What `relay --help` shows, and the program's name in messages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from relay.core.program import find_program
from relay.surfaces.cli.cli import cli

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

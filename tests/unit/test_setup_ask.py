"""What setup does with an answer after trying it."""

from __future__ import annotations

import os
import pty
import select
import sys
import termios

import pytest

from relay.core.errors import ModelAccountError, ModelUnavailable, OutOfCredit, RelayError, SettingsError
from relay.surfaces.cli.setup import ask
from relay.surfaces.cli.setup.sheet import KEY, Sheet


@pytest.mark.parametrize(
    ("trouble", "stands"),
    [(ModelAccountError("The key is wrong."), False), (OutOfCredit(), True), (ModelUnavailable(), True)],
)
def test_a_key_from_the_environment_is_wrong_only_if_it_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], trouble: RelayError, stands: bool
) -> None:
    monkeypatch.setenv(KEY, "sk-ant-test")

    def check(_: Sheet) -> str:
        raise trouble

    if stands:
        assert ask.use_environment(Sheet(), (KEY,), "Asking", check).is_fixed(KEY)
    else:
        with pytest.raises(SettingsError, match=f"Correct {KEY} in the environment"):
            ask.use_environment(Sheet(), (KEY,), "Asking", check)
    assert str(trouble) in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("answer", ["y", ""])
def test_a_key_without_credit_may_be_kept(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.setattr("builtins.input", lambda: answer)
    assert ask.accept(OutOfCredit()) is bool(answer)


def test_what_is_typed_during_a_check_is_neither_shown_nor_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be the next key."""
    person, terminal = pty.openpty()

    def check(_: Sheet) -> str:
        os.write(person, b"sk-ant-secret\n")
        select.select([terminal], [], [], 10)  # it arrives a moment later
        return "it works"

    with open(terminal) as keyboard:
        monkeypatch.setattr(sys, "stdin", keyboard)
        assert ask.run_check(Sheet(), "Checking", check) is None
        assert termios.tcgetattr(terminal)[3] & termios.ECHO
        os.write(person, b"shown\n")
        assert keyboard.readline() == "shown\n"
    assert os.read(person, 100) == b"shown\r\n"
    os.close(person)

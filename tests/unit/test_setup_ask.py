"""What setup does with an answer after trying it."""

from __future__ import annotations

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

"""The question of `relay setup` about voice notes: what it writes and what it installs."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from relay.clients.speech import installed, piper
from relay.surfaces.cli.setup import aloud, ask, pip, speech
from relay.surfaces.cli.setup.sheet import SPEECH, Sheet

Answer = Callable[..., Sheet]


class Machine:
    """The installed packages, and the arguments that pip was given."""

    def __init__(self) -> None:
        self.there: set[str] = {"pip", "av"}
        self.told: list[Sequence[str]] = []
        self.fails = False
        self.free = 1.9
        self.uv: str | None = None

    def pip(self, arguments: Sequence[str]) -> bool:
        self.told.append(arguments)
        if not self.fails and any("whisper" in word for word in arguments):
            self.there.add("faster_whisper" if "faster-whisper" in arguments[0] else "whisper")
        return not self.fails


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    machine = Machine()
    for module in (installed, pip, piper):
        monkeypatch.setattr(module, "find_spec", lambda name: name if name in machine.there else None)
    monkeypatch.setattr(pip, "_run", machine.pip)
    monkeypatch.setattr(pip.shutil, "which", lambda name: machine.uv)
    monkeypatch.setattr(speech, "free_gigabytes", lambda: machine.free)
    monkeypatch.setattr(speech.sys, "platform", "linux")
    monkeypatch.delenv(SPEECH, raising=False)
    monkeypatch.chdir(tmp_path)
    return machine


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Answer:
    """Answers the questions. Asserts that every answer is used."""

    def run(*answers: str, sheet: Sheet | None = None) -> Sheet:
        left: Iterator[str] = iter(answers)
        for module in (ask, speech, aloud):
            monkeypatch.setattr(module, "read_line", lambda prompt: next(left))
        new = speech.ask(sheet or Sheet())
        assert not list(left)
        return new

    return run


def test_enter_keeps_the_present_settings(here: Machine, answered: Answer) -> None:
    assert dict(answered("").answers) == {}
    here.there.add("faster_whisper")
    assert dict(answered("", "").answers) == {}
    assert not here.told


def test_enter_installs_the_lighter_engine_if_there_is_room(
    here: Machine, answered: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    here.free = 2.4
    assert dict(answered("", "", "").answers) == {}, "auto takes what is installed"
    assert speech.choose_engine("auto") == "faster-whisper"
    assert "2 GB are free." in " ".join(capsys.readouterr().out.split())
    here.there.remove("faster_whisper")
    assert dict(answered("", sheet=Sheet({SPEECH: "off"})).answers) == {SPEECH: "off"}, "an earlier refusal is kept"


def test_choosing_no_online_service_installs_a_local_voice(
    here: Machine, answered: Answer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here.there |= {"faster_whisper"}
    monkeypatch.setenv("RELAY_DATA_DIR", str(tmp_path / "data"))
    voice = tmp_path / "data" / "voices" / "de_DE-thorsten-medium.onnx"

    def download(name: str, folder: Path) -> bool:
        here.there.add("piper")
        folder.mkdir(parents=True)
        for end in ("", ".json"):
            (folder / f"{name}.onnx{end}").touch()
        return True

    assert answered("2", "3")["RELAY_TTS"] == "off"
    monkeypatch.setattr(aloud, "_download", lambda name, folder: False)
    assert answered("2", "2", "de_DE-thorsten-medium")["RELAY_TTS_VOICE"] == str(voice)
    assert "piper.download_voices de_DE-thorsten-medium" in capsys.readouterr().out
    monkeypatch.setattr(aloud, "_download", download)
    sheet = answered("2", "what?", "2", "de_DE-thorsten-medium")
    assert (sheet["RELAY_TTS"], sheet["RELAY_TTS_VOICE"]) == ("piper", str(voice))
    assert list(here.told[-1]) == ["piper-tts>=1.3", "av>=14"]
    assert "didn't work" not in capsys.readouterr().out
    here.told.clear()
    assert answered("2", "", sheet=sheet) == sheet
    assert not here.told


def test_no_is_written_only_if_an_engine_is_installed(here: Machine, answered: Answer) -> None:
    assert answered("1").answers.get(SPEECH, "") == ""
    here.there.add("whisper")
    assert answered("1")[SPEECH] == "off"
    assert answered("3", "", sheet=Sheet({SPEECH: "off"}))[SPEECH] == "openai-whisper"
    assert not here.told


def test_a_missing_engine_is_installed_on_request(
    here: Machine, answered: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answered("what?", "2", "", "")[SPEECH] == "faster-whisper"
    told = capsys.readouterr().out
    assert "360 MB" in told
    assert "145 MB" in told, "before anything is downloaded"
    assert [list(one) for one in here.told] == [["faster-whisper>=1.2,<2", "av>=14"]]
    assert "Installed." in told
    here.told.clear()
    answered("3", "y", "")
    assert [word for one in here.told for word in one if word.startswith(("torch", "--", "openai"))] == [
        *("torch", "--index-url", "--no-deps", "openai-whisper>=20250625"),
    ], "torch without GPU packages, and no triton"
    assert not [line for line in told.splitlines() if len(line) > 80]


@pytest.mark.parametrize("answers", [("2", "n"), ("2", "y")])
def test_the_install_command_is_shown_if_installing_is_declined_or_fails(
    here: Machine, answered: Answer, capsys: pytest.CaptureFixture[str], answers: tuple[str, ...]
) -> None:
    here.fails = True
    assert answered(*answers, "")[SPEECH] == "faster-whisper"
    told = capsys.readouterr().out
    assert "-m pip install 'faster-whisper>=1.2,<2' 'av>=14'" in told
    assert ("That didn't work." in told) == (answers[-1] == "y")


def test_without_pip_and_uv_the_install_command_is_shown(
    here: Machine, answered: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    here.there.remove("pip")
    assert answered("2", "")[SPEECH] == "faster-whisper"
    assert "  uv pip install --python " in capsys.readouterr().out


def test_uv_installs_where_it_made_the_environment(here: Machine, answered: Answer) -> None:
    here.there.remove("pip")
    here.free, here.uv = 3.0, "/usr/bin/uv"
    answered("", "", "")  # nothing but Enter
    assert [list(one) for one in here.told] == [["faster-whisper>=1.2,<2", "av>=14"]]


@pytest.mark.parametrize(("with_pip", "program"), [(True, [sys.executable, "-m", "pip"]), (False, ["uv", "pip"])])
def test_packages_go_into_the_environment_of_relay(
    monkeypatch: pytest.MonkeyPatch, with_pip: bool, program: list[str]
) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], check: bool) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(pip, "find_spec", lambda name: name if with_pip else None)
    monkeypatch.setattr(pip.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(pip.subprocess, "run", run)
    assert pip.install(speech.LITE)
    assert ran[0][: len(program)] == program
    assert ran[0][-2:] == list(speech.LITE[0])
    assert ("--python" in ran[0]) != with_pip


@pytest.mark.parametrize(
    ("setting", "there", "said"),
    [
        ("", "", "not transcribed yet; faster-whisper is missing: "),
        ("openai-whisper", "faster_whisper", "not transcribed yet; openai-whisper is missing: "),
        ("off", "faster_whisper", "not transcribed"),
        ("", "faster_whisper", "transcribed with faster-whisper"),
    ],
)
def test_a_check_without_questions_says_what_is_missing(here: Machine, setting: str, there: str, said: str) -> None:
    here.there.add(there)
    assert speech.check(Sheet({SPEECH: setting})).startswith(said)


def test_setup_installs_the_packages_of_the_extras() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    assert set(extras["voice-lite"]) == {word for step in speech.LITE for word in step}
    assert set(extras["voice"]) == {word for step in speech.FULL for word in step}
    assert set(extras["voice"]) <= {word for step in speech.FULL_ON_LINUX for word in step}

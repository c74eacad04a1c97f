"""What the bot says about its speech to text and text to speech."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relay.surfaces.telegram.formatting.format import format_reply
from relay.surfaces.telegram.groups.access_requests import owner_greeting
from tests.unit.test_commands import CONTROLS, STATUS, Canned, call, installed, told


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
            [
                "voice notes: run relay setup where Relay runs, then restart it",
                "set RELAY_TTS=edge-tts",
                "photos, PDFs",
            ],
            "I understand them",
        ),
        ("", "edge-tts", ["my voice: /say reads an answer aloud (edge-tts); /voice can"], "voice notes aloud"),
    ],
)
def test_the_owners_greeting_says_what_works_and_how_to_enable_the_rest(
    hears: str, says: str, there: list[str], not_there: str
) -> None:
    greeting = shown(owner_greeting(installed(call().services, hears=hears, speaks=says), "Ada"))
    assert all(words in greeting for words in there), greeting
    assert not_there not in greeting
    assert "cannot open" not in greeting


def test_the_greeting_has_no_heading_without_content() -> None:
    services = installed(call().services, hears="faster-whisper", speaks="piper", web_search=True)
    assert "What is off" not in shown(owner_greeting(services, "Ada"))


async def test_status_names_the_speech_engines() -> None:
    asked = call(Canned(status=STATUS, controls=CONTROLS))
    off = (await told("status", asked)).text
    assert "- voice: speech to text is off; text to speech is off" in off
    services = installed(asked.services, hears="openai-whisper", speaks="piper")
    assert "voice: speech to text by openai-whisper; text to speech by piper" in shown(
        (await told("status", replace(asked, services=services))).text
    )

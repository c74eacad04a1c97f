"""RELAY_STT_PRELOAD: whether the speech model is loaded before anybody speaks."""

from __future__ import annotations

import os

import pytest

from tests.acceptance.conftest import World
from tests.standins.engine import SITE

LOADED = "speech model loaded"
PATH = os.pathsep.join(filter(None, (str(SITE), os.environ.get("PYTHONPATH", ""))))
ENGINE = {"RELAY_STT": "faster-whisper", "RELAY_WHISPER_MODEL": str(SITE), "PYTHONPATH": PATH}


@pytest.mark.settings(**ENGINE, RELAY_STT_PRELOAD="on")
async def test_with_preload_the_speech_model_is_loaded_at_startup(world: World) -> None:
    await world.tg.wait_for(lambda: LOADED in world.relay.output(), 60)
    world.model.rule(None, "Hello.")
    await world.tg.wait_reply(world.dm, await world.tg.say(world.dm, world.owner, "hi"))
    assert await world.relay.stop() == 0, "the bot stops cleanly with a loaded model"


@pytest.mark.settings(**ENGINE)
async def test_without_preload_no_speech_model_is_loaded_at_startup(world: World) -> None:
    world.model.rule(None, "Hello.")
    await world.tg.wait_reply(world.dm, await world.tg.say(world.dm, world.owner, "hi"))
    assert LOADED not in world.relay.output()

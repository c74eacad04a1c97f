"""A person talks with the bot."""

from __future__ import annotations

from tests.acceptance.conftest import World


async def test_a_message_gets_an_answer(world: World) -> None:
    said = await world.tg.say(world.dm, world.owner, "hello")
    reply = await world.tg.wait_reply(world.dm, after=said.message_id)
    assert reply.text == "You said: hello"

"""The Telegram stand-in in a separate process, and its webhook."""

import asyncio
import base64

import pytest
from aiohttp import web
from telegram import Bot
from telegram.error import Conflict

from tests.standins.telegram import RemoteTelegram, TelegramStandIn


async def test_the_standin_runs_in_a_separate_process() -> None:
    async with RemoteTelegram("99:REMOTE") as tg, Bot("99:REMOTE", base_url=f"{tg.url}/bot") as bot:
        await tg.user(id=7, first_name="Ada")
        await tg.dm(user=7)
        said = await tg.say(chat=7, user=7, voice={"base64": base64.b64encode(b"opus").decode(), "name": "a.oga"})
        assert (await bot.get_updates())[0].message.voice.file_size == 4
        await tg.fault(method="sendMessage", kind="conflict409")
        with pytest.raises(Conflict):
            await bot.send_message(7, "hi")
        await bot.send_message(7, "hello")
        reply = await tg.wait_reply(chat=7, after=said["message_id"])
        assert (reply["text"], reply["from_bot"]) == ("hello", True)
        assert [message["text"] for message in await tg.messages(chat=7)] == ["", "hello"]
        assert [record["code"] for record in await tg.log(method="sendMessage")] == [409, 200]
        assert await tg.say_many(messages=[{"chat": 7, "user": 7, "text": str(n)} for n in range(3)]) == [3, 4, 5]
        assert len(await tg.wait_calls(method="sendMessage")) == 1
        assert (await tg.stats())["pending"] == 4
        assert len((await tg.updates())["pending"]) == 4
        await tg.set(latency=0.01)
        with pytest.raises(RuntimeError, match="nonsense"):
            await tg.call("nonsense")
        with pytest.raises(TimeoutError):
            await tg.wait_reply(chat=7, after=100, timeout=0.05)


async def test_updates_are_delivered_to_a_webhook() -> None:
    seen: list[tuple[str, str]] = []

    async def receive(request: web.Request) -> web.Response:
        update = await request.json()
        seen.append((request.headers["X-Telegram-Bot-Api-Secret-Token"], update["message"]["text"]))
        return web.Response(status=500 if len(seen) == 1 else 200)

    app = web.Application()
    app.router.add_post("/hook", receive)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        async with TelegramStandIn() as tg, Bot(tg.token, base_url=f"{tg.url}/bot") as bot:
            tg.dm(tg.user(7))
            await tg.say(7, 7, "before")
            await bot.set_webhook(f"http://127.0.0.1:{runner.addresses[0][1]}/hook", secret_token="s3cret")
            with pytest.raises(Conflict, match="webhook is active"):
                await bot.get_updates()
            await tg.say(7, 7, "after")
            await tg.wait_for(lambda: len(seen) == 3)
            assert seen == [("s3cret", "before"), ("s3cret", "before"), ("s3cret", "after")]
            await asyncio.sleep(0.05)
            assert (await bot.get_webhook_info()).pending_update_count == 0
            await bot.delete_webhook()
            assert await bot.get_updates() == ()
    finally:
        await runner.cleanup()

"""The baseline for Relay: the simplest bot a person would write. It forgets everything, also when it is killed."""

from __future__ import annotations

import os

from anthropic import AsyncAnthropic
from telegram import Update
from telegram.ext import Application, ContextTypes, MessageHandler, filters

claude = AsyncAnthropic(api_key=os.environ["ANTHROPIC_API_KEY"], base_url=os.environ["ANTHROPIC_BASE_URL"])


async def echo(update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
    assert update.message is not None
    assert update.message.text is not None
    async with claude.messages.stream(
        model="claude-sonnet-5-5", max_tokens=1024, messages=[{"role": "user", "content": update.message.text}]
    ) as stream:
        text = await stream.get_final_text()
    await update.message.reply_text(text)


def main() -> None:
    api = os.environ["TELEGRAM_API_URL"]
    token = os.environ["TELEGRAM_BOT_TOKEN"]
    builder = Application.builder().token(token).base_url(f"{api}/bot").concurrent_updates(64)
    application = builder.connection_pool_size(64).pool_timeout(30).build()
    application.add_handler(MessageHandler(filters.TEXT, echo))
    application.run_polling()


if __name__ == "__main__":
    main()

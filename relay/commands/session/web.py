"""The web app, as people open it from a chat."""

from relay.commands.context import CommandContext
from relay.commands.registry import command
from relay.core.errors import CommandRefused
from relay.core.frozen import frozen
from relay.core.program import RELAY

NO_ADDRESS = (
    "My web app has no public address yet, which Telegram needs: set RELAY_WEB_URL. deploy/README.md says how to get "
    f"one. In a browser on my machine it works already: {RELAY} web prints a link."
)
NOT_YET = "My admins haven't set up my web app for Telegram yet. /memory shows what I know about you."


@frozen
class WebApp:
    """The address of the web app."""

    url: str


@command("browse", help="open my web app: memories, sessions, usage", surfaces=("chat",))
async def browse(ctx: CommandContext) -> WebApp:
    """Returns the app's address. Raises `CommandRefused` if it has none that Telegram opens."""
    url = ctx.services.installation.web_url
    if not url:
        raise CommandRefused(NO_ADDRESS, NOT_YET)
    return WebApp(url)

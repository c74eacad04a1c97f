"""`relay web`: a link that opens the web app."""

from __future__ import annotations

from relay.commands.people.tokens import LINK_SECONDS, new_link
from relay.core.errors import RelayError
from relay.core.frozen import frozen
from relay.core.program import RELAY
from relay.core.settings import Settings, load
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.cli.doctor.network import find_address
from relay.surfaces.cli.owner import Shown, owner_command

ANSWER_SECONDS = 10.0


@frozen
class PageLink:
    """A link that opens the web app."""

    url: str
    minutes: int


@owner_command()
async def show_link(ctx: ChatContext) -> Shown:
    """Print a link that opens the web app in a browser on this machine. It works once, for ten minutes."""
    settings = load()
    page = await _find_page(settings)
    link = PageLink(f"{page}/#link={await new_link(ctx)}", LINK_SECONDS // 60)
    text = f"{link.url}\nOpen it within {link.minutes} minutes. It works once."
    if settings.web_url:
        text += f"\nIn Telegram, the button beside the message field opens the app too, at {settings.web_url}."
    return Shown(link, text)


async def _find_page(settings: Settings) -> str:
    """Returns where the running bot serves the app. Raises `RelayError` that says what to do if it doesn't."""
    import httpx

    for off, name in ((not settings.web, "RELAY_WEB"), (not settings.api, "RELAY_API")):
        if off:
            raise RelayError(f"The web app is switched off. Set {name}=on, and start the bot again.")
    if not settings.web_port:
        raise RelayError("RELAY_WEB_PORT is 0, so the port changes at each start. Set one, and start the bot again.")
    page = find_address(settings.web_host, settings.web_port)
    try:
        async with httpx.AsyncClient(timeout=ANSWER_SECONDS, trust_env=False) as client:
            answer = await client.get(f"{page}/api/me")
    except httpx.TimeoutException:
        raise RelayError(f"The bot at {page} didn't answer in time. Try again in a moment.") from None
    except httpx.HTTPError:
        raise RelayError(
            f"Nothing answers at {page}: the bot isn't running here. Start it with `{RELAY} run`, and ask again."
        ) from None
    if answer.headers.get("server") != "relay" or answer.status_code != 401:
        raise RelayError(
            f"Another program answers at {page}, or a bot with RELAY_API=off. "
            f"Choose another RELAY_WEB_PORT, and start the bot with `{RELAY} run`."
        )
    return page

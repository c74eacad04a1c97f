"""Sets up the model: Claude with a key, or a server with Anthropic's API."""

from __future__ import annotations

import asyncio
import re

from relay.surfaces.cli.doctor.live import model_answers
from relay.surfaces.cli.setup.ask import (
    REFUSALS,
    from_environment,
    having,
    hidden,
    keepable,
    looked,
    say,
    settled,
    tried,
    typed,
)
from relay.surfaces.cli.setup.sheet import DEFAULTS, KEY, MODEL, SERVER, SMALL_MODEL, Sheet

DOING = "Asking for the model"
HOW = (
    "Claude needs a key: https://console.anthropic.com, API keys, Create key. Or give the address of a server that "
    "speaks Anthropic's API, such as http://localhost:11434 for Ollama."
)
NO_KEY = "Its key (hidden; Enter: it needs none): "
ADDRESS = re.compile(r"https?://|[\w.-]+:\d+(/|$)")


def check(sheet: Sheet) -> str:
    """Returns the model, if it can be used. Raises `ModelError`."""
    settings = sheet.settings(KEY, SERVER, MODEL)
    asyncio.run(model_answers(settings, settings.model))
    return f"{settings.model} can be used"


def elsewhere(sheet: Sheet) -> bool:
    """Whether the model is not on Anthropic's server."""
    return bool(sheet[SERVER]) and sheet[SERVER].rstrip("/") != DEFAULTS[SERVER]


def shown(address: str) -> str:
    """Removes a password from an address."""
    return re.sub(r"//[^/@]*@", "//", address)


def ask(sheet: Sheet) -> Sheet:
    """Asks for a key or an address until the model can be used."""
    if sheet.fixed(KEY):
        return from_environment(sheet, (KEY, SERVER, MODEL), DOING, check)
    if elsewhere(sheet):
        say(f"The server at {shown(sheet[SERVER])}{' (from the environment)' if sheet.fixed(SERVER) else ''}.")
    is_set = bool(sheet[KEY]) or (elsewhere(sheet) and not sheet.fixed(SERVER))
    kept = is_set and keepable(sheet, DOING, check)
    if not kept and not sheet.fixed(SERVER):
        say(HOW)
    while True:
        new = _asked(sheet, kept)
        if new is not None:
            return new


def _asked(sheet: Sheet, kept: bool) -> Sheet | None:
    is_fixed = sheet.fixed(SERVER)
    if kept:
        prompt = f"Enter keeps it; or paste another key{'' if is_fixed else ' or address'} (hidden): "
    else:
        prompt = NO_KEY if is_fixed else "The key or address (hidden): "
    answer = hidden(prompt)
    if kept and not answer:
        say("Kept.")
        return sheet
    if is_fixed:
        return _on_server(sheet, sheet[SERVER], answer)
    if not answer:
        say("Without one of them nobody answers.")
        return None
    if ADDRESS.match(answer):
        address = re.sub(r"/v1(/messages)?/*$", "", answer if "://" in answer else f"http://{answer}")
        say(f"The server at {shown(address)}.")
        return _on_server(sheet, address, hidden(NO_KEY))
    models = {MODEL: "", SMALL_MODEL: ""} if elsewhere(sheet) else {}
    if elsewhere(sheet):
        say(f"A key alone is one for Anthropic, at {DEFAULTS[SERVER]}.")
    return tried(sheet, {KEY: answer, SERVER: "", **models}, DOING, check)


def _on_server(sheet: Sheet, address: str, key: str) -> Sheet | None:
    """Asks which model until the server has it; None when it wants another key."""
    present = sheet[MODEL] or DEFAULTS[MODEL]
    server = {} if sheet.fixed(SERVER) else {SERVER: address}
    while True:
        model = "" if sheet.fixed(MODEL) else typed(f"Which of its models shall answer? [{present}] ")
        models = {MODEL: model, SMALL_MODEL: model} if model and model != present else {}
        new = having(sheet, {**server, KEY: key, **models})
        if new is None:
            return None
        trouble = looked(new, DOING, check)
        if settled(trouble):
            return new
        if isinstance(trouble, REFUSALS) or sheet.fixed(MODEL):
            return None

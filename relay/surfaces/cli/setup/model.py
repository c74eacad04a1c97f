"""Sets up the model: Claude with a key, or a server with Anthropic's API."""

import asyncio
import re

from relay.surfaces.cli.doctor.live import model_answers
from relay.surfaces.cli.setup.ask import (
    REFUSALS,
    accept,
    add_answers,
    can_keep,
    read_hidden,
    read_line,
    run_check,
    say,
    try_answers,
    use_environment,
)
from relay.surfaces.cli.setup.sheet import DEFAULTS, KEY, MODEL, SERVER, SMALL_MODEL, Sheet

DOING = "Checking the model"
HOW = (
    "Claude needs a key: https://console.anthropic.com, API keys, Create key. Or give the address of a server that "
    "speaks Anthropic's API, such as http://localhost:11434 for Ollama."
)
NO_KEY = "Its key (hidden; press Enter if it needs none): "
ADDRESS = re.compile(r"https?://|[\w.-]+:\d+(/|$)")


def check(sheet: Sheet) -> str:
    """Returns the model, if it can be used. Raises `ModelError`."""
    settings = sheet.settings(KEY, SERVER, MODEL)
    asyncio.run(model_answers(settings, settings.model))
    return f"{settings.model} works"


def is_elsewhere(sheet: Sheet) -> bool:
    """Tests whether the model is on another server than Anthropic's."""
    return bool(sheet[SERVER]) and sheet[SERVER].rstrip("/") != DEFAULTS[SERVER]


def hide_password(address: str) -> str:
    """Removes a password from an address."""
    return re.sub(r"//[^/@]*@", "//", address)


def ask(sheet: Sheet) -> Sheet:
    """Asks for a key or an address until the model can be used."""
    if sheet.is_fixed(KEY):
        return use_environment(sheet, (KEY, SERVER, MODEL), DOING, check)
    if is_elsewhere(sheet):
        source = " (from the environment)" if sheet.is_fixed(SERVER) else ""
        say(f"The server at {hide_password(sheet[SERVER])}{source}.")
    is_set = bool(sheet[KEY]) or (is_elsewhere(sheet) and not sheet.is_fixed(SERVER))
    kept = is_set and can_keep(sheet, DOING, check)
    if not kept and not sheet.is_fixed(SERVER):
        say(HOW)
    while True:
        new = _ask_once(sheet, kept)
        if new is not None:
            return new


def _ask_once(sheet: Sheet, kept: bool) -> Sheet | None:
    is_fixed = sheet.is_fixed(SERVER)
    if kept:
        prompt = f"Press Enter to keep it, or paste another key{'' if is_fixed else ' or address'} (hidden): "
    else:
        prompt = NO_KEY if is_fixed else "The key or address (hidden): "
    answer = read_hidden(prompt)
    if kept and not answer:
        say("Kept.")
        return sheet
    if is_fixed:
        return _ask_for_model(sheet, sheet[SERVER], answer)
    if not answer:
        say("Relay needs one of them.")
        return None
    if ADDRESS.match(answer):
        address = re.sub(r"/v1(/messages)?/*$", "", answer if "://" in answer else f"http://{answer}")
        say(f"The server at {hide_password(address)}.")
        return _ask_for_model(sheet, address, read_hidden(NO_KEY))
    models = {MODEL: "", SMALL_MODEL: ""} if is_elsewhere(sheet) else {}
    if is_elsewhere(sheet):
        say(f"This key will be used with Anthropic, at {DEFAULTS[SERVER]}.")
    return try_answers(sheet, {KEY: answer, SERVER: "", **models}, DOING, check)


def _ask_for_model(sheet: Sheet, address: str, key: str) -> Sheet | None:
    """Asks for the model until the server has it; None if the server refuses the key."""
    present = sheet[MODEL] or DEFAULTS[MODEL]
    server = {} if sheet.is_fixed(SERVER) else {SERVER: address}
    while True:
        model = "" if sheet.is_fixed(MODEL) else read_line(f"Which of its models should answer? [{present}] ")
        models = {MODEL: model, SMALL_MODEL: model} if model and model != present else {}
        new = add_answers(sheet, {**server, KEY: key, **models})
        if new is None:
            return None
        trouble = run_check(new, DOING, check)
        if accept(trouble):
            return new
        if isinstance(trouble, REFUSALS) or sheet.is_fixed(MODEL):
            return None

"""The models: whether the key is valid and both models can be used."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import structlog

from relay.core.errors import ModelAccountError, ModelError, ModelMisconfigured, ModelThrottled, ModelUnavailable
from relay.core.settings import Settings
from relay.surfaces.cli.doctor.finding import Finding, failed, of_error, ok, skipped, warning
from relay.surfaces.cli.doctor.live import model_answers

log = structlog.get_logger()

NAMES = ("model", "small model")
NEEDS = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "RELAY_MODEL", "RELAY_SMALL_MODEL")
SECONDS = 45.0
ANTHROPIC = "https://api.anthropic.com"


async def model(settings: Settings) -> list[Finding]:
    """Asks both models for one token each."""
    if not settings.anthropic_api_key and settings.anthropic_base_url == ANTHROPIC:
        return [skipped(name, "not checked: set ANTHROPIC_API_KEY first") for name in NAMES]
    first, second = await asyncio.gather(
        _check_one(settings, "model", "RELAY_MODEL", settings.model),
        _check_one(settings, "small model", "RELAY_SMALL_MODEL", settings.small_model),
    )
    if first.state == second.state == "failed" and first.said == second.said:
        second = skipped("small model", "not checked: fix the model first")
    return [first, second]


async def _check_one(settings: Settings, name: str, setting: str, model: str) -> Finding:
    place = "" if settings.anthropic_base_url == ANTHROPIC else f", at {urlsplit(settings.anthropic_base_url).hostname}"
    try:
        await model_answers(settings, model)
    except ModelAccountError as error:
        return of_error(name, error)
    except ModelThrottled as error:
        return warning(
            name, f"{error} ({model})", "Relay waits and tries again. There is nothing to do unless this lasts."
        )
    except ModelUnavailable as error:
        fix = "Check the network, HTTPS_PROXY and ANTHROPIC_BASE_URL; status.anthropic.com lists outages."
        return failed(name, f"{error}".rstrip(".") + (place or ", at api.anthropic.com") + ".", fix)
    except ModelError as error:
        found = of_error(name, str(error).replace("RELAY_MODEL", setting))
        return failed(name, f"{found.said.rstrip('.')}: {model}.", found.fix or f"Check {setting}.")
    return ok(name, f"{model}{place}")


async def warn_of_model(settings: Settings) -> None:
    """Logs a warning if the model can't be used with these settings or this account."""
    try:
        await model_answers(settings, settings.model)
    except (ModelAccountError, ModelMisconfigured) as error:
        log.warning("the model can't be used", error=str(error))
    except ModelError:
        pass  # that may pass

"""The settings that setup will save: the present ones and the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from relay.core.errors import SettingsError
from relay.core.frozen import frozen
from relay.core.settings import Settings, load, read_environment, read_variable

TOKEN = "TELEGRAM_BOT_TOKEN"  # noqa: S105
KEY = "ANTHROPIC_API_KEY"
SERVER = "ANTHROPIC_BASE_URL"
MODEL = "RELAY_MODEL"
SMALL_MODEL = "RELAY_SMALL_MODEL"
ZONE = "RELAY_TIMEZONE"
DATABASE = "DATABASE_URL"
SUPABASE = "SUPABASE_URL"
SUPABASE_KEY = "SUPABASE_SERVICE_ROLE_KEY"
SPEECH = "RELAY_STT"
VOICE = "RELAY_TTS"
VOICE_FILE = "RELAY_TTS_VOICE"
STORAGE = (DATABASE, SUPABASE, SUPABASE_KEY)
NAMES = (TOKEN, KEY, SERVER, MODEL, SMALL_MODEL, ZONE, *STORAGE, SPEECH)
"""What setup may set."""
DEFAULTS = {str(setting.alias): setting.default for setting in Settings.model_fields.values()}


@frozen
class Sheet:
    """`answers`: the values to save; empty ones are removed. As at run time, the environment takes precedence."""

    answers: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        """Returns a setting's value; empty if it has none."""
        return read_environment(name) or (self.answers[name] if name in self.answers else read_variable(name))

    def is_fixed(self, *names: str) -> bool:
        """Tests whether one of these is set in the environment, where answers can't change it."""
        return any(read_environment(name) for name in names)

    def with_answers(self, answers: Mapping[str, str]) -> Sheet:
        """Returns the sheet with more answers. Raises `SettingsError` for an invalid one."""
        for name, value in answers.items():
            if not value.isprintable():
                raise SettingsError(f"{name} must be one line without control characters.")
            if value:
                load(**_all_but({name: value}))
        return Sheet({**self.answers, **answers})

    def settings(self, *names: str) -> Settings:
        """Returns settings with these from the sheet, and the others that setup may set at their defaults."""
        return load(**_all_but({name: self[name] for name in names if self[name]}))


def _all_but(values: Mapping[str, str]) -> dict[str, str]:
    return {name: values.get(name, DEFAULTS[name]) for name in NAMES}

"""The future settings: the present ones, and the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from relay.core.errors import SettingsError
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


@dataclass(frozen=True, slots=True)
class Sheet:
    """`answers` are the values to save; empty ones are removed. The environment overrides them, as in a run."""

    answers: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        """A setting's value; empty when it has none."""
        return read_environment(name) or (self.answers[name] if name in self.answers else read_variable(name))

    def fixed(self, *names: str) -> bool:
        """Whether one of these is in the environment, which no answer can change."""
        return any(read_environment(name) for name in names)

    def having(self, answers: Mapping[str, str]) -> Sheet:
        """The sheet with further answers. Raises `SettingsError` for one that cannot be right."""
        for name, value in answers.items():
            if not value.isprintable():
                raise SettingsError(f"{name} must be one line without control characters.")
            if value:
                load(**_all_but({name: value}))
        return Sheet({**self.answers, **answers})

    def settings(self, *names: str) -> Settings:
        """Settings with these from the sheet, and the rest of what setup may set at its default."""
        return load(**_all_but({name: self[name] for name in names if self[name]}))


def _all_but(values: Mapping[str, str]) -> dict[str, str]:
    return {name: values.get(name, DEFAULTS[name]) for name in NAMES}

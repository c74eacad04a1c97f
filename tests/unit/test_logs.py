"""Logging: no line holds a secret, whichever code writes it."""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from collections.abc import Iterator

import pytest
import structlog

from relay.core.errors import DatabaseError
from relay.core.redaction.logs import configure, say, silence

SECRET = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8"


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Restores the logging of the test run."""
    root = logging.getLogger()
    handlers, level, hook = list(root.handlers), root.level, sys.excepthook
    yield
    sys.excepthook = hook
    logging.captureWarnings(False)
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_log_line_contains_a_secret(capsys: pytest.CaptureFixture[str], form: str) -> None:
    configure("INFO", form, [SECRET, ""])
    structlog.get_logger().info(f"url {SECRET}", address=f"https://x/bot{SECRET}/getMe")
    logging.getLogger("some.library").warning("failed: %s", SECRET)
    try:
        raise RuntimeError(f"bad {SECRET}")
    except RuntimeError:
        structlog.get_logger().exception("broke")
        logging.getLogger("some.library").exception("broke too")
    written = "\n".join(lines(capsys))
    assert SECRET not in written
    assert written.count("[secret]") >= 4
    assert "RuntimeError" in written


@pytest.mark.parametrize("form", ["json", "console"])
def test_values_in_log_lines_contain_no_secret(capsys: pytest.CaptureFixture[str], form: str) -> None:
    configure("INFO", form, [SECRET])
    structlog.get_logger().info("x", values=[SECRET], more={"a": {"b": f"y{SECRET}"}}, error=ValueError(SECRET))
    written = "\n".join(lines(capsys))
    assert SECRET not in written
    assert "[secret]" in written


def test_json_log_lines_are_valid_json(capsys: pytest.CaptureFixture[str]) -> None:
    configure("INFO", "json", [])
    structlog.get_logger().info("hello", n=5)
    logging.getLogger("some.library").warning("from %s", "outside")
    first, second = (json.loads(line) for line in lines(capsys))
    assert (first["event"], first["n"], first["level"]) == ("hello", 5, "info")
    assert second["event"] == "from outside"
    assert first["timestamp"].endswith("Z")


def test_a_sentence_has_the_form_of_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    configure("ERROR", "json", [SECRET])
    say(f"Waiting for {SECRET}, 100 %.")
    (line,) = lines(capsys)
    said = json.loads(line)
    assert (said["event"], said["level"]) == ("Waiting for [secret], 100 %.", "warning")
    for level in ("INFO", "ERROR"):
        for form, plain in (("console", False), ("", True)):
            configure(level, form, [], plain)
            say("Waiting.")
            assert lines(capsys) == ["relay: Waiting."]
        for form, plain in (("json", True), ("", False)):
            configure(level, form, [], plain)
            say("Waiting.")
            assert json.loads(lines(capsys)[0])["event"] == "Waiting."
    silence()
    say("Waiting.")
    assert lines(capsys) == ["relay: Waiting."]


@pytest.mark.parametrize("name", ["httpx", "httpcore", "telegram.ext", "apscheduler.scheduler"])
def test_libraries_that_log_addresses_are_silenced(capsys: pytest.CaptureFixture[str], name: str) -> None:
    configure("DEBUG", "json", [])
    logging.getLogger(name).info("POST https://api.telegram.org/bot1:x/getUpdates")
    assert lines(capsys) == []


def test_the_log_level_is_respected(capsys: pytest.CaptureFixture[str]) -> None:
    configure("WARNING", "json", [])
    structlog.get_logger().info("quiet")
    structlog.get_logger().warning("loud")
    assert [json.loads(line)["event"] for line in lines(capsys)] == ["loud"]


def test_the_log_level_is_respected_by_quiet_libraries_too(capsys: pytest.CaptureFixture[str]) -> None:
    configure("ERROR", "json", [])
    logging.getLogger("psycopg.pool").warning("error connecting in 'pool-1'")
    assert lines(capsys) == []


def test_short_values_are_not_redacted(capsys: pytest.CaptureFixture[str]) -> None:
    """An empty or tiny secret would redact every line."""
    configure("INFO", "json", ["", "a"])
    structlog.get_logger().info("banana")
    assert "banana" in lines(capsys)[0]


SAID = "the marmalade is behind the clock"


def broken(said: str) -> None:
    """Fails like code that cannot parse what somebody said."""
    try:
        int(said)
    except ValueError as error:
        raise KeyError(said) from error


def logged(said: str) -> None:
    """Logs an error while local variables, which a traceback can reach, hold the text."""
    held = {"text": said}
    try:
        broken(held["text"])
    except KeyError:
        structlog.get_logger().exception("turn failed")
        logging.getLogger("some.library").exception("broke too")


@pytest.mark.parametrize("form", ["json", "console"])
@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
def test_error_texts_that_quote_a_message_are_logged_only_at_debug(
    capsys: pytest.CaptureFixture[str], form: str, level: str
) -> None:
    configure(level, form, [])
    logged(SAID)
    written = "\n".join(lines(capsys))
    assert written.count("KeyError") == written.count("raise KeyError(said)") * 2 == 4
    assert written.count("ValueError: ") == 2, "the cause is there"
    assert ("marmalade" in written) == (level == "DEBUG")
    assert ("its text is logged at DEBUG" in written) == (level == "INFO")


def test_the_texts_of_our_own_errors_are_always_logged(capsys: pytest.CaptureFixture[str]) -> None:
    configure("INFO", "json", [])
    try:
        raise DatabaseError("The database is full.")
    except DatabaseError:
        structlog.get_logger().exception("broke")
    assert json.loads(lines(capsys)[0])["exception"].endswith("relay.core.errors.DatabaseError: The database is full.")


def test_errors_in_an_exception_group_are_logged_too(capsys: pytest.CaptureFixture[str]) -> None:
    configure("INFO", "json", [])
    try:
        raise ExceptionGroup("two", [OSError("no disk"), ValueError(SAID)])
    except ExceptionGroup:
        structlog.get_logger().exception("broke")
    (line,) = lines(capsys)
    assert "OSError: no disk" in line
    assert "marmalade" not in line


@pytest.mark.parametrize("form", ["json", "console"])
def test_uncaught_errors_and_warnings_are_logged(capsys: pytest.CaptureFixture[str], form: str) -> None:
    configure("INFO", form, [SECRET])
    try:
        raise ValueError(SECRET)
    except ValueError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn(f"this is old {SECRET}", stacklevel=1)
    written = lines(capsys)
    assert SECRET not in "\n".join(written)
    assert "this is old" in "\n".join(written)
    if form == "json":
        crash, warned = (json.loads(line) for line in written)
        assert (crash["level"], warned["level"]) == ("critical", "warning")
        assert "ValueError" in crash["exception"]


def test_a_log_entry_is_always_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure("DEBUG", "json", [])
    structlog.get_logger().debug("heard", text="one\ntwo\r\n\u2028\ud83d end", what=object())
    logging.getLogger("some.library").warning("three\nfour")
    first, second = (json.loads(line) for line in lines(capsys))
    assert first["text"].startswith("one\ntwo")
    assert second["event"] == "three\nfour"


def test_logging_to_a_closed_terminal_stops_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    master, terminal = os.openpty()
    with open(terminal, "w") as gone:
        monkeypatch.setattr(sys, "stderr", gone)
        configure("INFO", "json", [])
        os.close(master)
        structlog.get_logger().info("written to nobody")
        monkeypatch.undo()
        os.dup2(os.open(os.devnull, os.O_WRONLY), terminal)


@pytest.mark.parametrize(
    ("terminal", "environment", "coloured"),
    [(True, {}, True), (True, {"TERM": "dumb"}, False), (True, {"NO_COLOR": "1"}, False), (False, {}, False)],
)
@pytest.mark.skipif(sys.platform == "win32", reason="colours there need another package")
def test_only_a_terminal_with_colours_gets_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    terminal: bool, environment: dict[str, str], coloured: bool,
) -> None:  # fmt: skip
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    for name, value in ({"TERM": "xterm", "NO_COLOR": ""} | environment).items():
        monkeypatch.setenv(name, value)
    configure("INFO", "console", [])
    structlog.get_logger().info("x")
    assert ("\x1b" in "".join(lines(capsys))) == coloured

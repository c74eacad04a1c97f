"""Secrets are removed from what goes into the event log; everything else stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.core.redaction.redact import MARK, passes_iban, passes_luhn, redact, redact_value

SECRETS = [
    "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8",
    "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
    "sk-proj-ABCDEFGHIJKLMNOPQRST",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv",
    "glpat-ABCDEFGHIJKLMNOPQRST",
    "xoxb-123456789012-ABCDEFGHIJKL",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "4111 1111 1111 1111",
    "4111-1111-1111-1111",
    "378282246310005",
    "DE89 3704 0044 0532 0130 00",
    "GB82WEST12345698765432",
    "NL91ABNA0417164300",
    "12345:AAF_stand-in_7nQxW0vTgKe2LrYbZ9mPsD4",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("frame", ["{}", "my secret is {}.", "({}),", "a\n{}\nb", "token={}", '"{}"'])
def test_secrets_are_redacted(secret: str, frame: str) -> None:
    assert redact(frame.format(secret)) == frame.format(MARK)


def test_private_keys_are_redacted_whole_or_cut_off() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----"
    assert redact(f"a {key} b") == f"a {MARK} b"
    assert redact("a -----BEGIN PRIVATE KEY-----\nMIIE") == f"a {MARK}"


@pytest.mark.parametrize(
    "text",
    [
        "I like tea", "Call me at +49 30 1234567", "4111 1111 1111 1112", "It was 1234567890123456789 metres",
        "DE00 3704 0044 0532 0130 00", "12:30", "https://example.com/a/b?c=d", "sk-short", "2026-03-01 12:00:00",
        "order 1000000000000", "", "🙂",
    ],
)  # fmt: skip
def test_other_text_stays_unchanged(text: str) -> None:
    assert redact(text) == text


def test_nested_values_are_redacted_or_none_without_secrets() -> None:
    secret = SECRETS[1]
    value = {"a": [{"b": f"x {secret}"}, 5, None, True], "c": "plain text of some length"}
    assert redact_value(value) == {"a": [{"b": f"x {MARK}"}, 5, None, True], "c": "plain text of some length"}
    assert value["a"][0]["b"] == f"x {secret}"  # type: ignore[index]
    assert redact_value({"c": "plain text of some length"}) is None


def test_card_numbers_and_ibans_are_verified_by_checksum() -> None:
    assert passes_luhn("4111111111111111")
    assert not passes_luhn("4111111111111112")
    assert passes_iban("GB82WEST12345698765432")
    assert not passes_iban("GB83WEST12345698765432")


@given(st.text(max_size=200))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_a_token_is_redacted_with_adjacent_characters() -> None:
    token = SECRETS[8]
    assert redact(f"my key-{token} is") == f"my {MARK} is"
    assert redact(f"--{token}--").strip("-") == MARK


@pytest.mark.parametrize(
    "piece",
    ["-eyJ", "eyJ-", "eyJaaaaaaaaaa.", "-eyJaaaaaaaaaa.bbbbbbbbbb", "123456:", "sk-", "sk-----------", "ghp_", "1 ",
     "1-", "AB12 ", "AB12", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "PRIVATE KEY", "AKIA", "xoxb-"],
)  # fmt: skip
def test_redacting_takes_time_in_proportion_to_the_length(piece: str) -> None:
    """The text is 200,000 characters of near-secrets; quadratic time would be minutes."""
    began = time.process_time()
    redact(piece * (200_000 // len(piece)))
    assert time.process_time() - began < 2

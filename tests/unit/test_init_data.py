"""Init data that Telegram signs: published examples are accepted, and nothing else."""

from __future__ import annotations

import hmac
import json
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.surfaces.http.access.init_data import Forged, Proof, check_init_data
from relay.surfaces.http.rate import RateLimiter
from tests.strategies import ODD_TEXT, examples

USER = 279058397
PUBLISHED = [
    (
        "5768337691:AAH5YkoiEuPk8-FZa32hStHTqXiLPtAEhx8",
        "query_id=AAHdF6IQAAAAAN0XohDhrOrc&user=%7B%22id%22%3A279058397%2C%22first_name%22%3A%22Vladislav%22%2C%22"
        "last_name%22%3A%22Kibenko%22%2C%22username%22%3A%22vdkfrost%22%2C%22language_code%22%3A%22ru%22%2C%22is_premium"
        "%22%3Atrue%7D&auth_date=1662771648&hash=c501b71e775f74ce10e377dea85a7ea24ecd640b223ea86dfe453e0eaed2e2b2",
        1662771648,
    ),
    (
        "7342037359:AAFZehRPBRs8Seg40oDjTMIW8uTGPuW1zfQ",
        "user=%7B%22id%22%3A279058397%2C%22first_name%22%3A%22Vladislav%20%2B%20-%20%3F%20%5C%2F%22%2C%22last_name%22%3A"
        "%22Kibenko%22%2C%22username%22%3A%22vdkfrost%22%2C%22language_code%22%3A%22ru%22%2C%22is_premium%22%3Atrue%2C%22"
        "allows_write_to_pm%22%3Atrue%2C%22photo_url%22%3A%22https%3A%5C%2F%5C%2Ft.me%5C%2Fi%5C%2Fuserpic%5C%2F320%5C%2F"
        "4FPEE4tmP3ATHa57u6MqTDih13LTOiMoKoLDRG4PnSA.svg%22%7D&chat_instance=8134722200314281151&chat_type=private"
        "&auth_date=1733584787&hash=2174df5b000556d044f3f020384e879c8efcab55ddea2ced4eb752e93e7080d6&signature="
        "zL-ucjNyREiHDE8aihFwpfR9aggP2xiAo3NSpfe-p7IbCisNlDKlo7Kb6G4D0Ao2mBrSgEk4maLSdv6MLIlADQ",
        1733584787,
    ),
]
"""Examples from docs.telegram-mini-apps.com and its packages; the second has a `signature`."""
TOKEN = "123456:of-a-test"


def sign(token: str, **fields: object) -> str:
    """Init data as Telegram puts it into the page's address."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
    signed = "\n".join(f"{name}={texts[name]}" for name in sorted(texts))
    key = hmac.digest(b"WebAppData", token.encode(), "sha256")
    return urlencode(texts | {"hash": hmac.digest(key, signed.encode(), "sha256").hex()}, quote_via=quote)


@pytest.mark.parametrize(("token", "init_data", "at"), PUBLISHED)
def test_published_examples_are_accepted_while_they_are_fresh(token: str, init_data: str, at: int) -> None:
    for now in (at, at + 300):
        assert check_init_data(init_data, token, now).user_id == USER
    for now in (at + 301, at - 1):
        with pytest.raises(Forged):
            check_init_data(init_data, token, now)
    with pytest.raises(Forged):
        check_init_data(init_data, TOKEN, at)


@pytest.mark.parametrize(("token", "init_data", "at"), PUBLISHED)
def test_altered_init_data_is_refused(token: str, init_data: str, at: int) -> None:
    for changed in (
        init_data.replace("279058397", "279058398"),
        init_data.replace(f"auth_date={at}", f"auth_date={at + 1}"),
        init_data + "&more=1",
        init_data + "&user=%7B%22id%22%3A1%7D",
        init_data + "&hash=0",
        init_data.replace("%22is_premium%22%3Atrue", "%22is_premium%22%3Afalse"),
        init_data.upper(),
        init_data.replace("hash=", "hash=0"),
        init_data.replace("&signature=z", "&signature=y") if "signature" in init_data else "",
        init_data[: init_data.index("hash=")],
        f"user=%7B%22id%22%3A279058397%7D&auth_date={at}",
        "",
        "hash=",
    ):
        with pytest.raises(Forged):
            check_init_data(changed, token, at)


@pytest.mark.parametrize(
    "fields",
    [
        {"auth_date": "100"},
        {"user": {"id": 5}},
        {"user": {"id": "5"}, "auth_date": "100"},
        {"user": {"id": True}, "auth_date": "100"},
        {"user": [], "auth_date": "100"},
        {"user": "{", "auth_date": "100"},
        {"user": {"id": 5}, "auth_date": "soon"},
        {"user": {"id": 5}, "auth_date": "1e2"},
    ],
)
def test_signed_init_data_without_a_user_or_a_time_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(Forged):
        check_init_data(sign(TOKEN, **fields), TOKEN, 100)


@examples(100)
@given(name=ODD_TEXT, token=st.text("abc:123", min_size=1))
def test_any_user_name_is_accepted_and_any_other_token_refused(name: str, token: str) -> None:
    signed = sign(TOKEN, user={"id": 5, "first_name": name}, auth_date="100", empty="")
    assert check_init_data(signed, TOKEN, 100) == Proof(5, signed.rpartition("hash=")[2])
    with pytest.raises(Forged):
        check_init_data(signed, token, 100)


@examples(200)
@given(given=st.text())
def test_any_other_text_is_refused(given: str) -> None:
    with pytest.raises(Forged):
        check_init_data(given, TOKEN, 100)


def test_a_person_may_make_sixty_requests_a_minute() -> None:
    now = 0.0
    rate = RateLimiter(60, lambda: now)
    assert [rate.take(1) for _ in range(61)] == [0] * 60 + [1]
    assert rate.take(2) == 0, "each person has their own limit"
    now = 1.0
    assert [rate.take(1), rate.take(1)] == [0, 1]
    now = 500.0
    assert [rate.take(1) for _ in range(61)] == [0] * 60 + [1]

"""Tests access to the API over real connections: signatures, links, tokens, limits, and idempotent requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest
from fastapi import APIRouter

from relay.commands.context import CommandContext
from relay.commands.memory.remember import remember
from relay.commands.people import people as access
from relay.commands.people.tokens import new_link, new_token, revoke_token, tokens
from relay.core.errors import CommandRefused, NotFound
from relay.core.limits import API_TOKENS, REQUEST_BYTES
from relay.core.models import Space
from relay.memory.people import People
from relay.memory.rows.people import ApiCaller
from relay.memory.store import Store
from relay.surfaces.http import caller as calling
from relay.surfaces.http.access import guard
from relay.surfaces.http.app import make_app
from relay.surfaces.http.caller import ApiCore, Writing, WritingRoute, make_context, turn_of
from relay.surfaces.http.connection import MOST_CONNECTIONS
from relay.surfaces.http.rate import RateLimiter
from relay.surfaces.http.server import Server
from tests.integration.api import eyes_of_own
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, TurnDriver, a_house
from tests.unit.test_init_data import sign

TOKEN = "1:secret"
CID = 444


@dataclass
class Api:
    """The API on a port, and the events that its slow route waits for."""

    client: httpx.AsyncClient
    core: ApiCore
    made: list[str]
    begun: asyncio.Event
    go_on: asyncio.Event

    async def sign_in(self, user_id: int, token: str = TOKEN, **fields: Any) -> httpx.Response:
        fields = {"user": {"id": user_id, "first_name": "A"}, "auth_date": str(int(time.time()))} | fields
        header = {"Authorization": f"tma {sign(token, **fields)}"}
        return await self.client.post("/api/session", headers=header)

    async def token_of(self, user_id: int) -> dict[str, str]:
        return bearer((await self.sign_in(user_id, nonce=str(time.monotonic_ns()))).json()["token"])

    def context(self, user_id: int, admin: bool = False) -> CommandContext:
        """Returns the context of a command, as it is in the terminal."""
        caller = ApiCaller(user_id, "token", role="admin" if admin else "user")
        return make_context(self.core, caller, turn_of(caller))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@asynccontextmanager
async def serving(store: Store, **more: Any) -> AsyncIterator[Api]:
    services = replace(a_house(store), people=People(frozenset({ADA}), frozenset({BEN})))
    core = ApiCore(services, BOT.id, TOKEN, eyes_of_own, lambda kinds: None, **more)
    app, made, begun, go_on = make_app(core), list[str](), asyncio.Event(), asyncio.Event()
    router = APIRouter(route_class=WritingRoute)

    @router.post("/made", status_code=201)
    async def make(ctx: Writing, body: dict[str, str]) -> dict[str, str]:
        made.append(body["text"])
        if body["text"] == "slow":
            begun.set()
            await go_on.wait()
        if body["text"] == "fails":
            raise ValueError
        if body["text"] == "refused":
            raise CommandRefused("No.")
        if body["text"] == "refused at last":
            await remember(ctx, "My bicycle is green")
            raise CommandRefused("No.")
        return {"made": body["text"], "number": str(len(made))}

    app.include_router(router, prefix="/api")
    server = Server(app, "127.0.0.1", 0)
    port = await server.start()
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            yield Api(client, core, made, begun, go_on)
    finally:
        await server.stop(1)


@pytest.fixture
async def api(driver: TurnDriver, store: Store) -> AsyncIterator[Api]:
    async with serving(store) as api:
        yield api


async def test_a_signed_proof_opens_one_session_of_one_hour(api: Api, sql: Sql) -> None:
    opened = await api.sign_in(BEN)
    assert opened.status_code == 201
    token = opened.json()["token"]
    assert (await api.client.get("/api/me", headers=bearer(token))).json()["userId"] == str(BEN)
    [(hash, seconds)] = await sql("select hash, extract(epoch from expires_at - now())::int from api_token")
    assert 3500 < seconds <= 3600
    assert token not in hash
    again = await api.client.post("/api/session", headers={"Authorization": opened.request.headers["authorization"]})
    assert again.status_code == 401, "the proof was already used"
    await sql("update api_token set expires_at = now() - interval '1 second'")
    assert (await api.client.get("/api/me", headers=bearer(token))).status_code == 401
    again = await api.client.post("/api/session", headers={"Authorization": opened.request.headers["authorization"]})
    assert again.status_code == 401, "the proof stays used after its session has expired"


async def test_a_refused_command_leaves_a_turn_only_if_it_stored_something(api: Api, sql: Sql) -> None:
    who = await api.token_of(ADA)
    for text, left in (("refused", []), ("made", ["done"]), ("refused at last", ["done", "done"])):
        answer = await api.client.post("/api/made", headers=who, json={"text": text})
        assert answer.status_code == (201 if text == "made" else 422)
        assert await sql("select status from turn") == [(one,) for one in left]
    assert await sql("select content, status from memory") == [("My bicycle is green", "active")]


async def test_an_invalid_proof_gets_no_session(api: Api, sql: Sql) -> None:
    now = int(time.time())
    for refused in (
        await api.sign_in(BEN, token="1:another"),
        await api.sign_in(BEN, auth_date=str(now - 320)),
        await api.sign_in(BEN, auth_date=str(now + 90)),
        await api.sign_in(CID),
        await api.client.post("/api/session", headers={"Authorization": "tma user=x&hash=00"}),
        await api.client.post("/api/session", headers={"Authorization": "Bearer x"}),
        await api.client.post("/api/session", json={"link": "x"}),
        await api.client.post("/api/session"),
    ):
        assert refused.status_code == 401
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.headers["www-authenticate"] == "Bearer"
        assert refused.json()["detail"].startswith("Open the page again")
    assert await sql("select count(*) from api_token") == [(0,)]


async def test_a_removed_person_loses_access_with_all_tokens_at_once(
    api: Api, driver: TurnDriver, sql: Sql, store: Store
) -> None:
    await sql("insert into person (user_id, bot_id, name, role) values (%s, %s, 'Cid', 'user')", CID, BOT.id)
    session = await api.token_of(CID)
    program = bearer((await new_token(api.context(CID), "mine")).token)
    for headers in (session, program):
        assert (await api.client.get("/api/me", headers=headers)).status_code == 200
    await access.revoke(api.context(ADA, admin=True), CID)
    for headers in (session, program):
        assert (await api.client.get("/api/me", headers=headers)).status_code == 401
    assert (await api.sign_in(CID)).status_code == 401
    await sql("update person set role = 'user' where user_id = %s", CID)
    for headers in (session, program):
        assert (await api.client.get("/api/me", headers=headers)).status_code == 401, "revoked tokens stay revoked"


async def test_a_link_opens_the_page_once_within_ten_minutes(api: Api, driver: TurnDriver, sql: Sql) -> None:
    one, other = await new_link(api.context(BEN)), await new_link(api.context(BEN))
    assert (await api.client.get("/api/me", headers=bearer(one))).status_code == 401, "a link is no token"
    answers = await asyncio.gather(*(api.client.post("/api/session", json={"link": one}) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [201, 401, 401, 401, 401]
    token = next(answer.json()["token"] for answer in answers if answer.status_code == 201)
    assert (await api.client.get("/api/me", headers=bearer(token))).json()["userId"] == str(BEN)
    assert await sql("select extract(epoch from expires_at - now())::int > 590 from api_token where kind = 'link'")
    await sql("update api_token set expires_at = now() where kind = 'link'")
    assert (await api.client.post("/api/session", json={"link": other})).status_code == 401


async def test_a_link_with_a_broken_character_is_unknown_like_any_other(api: Api) -> None:
    body = b'{"link": "\\ud800"}'
    answer = await api.client.post("/api/session", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in")


async def test_signing_out_ends_the_session(api: Api) -> None:
    headers = await api.token_of(BEN)
    assert (await api.client.delete("/api/session", headers=headers)).status_code == 204
    assert (await api.client.delete("/api/session", headers=headers)).status_code == 401


async def test_a_used_proof_does_not_sign_in_again_after_signing_out(api: Api) -> None:
    opened = await api.sign_in(BEN)
    proof = {"Authorization": opened.request.headers["authorization"]}
    assert (await api.client.delete("/api/session", headers=bearer(opened.json()["token"]))).status_code == 204
    assert (await api.client.post("/api/session", headers=proof)).status_code == 401


async def test_the_address_of_a_calendar_is_not_stored(api: Api, sql: Sql) -> None:
    headers = await api.token_of(BEN) | {"Idempotency-Key": "k"}
    path = (await api.client.post("/api/reminders/calendar", headers=headers)).json()["path"]
    assert (await api.client.get(path)).status_code == 200
    assert await sql("select count(*) from api_request") == [(0,)]
    assert (await api.client.get("/api/reminders/calendar", headers=headers)).json()["token"]["usedAt"]


async def test_groups_are_hidden_while_telegram_does_not_answer(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "SIGHT_SECONDS", 0.05)

    async def never(space: Space) -> bool:
        await asyncio.Event().wait()
        return True

    core = replace(api.core, eyes_of=lambda user_id: never)
    ctx = make_context(core, caller := ApiCaller(BEN, "token"), turn_of(caller))
    async with asyncio.timeout(5):
        assert await ctx.sees(Space("group", chat_id=-5)) is False


async def test_a_person_creates_lists_and_revokes_their_own_tokens(api: Api, driver: TurnDriver, sql: Sql) -> None:
    ctx, ada = api.context(BEN), api.context(ADA)
    made = await new_token(ctx, "  my\n phone ")
    assert (made.name, made.token[:6]) == ("my phone", "relay_")
    assert (await api.client.get("/api/me", headers=bearer(made.token))).status_code == 200
    (listed,) = await tokens(ctx)
    assert listed.name == "my phone"
    assert listed.used_at is not None
    assert made.token not in str(await sql("select api_token::text from api_token"))
    assert await tokens(ada) == []
    with pytest.raises(NotFound):
        await revoke_token(ada, str(listed.id))
    await revoke_token(ctx, str(listed.id))
    assert (await api.client.get("/api/me", headers=bearer(made.token))).status_code == 401
    for _ in range(API_TOKENS):
        await new_token(ctx)
    with pytest.raises(CommandRefused, match="Revoke one first"):
        await new_token(ctx)


async def test_too_many_requests_are_refused_per_person(driver: TurnDriver, store: Store) -> None:
    async with serving(store, rate=RateLimiter(3)) as api:
        headers = await api.token_of(BEN)
        answers = [await api.client.get("/api/me", headers=headers) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 20
        assert (await api.client.get("/api/me", headers=await api.token_of(ADA))).status_code == 200


async def test_a_repeated_request_counts_towards_the_limit(driver: TurnDriver, store: Store) -> None:
    async with serving(store, rate=RateLimiter(3)) as api:
        headers = await api.token_of(BEN) | {"Idempotency-Key": "k"}
        answers = [await api.client.post("/api/made", headers=headers, json={"text": "tea"}) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [201, 201, 201, 429]
        assert api.made == ["tea"]


async def test_security_headers_are_sent_to_browsers(api: Api) -> None:
    headers = await api.token_of(BEN)
    for path, status in (("/api/me", 200), ("/api/nothing", 404), ("/api/openapi.json", 200)):
        answer = await api.client.get(path, headers=headers)
        assert answer.status_code == status
        assert answer.headers["content-security-policy"] == guard.CSP
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "x-frame-options" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers


async def test_bodies_that_are_too_large_or_too_slow_are_refused(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    headers = await api.token_of(BEN)
    long = await api.client.post("/api/made", headers=headers, content=b"x" * (REQUEST_BYTES + 1))
    assert (long.status_code, long.json()["code"]) == (413, "too_large")
    announced = await exchange(api, b"Content-Length: 99999999999\r\nExpect: 100-continue\r\n\r\n")
    assert announced.startswith(b"HTTP/1.1 413 "), "it isn't told to send it"
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.2)

    async def drips() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(0.6)
        yield b"}"

    late = await api.client.post("/api/made", headers=headers, content=drips())
    assert (late.status_code, late.json()["code"]) == (408, "too_slow")
    assert api.made == []


async def exchange(api: Api, sent: bytes) -> bytes:
    """Sends the rest of a POST, and returns the answer's head."""
    reader, writer = await asyncio.open_connection("127.0.0.1", api.client.base_url.port)
    writer.write(b"POST /api/made HTTP/1.1\r\nHost: x\r\n" + sent)
    async with asyncio.timeout(5):
        answer = await reader.read(100_000)
    writer.close()
    return answer


async def test_a_broken_body_is_answered(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    chunked = b"Transfer-Encoding: chunked\r\n\r\n"
    for body in (b"zz\r\n", b"2\r\n{}\r\nzz\r\n"):
        answer = await exchange(api, chunked + body)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b'"code": "malformed"' in answer
    assert caplog.records == []


async def test_a_search_takes_a_thousand_characters_of_any_script(api: Api) -> None:
    headers = await api.token_of(BEN)
    for character in "ж木🌳":
        answer = await api.client.get("/api/memory/search", params={"text": character * 1000}, headers=headers)
        assert answer.status_code == 200, answer.text


async def test_the_head_of_an_event_stream_is_complete_at_once(api: Api) -> None:
    async with asyncio.timeout(5):
        answer = await api.client.head("/api/events", headers=await api.token_of(BEN))
    assert (answer.status_code, answer.content) == (200, b"")


async def test_half_sent_bodies_do_not_block_other_connections(api: Api) -> None:
    headers = await api.token_of(BEN)
    port = api.client.base_url.port
    held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MOST_CONNECTIONS)]
    for _, writer in held:
        writer.write(b"POST /api/made HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    await asyncio.sleep(0.2)
    async with asyncio.timeout(5), httpx.AsyncClient(base_url=api.client.base_url) as client:
        assert (await client.get("/api/me", headers=headers)).status_code == 200
    for _, writer in held:
        writer.close()


async def test_a_request_with_an_idempotency_key_is_run_once(api: Api) -> None:
    ben, ada = await api.token_of(BEN), await api.token_of(ADA)

    async def make(who: dict[str, str], key: str, text: str) -> httpx.Response:
        return await api.client.post("/api/made", headers=who | {"Idempotency-Key": key}, json={"text": text})

    first_made = {"made": "tea", "number": "1"}
    first, second = await make(ben, "k1", "tea"), await make(ben, "k1", "tea")
    assert (first.status_code, first.json()) == (second.status_code, second.json()) == (201, first_made)
    assert second.headers["idempotency-replayed"] == "true"
    assert second.headers["content-type"] == first.headers["content-type"]
    other = await make(ben, "k1", "coffee")
    assert (other.status_code, other.json()["code"]) == (422, "key_used")
    assert (await make(ada, "k1", "tea")).json()["number"] == "2", "the same key of another person is a different key"
    assert (await make(ben, "k2", "tea")).json()["number"] == "3"
    assert (await make(ben, "", "tea")).status_code == 400
    assert (await make(ben, "x" * 300, "tea")).status_code == 400
    assert (await make({}, "k1", "tea")).status_code == 401
    assert [(await make(ben, "k3", "fails")).status_code for _ in range(2)] == [500, 500]
    assert api.made == ["tea", "tea", "tea", "fails", "fails"], "a request that failed may be repeated"
    for _ in range(2):
        wrong = await api.client.post("/api/me", headers=ben | {"Idempotency-Key": "k4"})
        assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, HEAD")


async def test_a_repeated_request_is_refused_while_the_first_still_runs(api: Api, sql: Sql) -> None:
    headers = await api.token_of(BEN) | {"Idempotency-Key": "k"}
    running = asyncio.create_task(api.client.post("/api/made", headers=headers, json={"text": "slow"}))
    await api.begun.wait()
    beside = await api.client.post("/api/made", headers=headers, json={"text": "slow"})
    assert (beside.status_code, beside.json()["code"]) == (409, "running")
    await sql("update api_request set at = now() - interval '6 minutes'")
    api.begun.clear()
    again = asyncio.create_task(api.client.post("/api/made", headers=headers, json={"text": "slow"}))
    await api.begun.wait()  # the first request counts as interrupted
    api.go_on.set()
    assert [(await running).status_code, (await again).status_code] == [201, 201]
    assert api.made == ["slow", "slow"]


async def test_stored_answers_are_kept_for_a_day_and_at_most_1000_per_person(api: Api, sql: Sql, store: Store) -> None:
    many = "select %s, 'h' || n, 'a', now() - n * interval '1 second', 200 from generate_series(1, 1000) n"
    await sql("insert into api_request (user_id, hash, asked, at, status) " + many, BEN)
    old = "insert into api_request (user_id, hash, asked, at) values (%s, 'old', 'a', now() - interval '25 hours')"
    await sql(old, ADA)
    headers = await api.token_of(BEN) | {"Idempotency-Key": "k"}
    assert (await api.client.post("/api/made", headers=headers, json={"text": "tea"})).status_code == 201
    assert await sql("select count(*), bool_or(hash = 'h1000'), bool_or(hash = 'old') from api_request") == [
        (1000, False, False)
    ]


async def test_an_erasure_deletes_the_stored_answers(api: Api, driver: TurnDriver, sql: Sql) -> None:
    headers = await api.token_of(BEN) | {"Idempotency-Key": "k"}
    await api.client.post("/api/made", headers=headers, json={"text": "tea"})
    assert await sql("select body <> '' from api_request") == [(True,)]
    await driver.teach(BEN, "Likes tea")
    await sql("insert into erasure (space_id, user_id) select id, owner_id from space")
    assert await sql("select count(*) from api_request") == [(1,)], "a preview erases nothing"
    await sql("update erasure set status = 'working'")
    assert await sql("select status, body from api_request") == [(410, "")]
    again = await api.client.post("/api/made", headers=headers, json={"text": "tea"})
    assert (again.status_code, again.json()["code"]) == (409, "erased"), "it would store the erased words again"
    assert api.made == ["tea"]

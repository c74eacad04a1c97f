"""Checks the API's document: every allowed request, and many others, get an answer that the document describes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from relay.memory.store import Store
from relay.surfaces.http.wire import WireInput
from tests.integration.api import open_api
from tests.integration.turn_driver import ADA, TurnDriver, fact
from tests.strategies import examples

CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
    negative_data_rejection,
]  # fmt: skip
ENDLESS = ("/api/events",)
SECONDS = 20


async def settle(driver: TurnDriver) -> None:
    """Stores something of each kind, so that some requests find what they ask for."""
    await driver.teach(ADA, "Likes tea", "Has a boat")
    await driver.exchange(ADA, "x", actions=[fact(ADA, "May move") | {"ask": True}])
    async with open_api(driver.store) as api:
        await api.post("/api/reminders", json={"text": "in 2 hours call the dentist"})
        await api.post("/api/preferences", json={"polarity": "avoid", "pattern": "long answers"})


@pytest.mark.hypothesis  # a property test inside a thread; make fuzz runs it too
@pytest.mark.timeout(0)
async def test_every_answer_is_described_in_the_api_document(driver: TurnDriver, store: Store) -> None:
    await settle(driver)
    loop = asyncio.get_running_loop()
    async with open_api(store) as api:
        document = (await api.get("/api/openapi.json")).json()
        document["paths"] = {path: one for path, one in document["paths"].items() if path not in ENDLESS}
        del document["components"]["securitySchemes"]  # each request carries a valid token
        operations = [one.ok() for one in schemathesis.openapi.from_dict(document).get_all_operations()]

        def send(case: Case) -> httpx.Response:
            asked = case.as_transport_kwargs(base_url="http://relay")
            asked.pop("cookies", None)
            headers = {**asked.pop("headers"), "Authorization": api.headers["Authorization"]}
            data = asked.pop("data", None)
            work = api.request(headers=headers, content=data, **asked)
            return asyncio.run_coroutine_threadsafe(work, loop).result(SECONDS)

        modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
        cases = st.one_of([one.as_strategy(generation_mode=mode) for one in operations for mode in modes])

        @examples(150)
        @given(case=cases)
        def holds(case: Any) -> None:
            case.validate_response(send(case), checks=CHECKS)

        await asyncio.to_thread(holds)


WRONG: dict[str, list[object]] = {"integer": ["5", True], "number": ["0.5", True], "boolean": ["yes", 1], "string": [5]}
"""Values of other types, by the type in the document."""


def inputs(kind: type[WireInput] = WireInput) -> Iterator[type[WireInput]]:
    for one in kind.__subclasses__():
        yield one
        yield from inputs(one)


def test_a_value_of_another_type_than_in_the_document_is_refused() -> None:
    checked = 0
    for model in inputs():
        for name, schema in model.model_json_schema()["properties"].items():
            kinds = {str(one.get("type")) for one in schema.get("anyOf", [schema]) if "const" not in one}
            for value in [value for kind in kinds for value in WRONG.get(kind, ())]:
                with pytest.raises(ValidationError) as refused:
                    model.model_validate({name: value})
                assert name in {error["loc"][0] for error in refused.value.errors()}, (model, name, value)
                checked += 1
    assert checked > 80


async def test_paths_are_written_in_one_style(store: Store) -> None:
    async with open_api(store) as api:
        paths = (await api.get("/api/openapi.json")).json()["paths"]
    part = r"/([a-z]+|\{[a-z]+Id\})"
    others = [path for path in paths if not re.fullmatch(f"({part})+", path)]
    assert others == ["/calendar/{secret}.ics"], "lowercase words, ids in camelCase"


async def test_the_api_document_says_who_may_ask_what_is_repeated_and_what_can_fail(store: Store) -> None:
    async with open_api(store) as api:
        document = (await api.get("/api/openapi.json")).json()
    paths = document["paths"]
    schemes = document["components"]["securitySchemes"]
    assert {name: one["scheme"] for name, one in schemes.items()} == {"token": "bearer", "telegram": "tma"}
    assert paths["/api/me"]["get"]["security"] == [{"token": []}]
    assert paths["/api/session"]["post"]["security"] == [{"telegram": []}, {}]
    calendar = paths["/calendar/{secret}.ics"]["get"]
    assert "security" not in calendar
    assert set(calendar["responses"]) == {"200", "404", "503"}
    add, made = paths["/api/memories"]["post"], paths["/api/memories"]["post"]["responses"]["201"]
    assert [one["name"] for one in add["parameters"]] == ["Idempotency-Key"]
    assert set(made["headers"]) == {"Idempotency-Replayed"}
    assert "parameters" not in paths["/api/reminders/calendar"]["post"], "its response is a secret"
    in_use = document["components"]["schemas"]["InUseDetails"]["properties"]
    assert set(in_use) == {"code", "compositions"}, "a client can read what holds a version"
    for operation in (one for methods in paths.values() for one in methods.values()):
        assert ("408" in operation["responses"]) == ("requestBody" in operation)
        errors = {status: one for status, one in operation["responses"].items() if status >= "4"}
        assert all(list(one["content"]) == ["application/problem+json"] for one in errors.values())

"""Checks the API's document: every allowed request, and many others, get an answer that the document describes."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
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

from relay.commands.preferences.feedback import BETTER_LENGTH, DIMENSIONS
from relay.core.limits import (
    COMPOSITION_NAME_LENGTH,
    FACT_LENGTH,
    INTENT_WORDS_LENGTH,
    LEARNING_LENGTH,
    PATTERN_LENGTH,
    REMINDER_LENGTH,
)
from relay.memory.store import Store
from relay.surfaces import http
from relay.surfaces.http.connection import REFUSALS
from relay.surfaces.http.problems import OF_HTTP, STATUSES
from relay.surfaces.http.wire import WireInput
from tests.integration.api import open_api, refused
from tests.integration.turn_driver import ADA, TurnDriver, fact
from tests.strategies import examples

CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
    negative_data_rejection,
]  # fmt: skip
ENDLESS = ("/api/events",)
SECONDS = 20
API_PAGE = Path(__file__).parents[2] / "docs/api.md"


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


WRONG: dict[str, list[object]] = {
    "integer": ["5", True],
    "number": ["0.5", True],
    "boolean": ["yes", 1, 0],
    "string": [5],
}
"""Values of other types, by the type in the document."""


def inputs(kind: type[WireInput] = WireInput) -> Iterator[type[WireInput]]:
    for one in kind.__subclasses__():
        yield one
        yield from inputs(one)


def test_a_value_of_another_type_than_in_the_document_is_refused() -> None:
    checked = 0
    for model in inputs():
        for name, schema in model.model_json_schema()["properties"].items():
            kinds = {str(one.get("type")) for one in schema.get("anyOf", [schema])}
            for value in [value for kind in kinds for value in WRONG.get(kind, ())]:
                with pytest.raises(ValidationError) as refused:
                    model.model_validate({name: value})
                assert name in {error["loc"][0] for error in refused.value.errors()}, (model, name, value)
                checked += 1
    assert checked > 80


def test_a_whole_number_may_have_a_decimal_point() -> None:
    checked = 0
    for model in inputs():
        for name, schema in model.model_json_schema()["properties"].items():
            for one in schema.get("anyOf", [schema]):
                if one.get("type") == "integer":
                    assert field_accepts(model, name, float(one["maximum"])), (model, name)
                    assert not field_accepts(model, name, one["maximum"] - 0.5), (model, name)
                    checked += 1
    assert checked > 8


def field_accepts(model: type[WireInput], name: str, value: object) -> bool:
    try:
        model.model_validate_json(json.dumps({name: value}))
    except ValidationError as refused:
        return name not in {error["loc"][0] for error in refused.errors()}
    return True


LENGTHS = {
    "NewMemory.text": FACT_LENGTH,
    "MemoryEdit.text": LEARNING_LENGTH,
    "Merge.text": LEARNING_LENGTH,
    "Statement.pattern": PATTERN_LENGTH,
    "GivenSignal.words": BETTER_LENGTH,
    "NewIntent.about": INTENT_WORDS_LENGTH,
    "NewIntent.text": REMINDER_LENGTH,
    "CompositionAsked.name": COMPOSITION_NAME_LENGTH,
}


def test_the_document_says_how_long_texts_can_be() -> None:
    models = {model.__name__: model for model in inputs()}
    for path, length in LENGTHS.items():
        model, _, name = path.partition(".")
        schema = models[model].model_json_schema()["properties"][name]
        assert [one["maxLength"] for one in schema.get("anyOf", [schema]) if "maxLength" in one] == [length], path


def test_the_document_says_what_else_limits_a_text() -> None:
    models = {model.__name__: model for model in inputs()}
    for name, words in (
        ("MemoryEdit", "any other memory 500"),
        ("Merge", "any other memory 500"),
        ("ReminderEdit", "it can't be empty"),
    ):
        schema = models[name].model_json_schema()["properties"]["text"]
        assert words in schema["description"], name


async def test_the_command_measures_a_text_after_cleaning_it_and_says_what_is_too_long(
    driver: TurnDriver, store: Store
) -> None:
    await driver.teach(ADA, "Likes tea")
    async with open_api(store) as api:
        [memory] = (await api.get("/api/memories")).json()["memories"]
        pattern = {"polarity": "prefer", "pattern": "x" * PATTERN_LENGTH}
        said = {"kind": "said", "words": "avoid jokes" + " " * BETTER_LENGTH}
        intent = {"about": "x" * INTENT_WORDS_LENGTH, "text": "y" * REMINDER_LENGTH}
        for method, path, body in (
            ("POST", "memories", {"text": "x" * FACT_LENGTH}),
            ("POST", "memories", {"text": "y" * FACT_LENGTH + " \n"}),
            ("PATCH", f"memories/{memory['id']}", {"text": "Likes green tea" + " " * LEARNING_LENGTH}),
            ("POST", "preferences", pattern),
            ("POST", "preferences", pattern | {"pattern": f"please {'y' * (PATTERN_LENGTH - 2)}"}),
            ("POST", "preferences", pattern | {"pattern": f"short answers{'!' * PATTERN_LENGTH}"}),
            ("POST", "preferences/signals", said),
            ("POST", "reminders/intents", intent),
        ):
            answer = await api.request(method, f"/api/{path}", json=body)
            assert answer.is_success, (path, body, answer.text)
        refine = {"kind": "refine", "turnId": "1", "words": "x" * (BETTER_LENGTH + 1)}
        for path, body, code, sentence in (
            ("memories", {"text": "x" * 501}, "out_of_range", "That's 501 characters; a fact can have at most 500."),
            ("preferences", pattern | {"pattern": "x" * 61}, "refused", "in words: 3 to 60 letters"),
            ("preferences/signals", refine, "refused", "That's 20,001 characters; I read at most 20,000."),
            ("reminders/intents", intent | {"about": "x" * 101}, "out_of_range", "The words can have 100 characters"),
        ):
            await refused(api.post(f"/api/{path}", json=body), 422, code, sentence)
        reasons = {"kind": "compare", "turnId": "1", "over": "2", "dimensions": [*DIMENSIONS, "tone"]}
        await refused(api.post("/api/preferences/signals", json=reasons), 422, "out_of_range", "dimensions: ")


def test_the_documentation_lists_the_codes_of_all_errors() -> None:
    sources = "".join(file.read_text("utf-8") for file in Path(http.__file__).parent.rglob("*.py"))
    raised = set(re.findall(r"(?:ApiError|problem)\(\s*(\d+), \"(\w+)\"", sources))
    raised |= {(str(status), code) for _, status, code in STATUSES}
    raised |= {(str(status), code) for status, (code, _) in OF_HTTP.items()}
    raised |= {(str(status), code) for status, (_, code, _) in REFUSALS.items()}
    rows = [row.split(" | ") for row in API_PAGE.read_text("utf-8").splitlines() if re.match(r"  \| \d", row)]
    listed = {
        (status, code)
        for _, statuses, codes, *_ in rows
        for status in re.findall(r"\d+", statuses)
        for code in re.findall(r"\w+", codes)
    }
    assert raised - listed == set()
    assert {code for _, code in listed} == {code for _, code in raised}


async def test_paths_are_written_in_one_style(store: Store) -> None:
    async with open_api(store) as api:
        paths = (await api.get("/api/openapi.json")).json()["paths"]
    part = r"/([a-z]+|\{[a-z]+Id\})"
    others = [path for path in paths if not re.fullmatch(f"({part})+", path)]
    assert others == ["/calendar/{secret}.ics"], "lowercase words, ids in camelCase"


async def test_generated_clients_get_short_names_descriptions_and_no_defaults_to_send(store: Store) -> None:
    async with open_api(store) as api:
        document = (await api.get("/api/openapi.json")).json()
        page = (await api.get("/api/docs")).text
    operations = [one for methods in document["paths"].values() for one in methods.values()]
    assert "memories_list_all" in {one["operationId"] for one in operations}
    assert not [one["operationId"] for one in operations if not re.fullmatch(r"[a-z]+(_[a-z]+)+", one["operationId"])]
    assert document["paths"]["/api/memories/{memoryId}"]["delete"]["summary"] == "Forgets a memory"
    schemas = document["components"]["schemas"]
    for path, words in (
        ("CompressionRecord.tainted", "Whether it holds text that others wrote."),
        ("Reminder.status", "proposed: it waits for a tap."),
        ("OpenedReminder.status", "proposed: it waits for a tap."),
        ("Reminders.quietUntil", "No message is sent unasked before this time; year 9999: until the person ends it."),
        ("Changes.spaceId", "null: nothing was ever said in that space."),
    ):
        kind, _, name = path.partition(".")
        assert schemas[kind]["properties"][name]["description"] == words, path
        assert words in page
    described = [one.get("description", "") for kind in schemas.values() for one in kind.get("properties", {}).values()]
    assert not [words for words in described if re.search(r"\b(None|True|False)\b|[a-z]_[a-z]", words)]
    for kind in ("Reminder.status", "ReminderEvent.kind", "Intent.status", "ListedMemory.kind", "ListedChange.action"):
        name, _, field = kind.partition(".")
        assert schemas[name]["properties"][field]["enum"], kind
    assert "(`ownerId`)" in schemas["Space"]["description"]
    content = document["paths"]["/api/memory/settings"]["put"]["requestBody"]["content"]["application/json"]
    assert content["schema"]["$ref"].endswith("/SettingsDocument")
    for kind in ("SettingsDocument", "Storage", "Defaults", "Decay", "Base", "Shown", "AutoDecay"):
        assert not schemas[kind]["additionalProperties"]
        assert not [name for name, one in schemas[kind]["properties"].items() if "default" in one]
    assert schemas["Decay"]["properties"]["maxSessionDistance"]["maximum"] == 100


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
    assert set(calendar["responses"]) == {"200", "404", "429", "503"}
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

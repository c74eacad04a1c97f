"""`python -m tests.realmodel.judged [N]`: how well SmolLM2-135M judges N (200) labelled messages with Relay's prompt.

A grammar made from the schema of the judge's forced tool forces its use here too. Needs `scripts/real-model`.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from typing import Any, cast

from llama_cpp import LlamaGrammar

from relay.core.models import ModelRequest, Step
from relay.core.spending.charge import Charge
from relay.memory.review.judging import Judge, ask_findings
from relay.memory.review.readings import readings
from relay.memory.rows.upkeep.judging import Batch
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from tests.judged import Labelled, keywords_keep, labelled, score
from tests.judging import message
from tests.realmodel.server import load_model, tokens

WINDOW, MOST_TOKENS = 4096, 300


class SmallModel:
    """The model that the judge asks. It answers one request after the other."""

    def __init__(self) -> None:
        self.llama, _ = load_model("judge", WINDOW)
        self.asked = 0

    async def ask(self, request: ModelRequest, charge: Charge, seconds: float) -> Step:
        """Answers as Anthropic's API does: with the forced tool's input, or with text."""
        self.asked += 1
        system = "\n\n".join(str(block["text"]) for block in request.system)
        prompt = tokens(self.llama, {"system": [{"type": "text", "text": system}], "messages": request.messages})
        grammar = None
        if request.tools:
            schema = json.dumps(request.tools[0]["input_schema"])
            grammar = LlamaGrammar.from_json_schema(schema, verbose=False)
        made: Any = self.llama.create_completion(
            prompt, max_tokens=MOST_TOKENS, temperature=0.0, stop=["<|im_end|>"], grammar=grammar
        )
        (choice,) = made["choices"]
        if choice["finish_reason"] == "length":
            return Step([], "max_tokens", {}, "smollm2")
        if not request.tools:
            return Step([{"type": "text", "text": choice["text"]}], "end_turn", {}, "smollm2")
        block = {"type": "tool_use", "id": "1", "name": request.tools[0]["name"], "input": json.loads(choice["text"])}
        return Step([block], "tool_use", {}, "smollm2")


async def judged(text: str, model: SmallModel) -> bool | None:
    """Whether the model keeps anything from a message, or None if it gave no valid answer."""
    gate = cast("Gate", model)
    judge = Judge(cast("Store", None), gate, "smollm2")
    batch = Batch(thread_id=1, messages=(message(1, text),))
    for reading in readings(batch):
        found = await ask_findings(judge, gate, batch, reading)
        return None if found is None else bool(found)
    return False


def told(name: str, some: list[Labelled], kept: dict[str, bool]) -> None:
    """Prints a row of the table."""
    if not any(kept[one.text] for one in some):
        print(f"| {name} | keeps nothing | 0% |", flush=True)
    else:
        result = score(some, lambda text: kept[text])
        print(f"| {name} | {result.precision:.0%} | {result.recall:.0%} |", flush=True)


async def main(number: int) -> None:
    """Judges a fixed sample and prints how well."""
    some = random.Random(7).sample(labelled(), number)
    model, begun = SmallModel(), time.process_time()
    answers = {one.text: await judged(one.text, model) for one in some}
    invalid = sum(answer is None for answer in answers.values())
    print(f"{number} messages, {model.asked} requests, {invalid} without a valid answer,", end=" ")
    print(f"{time.process_time() - begun:.0f} s of processor time\n\n| | precision | recall |\n|---|---|---|")
    told("keywords", some, {one.text: keywords_keep(one.text) for one in some})
    told("the model alone", some, {text: bool(answer) for text, answer in answers.items()})
    both = {text: keywords_keep(text) if answer is None else answer for text, answer in answers.items()}
    told("the model, and keywords without a valid answer", some, both)
    told("keep everything", some, {one.text: True for one in some})


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else len(labelled())))

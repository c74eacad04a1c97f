"""A conversation with a real model. The tests check that everything around it works, not that it is clever."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.acceptance.pty import without_settings
from tests.realmodel.conftest import NAMES, PATIENCE, Talk, talking

pytest.importorskip("llama_cpp")
from tests.acceptance.test_terminal import start
from tests.realmodel.server import RealModel

SAID = (
    "Hello! My name is Ada and I live in Lisbon.",
    "I love sailing. What is good about it?",
    "Tell me one thing about the sea.",
    "I want to learn the cello this year.",
    "What should I cook tonight?",
    "Which city do I live in?",
)
SOUL = """You are Relay. You answer in one short sentence. Whenever the user tells something about themselves, \
you end with a line [LEARN: the fact].

User: I have a dog called Rex.
Relay: Rex is a fine name!
[LEARN: Has a dog called Rex]

User: I work as a nurse in Porto.
Relay: That is hard and good work.
[LEARN: Works as a nurse in Porto]

User: My brother Tom plays the drums.
Relay: How nice, a drummer in the family.
[LEARN: Has a brother Tom who plays the drums]"""
FORCED = ("I have a cat called Mia.", "I work as a teacher in Lisbon.", "My sister Nora plays the violin.")
FREE = ("I have two sons.", "I live near the river.", "My father is a baker.", "I love oranges.", "I drive an old car.")
TAGGED = r"""root ::= [A-Z] [^[\]\n\\`]{10,60} [.!] "\n[LEARN: " [A-Z] [a-zA-Z0-9 ,']{8,40} "]"
"""
"""Some words, then a tag. The model chooses the words and what is learned."""
WELL_FORMED = re.compile(r"\[LEARN: [^\[\]\n]+\]")


async def test_a_conversation_is_answered_streamed_summarised_and_judged() -> None:
    async with talking(RealModel(), RELAY_CAPTURE="auto", RELAY_MAX_TOKENS="64") as talk:
        grown: list[str] = []
        for text in SAID:
            before = len(talk.drafts())
            reply = await talk.ask(text)
            assert reply.text.strip()
            grown += [shown for shown in talk.drafts()[before:] if reply.text.startswith(shown[:20])]
        assert len(grown) >= len(SAID), "answers grew before they were complete"
        assert sum(one.pieces for one in talk.answers) > 3 * len(SAID)
        # after five exchanges there is a summary
        assert await talk.until("select max(text) from relay.summary")
        await talk.ask("Thank you.")
        # usage is counted as the model reported it
        used = talk.sql("select sum(output) from relay.spend where what = 'answer'")[0][0]
        assert used == sum(one.pieces for one in talk.answers)
        # whatever the judge answers, everything is judged, and what the keywords find is kept
        await talk.until("select not exists (select from relay.job where kind = 'judging' and due_at <= now())")
        kept = [content for (content,) in talk.sql("select content from relay.memory")]
        assert any("Lisbon" in content for content in kept), kept


async def test_stopping_an_answer_keeps_the_text_so_far() -> None:
    async with talking(RealModel(temperature=0.7), RELAY_MAX_TOKENS="2000") as talk:
        said = await talk.tg.say(talk.dm, talk.ada, "Tell me a very long story about a ship, in many chapters.")
        await talk.tg.wait_for(lambda: len(begun(talk)) >= 3, PATIENCE)
        await talk.tg.say(talk.dm, talk.ada, "/stop")
        reply = await talk.tg.wait_reply(talk.dm, said, timeout=PATIENCE)
        assert reply.text.endswith("Stopped.")
        first = begun(talk)[0].rstrip()
        assert reply.text.startswith(first)
        await talk.tg.wait_for(lambda: talk.model.asked[0].stop_reason == "hung up", PATIENCE)
        assert talk.model.asked[0].pieces < 1500, "the model was stopped as well"
        again = await talk.ask("Go on.")
        assert again.text.strip()
        kept = str(talk.answers[-1].body["messages"])
        assert first[:40] in kept.replace("\\n", "\n") or first[:40] in kept


def begun(talk: Talk) -> list[str]:
    """The drafts that show the model's words, not the waiting sign."""
    return [text for text in talk.drafts() if not text.startswith("⏳")]


async def test_the_models_tags_are_removed_and_learned() -> None:
    """A grammar makes the model say tags. Without the grammar it then repeats them by itself, in any form."""
    async with talking(RealModel(grammar=TAGGED), RELAY_MAX_TOKENS="64") as talk:
        assert "soul" in (await talk.ask(f"/soul set {SOUL}")).text.lower()
        for text in FORCED:
            assert "[LEARN" not in (await talk.ask(text)).text
        assert learned(talk), "at least one: nearly equal facts are kept once"
        talk.model.grammar = ""
        for text in FREE:
            assert not WELL_FORMED.search((await talk.ask(text)).text)
        tagged = [one.text for one in talk.answers if WELL_FORMED.search(one.text)]
        print("free:", *[repr(one.text) for one in talk.answers[len(FORCED) :]], sep="\n")
        assert len(tagged) > len(FORCED)
        assert not any(WELL_FORMED.search(text) for text in talk.drafts())
        said = " ".join(" ".join(tagged).split())
        assert all(content in said for content in learned(talk))


def learned(talk: Talk) -> list[str]:
    """The contents of the active memories."""
    return [content for (content,) in talk.sql("select content from relay.memory where status = 'active'")]


async def test_a_small_window_makes_the_prompt_shorter() -> None:
    async with talking(RealModel(window=2000), RELAY_MAX_TOKENS="64") as talk:
        for number in range(4):
            reply = await talk.ask(f"{number}: " + "The ship sails on and on over the wide grey sea. " * 25)
            assert reply.text.strip()
            assert "too long" not in reply.text
        assert "too long" in [one.stop_reason for one in talk.answers]
        assert "too long" in (await talk.ask("7 q z " * 400)).text
        assert (await talk.ask("Are you there?")).text.strip()
        # messages too long for the window are summarised too, with less of the longest
        assert await talk.until("select max(text) from relay.summary")


async def test_the_terminal_chat_works_with_the_real_model(tmp_path: Path) -> None:
    async with RealModel() as model:
        settings = {
            **NAMES, "ANTHROPIC_API_KEY": "sk-ant-test", "ANTHROPIC_BASE_URL": model.url, "RELAY_MAX_TOKENS": "64",
            "RELAY_DATA_DIR": str(tmp_path / "data"), "RELAY_CAPTURE": "tags", "RELAY_EMBEDDER": "off",
        }  # fmt: skip
        talk = await start(without_settings() | settings, tmp_path, "chat")
        await talk.until("you ›", 60)
        for text in SAID[:5]:
            talk.type(text)
            shown = await talk.until("you ›", PATIENCE)
            assert shown.replace("you ›", "").strip()
        talk.type("/usage")
        assert "smollm2" in await talk.until("you ›", 60)
        talk.type("")
        code, shown = await talk.ended(PATIENCE)  # the summary that is due is written first
        assert code == 0
        assert "Traceback" not in shown
        assert len([one for one in model.asked if one.body["model"] == "smollm2"]) == 5

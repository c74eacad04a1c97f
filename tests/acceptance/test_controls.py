"""The owner's controls in the chat: switches, patterns, pending memories, reset, off the record, and erasing."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from relay.clients.embedded.cluster import Cluster
from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.test_terminal import relay
from tests.standins.telegram import Chat, StoredMessage

pytestmark = SESSION


async def question(bot: SharedBot, chat: Chat, begins: str) -> StoredMessage:
    return await bot.tg.wait_for(
        lambda: next((m for m in reversed(bot.tg.messages(chat)) if m.from_bot and m.text.startswith(begins)), None)
    )


async def test_memory_off_recalls_nothing_and_learns_nothing(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "my yacht is Albatross", "Noted [LEARN: Ada's yacht is Albatross]")
    assert "Memory is off" in (await bot.ask(dm, ada, "/memory off")).text
    said = await bot.ask(dm, ada, "which boat", "I do not know [LEARN: Ada asks about boats]")
    assert "not using memory right now" in said.text
    assert "Not learned: memory is off" in said.text
    assert "Albatross" not in bot.prompt("which boat").system_text
    again = await bot.ask(dm, ada, "and now", "Still not.")
    assert "not using memory" not in again.text, "the notice is shown once"
    assert "memory is off" in (await bot.ask(dm, ada, "/status")).text
    refused = await bot.ask(dm, ada, "/remember I sail at dawn")
    assert "(memory is off or paused, /memory on)" in refused.text
    assert "Memory is on." in (await bot.ask(dm, ada, "/memory on")).text
    back = await bot.ask(dm, ada, "which boat now", "The Albatross.")
    assert "Memory is on again" in back.text
    assert "Albatross" in bot.prompt("which boat now").system_text
    assert "boats" not in (await bot.ask(dm, ada, "/memory")).text


async def test_a_turn_without_an_answer_says_once_that_memory_is_off(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/memory off")
    first, second = [(await bot.ask(dm, ada, "/retry")).text for _ in range(2)]
    assert "not using memory" in first
    assert second == "There is nothing to answer again here yet."


async def test_a_memory_pause_says_when_it_ends_and_can_be_resumed(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert "Write /memory pause 2h" in (await bot.ask(dm, ada, "/memory pause someday")).text
    said = await bot.ask(dm, ada, "/memory pause 2h")
    assert "Memory is paused until" in said.text
    assert "memory is paused until" in (await bot.ask(dm, ada, "/status")).text
    board = await bot.ask(dm, ada, "/memory controls")
    assert await bot.press(dm, ada, board, "Resume") == "Done."
    assert "Memory is on." in board.text
    await bot.press(dm, ada, board, "1 day")
    assert "Memory is paused until" in board.text
    assert "Memory is on." in (await bot.ask(dm, ada, "/memory resume")).text


async def test_a_chat_can_ignore_memory_and_disable_learning(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "my cat is Minka", "Noted [LEARN: Ada's cat is Minka]")
    topic = bot.tg.topic(dm, "Work", ada)
    here = await bot.ask(dm, ada, "/memory here", topic=topic)
    assert "in this chat I use what I know; I learn from it" in here.text
    await bot.press(dm, ada, here, "Ignore memory here")
    await bot.press(dm, ada, here, "Don't learn here")
    assert "in this chat I don't use what I know; I don't learn from it" in here.text
    said = await bot.ask(dm, ada, "a pet?", "No idea [LEARN: Ada asks about pets]", topic=topic)
    assert "Not learned: learning is off in this chat" in said.text
    assert "Minka" not in bot.prompt("a pet?").system_text
    await bot.ask(dm, ada, "a pet elsewhere?", "Minka.")
    assert "Minka" in bot.prompt("a pet elsewhere?").system_text
    await bot.ask(dm, ada, "/memory here use", topic=topic)
    await bot.ask(dm, ada, "a pet again?", "Minka.", topic=topic)
    assert "Minka" in bot.prompt("a pet again?").system_text


async def test_forgetting_by_pattern_first_shows_the_matches_and_their_number(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "work", "Ok [LEARN: Trip to Rome] [LEARN: Trips in May] [LEARN: Has a tripod]")
    await bot.ask(dm, ada, "tea", "Ok [LEARN: Drinks tea]")
    shown = await bot.ask(dm, ada, "/forget trip*")
    assert shown.text.startswith("🧠 Forget 3 memories?")
    assert "Drinks tea" not in shown.text
    assert await bot.press(dm, ada, shown, "Forget all 3") == "🧠 Forgot 3 memories."
    assert "(1)" in (await bot.ask(dm, ada, "/memory")).text
    await bot.press(dm, ada, shown, "Undo all")
    assert "3 memories brought back" in shown.text
    assert "(4)" in (await bot.ask(dm, ada, "/memory")).text
    assert "Nothing I know matches" in (await bot.ask(dm, ada, "/forget zebra*")).text
    several = await bot.ask(dm, ada, "/forget trip")
    await bot.press(dm, ada, several, "All 3")
    assert "(1)" in (await bot.ask(dm, ada, "/memory")).text


async def test_nobody_else_can_confirm_forgetting_by_pattern(bot: SharedBot) -> None:
    (ada, dm), (ben, ben_dm) = bot.person("Ada"), bot.person("Ben")
    await bot.ask(dm, ada, "tea", "Ok [LEARN: Drinks green tea]")
    shown = await bot.ask(dm, ada, "/forget green*")
    theirs = await bot.ask(ben_dm, ben, "hello")
    for data in shown.buttons.values():
        query = bot.tg.press(ben_dm, ben, theirs, data)
        await bot.tg.wait_for(lambda query=query: bot.tg.answers.get(query))
    assert "green tea" in (await bot.ask(dm, ada, "/memory")).text


async def test_all_pending_memories_can_be_kept_or_discarded_at_once(bot: SharedBot) -> None:
    ada, dm = bot.person()
    settings = await bot.ask(dm, ada, "/settings")
    await bot.press(dm, ada, settings, "Ask")
    await bot.ask(dm, ada, "three", "Ok [LEARN: Likes plums] [LEARN: Plays chess] [LEARN: Swims on Mondays]")
    shown = await bot.ask(dm, ada, "/memory waiting")
    assert shown.text.startswith("Waiting for your tap (3)")
    await bot.press(dm, ada, shown, "Discard 3")
    assert await bot.press(dm, ada, shown, "Keep all 2") == "Kept: 2."
    assert "(2)" in (await bot.ask(dm, ada, "/memory")).text
    await bot.ask(dm, ada, "two", "Ok [LEARN: Reads maps] [LEARN: Bakes bread]")
    shown = await bot.ask(dm, ada, "/memory waiting")
    assert await bot.press(dm, ada, shown, "Discard all") == "Discarded: 2."
    assert "(2)" in (await bot.ask(dm, ada, "/memory")).text


async def test_a_memory_reset_requires_typing_the_number_of_memories(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert "nothing to forget" in (await bot.ask(dm, ada, "/memory reset")).text
    await bot.ask(dm, ada, "two", "Ok [LEARN: Reads old maps] [LEARN: Bakes rye bread]")
    await bot.ask(dm, ada, "/memory reset")
    asked = await question(bot, dm, "✎ reset #2")
    assert "Nothing was forgotten" in (await bot.ask(dm, ada, "yes", reply_to=asked)).text
    assert "(2)" in (await bot.ask(dm, ada, "/memory")).text
    assert "Forgot all 2 memories" in (await bot.ask(dm, ada, "2", reply_to=asked)).text
    assert "I don't know anything" in (await bot.ask(dm, ada, "/memory")).text
    changes = await bot.ask(dm, ada, "/memory changes")
    await bot.press(dm, ada, changes, "Undo 1")
    assert "(1)" in (await bot.ask(dm, ada, "/memory")).text


async def test_a_conversation_off_the_record_leaves_nothing(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "my dog is Rex", "Noted [LEARN: Ada's dog is Rex]")
    begun = await bot.ask(dm, ada, "/private")
    assert begun.text.startswith("🕶 Off the record.")
    for number in range(3):
        said = await bot.ask(dm, ada, f"xylocarp {number}", "A fruit [LEARN: Ada hides xylocarps]")
        assert "Off the record" in said.text
    assert "Rex" in bot.prompt("xylocarp 2").system_text
    assert "my dog is Rex" not in str(bot.prompt("xylocarp 2").messages), "the private conversation has its own history"
    assert "xylocarp 1" in str(bot.prompt("xylocarp 2").messages)
    assert "off the record" in (await bot.ask(dm, ada, "/status")).text
    assert "xylocarp 0" not in (await bot.ask(dm, ada, "/search xylocarp")).text
    assert "I've erased the conversation off the record" in (await bot.ask(dm, ada, "/private off")).text
    after = await bot.ask(dm, ada, "hello again", "Hello.")
    assert "Off the record" not in after.text
    assert "xylocarp" not in str(bot.prompt("hello again").messages)
    assert "xylocarp" not in (await bot.ask(dm, ada, "/memory")).text.lower()
    assert not [one for one in bot.model.asides if "xylocarp" in str(one.body)], (
        "the small model makes no title and no summary of it"
    )
    assert "on the record" in (await bot.ask(dm, ada, "/private off")).text


async def test_erase_shows_the_matches_and_then_removes_them_everywhere(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(
        dm, ada, "my parrot is called Quinceberry", "Quinceberry! [LEARN: Ada's parrot is called Quinceberry]"
    )
    await bot.ask(dm, ada, "tea please", "Here. [LEARN: Ada likes tea]")
    for text in ("/forget --erase Quinceberry", "/forget —erase Quinceberry"):
        shown = await bot.ask(dm, ada, text)
        assert shown.text.startswith("🔥 Erase for good? 1 memory, 2 messages")
        assert "my parrot is called Quinceberry" in shown.text
    await bot.ask(dm, ada, "/remind 2030-12-24 18:00 feed Quinceberry")
    shown = await bot.ask(dm, ada, "/forget --erase Quinceberry")
    assert "⏰ feed Quinceberry" in shown.text
    await bot.press(dm, ada, shown, "Erase for good")
    assert "Erased for good: 1 memory, 2 messages, 1 other text" in shown.text
    assert "backup" in shown.text
    assert "Quinceberry" not in (await bot.ask(dm, ada, "/memory")).text
    assert "Quinceberry" not in (await bot.ask(dm, ada, "/search parrot")).text
    await bot.ask(dm, ada, "what is my bird called", "I do not know.")
    assert "Quinceberry" not in str(bot.prompt("what is my bird called").body)
    assert "I deleted 4 messages of mine" in shown.text, "the answer, the reminder's, and the other previews"
    (theirs,) = [line for line in shown.text.splitlines() if line.startswith("Your own messages stay in Telegram")]
    assert theirs.count(", ") == 4, "what was said, the reminder, and three times the command"
    assert not [m for m in bot.tg.messages(dm) if m.from_bot and "Quinceberry" in m.text]
    assert "at least 2 letters" in (await bot.ask(dm, ada, "/forget --erase x")).text
    (tea,) = [m for m in bot.tg.messages(dm) if m.from_bot and m.text.startswith("Here.")]
    assert "Learned: Ada likes tea" in tea.text
    shown = await bot.ask(dm, ada, "/forget --erase likes tea")
    await bot.press(dm, ada, shown, "Erase for good")
    assert tea.text == "Here."
    assert not [label for label in tea.buttons if "Undo" in label or "Close" in label]
    assert "found nothing to erase that matches" in (await bot.ask(dm, ada, "/forget --erase Quinceberry")).text


async def test_the_preview_of_an_erasure_names_a_role_that_stays(bot: SharedBot) -> None:
    olga = bot.tg.user(OWNER)
    dm = bot.tg.dm(olga)
    await bot.ask(dm, olga, "/persona Talk like Carambolina")
    await bot.ask(dm, olga, "/remember Carambolina sings")
    shown = await bot.ask(dm, olga, "/forget --erase Carambolina")
    assert "My role in a chat mentions it too." in shown.text
    await bot.press(dm, olga, shown, "Keep")
    await bot.ask(dm, olga, "/persona clear")
    shown = await bot.ask(dm, olga, "/forget --erase Carambolina")
    assert "My role" not in shown.text
    await bot.press(dm, olga, shown, "Erase for good")
    with psycopg.connect(Cluster(bot.data).url("postgres")) as connection:
        roles = connection.execute("select count(*) from relay.persona where text like '%Carambolina%'").fetchone()
    assert roles == (0,), "nobody can change a role that was cleared"


@pytest.mark.slow("test_command_surfaces.py and test_shell_output.py")
async def test_the_shell_offers_the_memory_controls_with_json_output(bot: SharedBot, tmp_path: Path) -> None:
    olga = bot.tg.user(OWNER)
    dm = bot.tg.dm(olga)
    await bot.ask(dm, olga, "my kite is Tramontana", "Ok [LEARN: Olga's kite is Tramontana]")
    settings = bot.relay.environment

    async def asked(*words: str, expected: int = 0) -> dict[str, object]:
        code, shown = await relay(settings, tmp_path, "memory", *words, "--json")
        assert code == expected, (words, shown)
        found: dict[str, object] = json.loads(shown)
        return found

    listed = await asked("show", "Tramontana")
    (row,) = listed["memories"]  # type: ignore[misc]
    assert row["content"] == "Olga's kite is Tramontana"
    opened = await asked("show", str(row["number"]))
    assert opened["source"]["said"]["text"] == "my kite is Tramontana"  # type: ignore[index]
    assert (await asked("pause", "2h"))["paused_until"]
    assert (await asked("resume"))["remembers"] is True
    assert (await asked("changes"))["changes"]
    assert (await asked("status"))["memory"] == "on"
    number = str(row["number"])
    assert (await asked("pin", number))["changes"]
    assert (await asked("show", number))["memory"]["pinned"] is True  # type: ignore[index]
    assert (await asked("unpin", number))["changes"]
    assert (await asked("edit", number, "Olga's", "kite", "is", "called", "Tramontana"))["changes"]
    past = await asked("history", number)
    assert [one["action"] for one in past["changes"]][-1] == "learn"  # type: ignore[index,union-attr]
    assert "Olga's kite is Tramontana" in str(past)
    assert (await asked("here", "quiet"))["teaches"] is False
    assert (await asked("here", "teach"))["teaches"] is True
    assert (await asked("private"))["private"] is True
    assert (await asked("private", "off"))["private"] is False
    await asked("forget", "Traxxx*", "--yes", expected=1)
    assert "called Tramontana" in str(await asked("show", "Tramontana"))
    await asked("forget", "Tramont*", expected=1)
    assert "called Tramontana" in str(await asked("show", "Tramontana")), "without --yes nothing is forgotten"
    await asked("forget", "Tramont*", "--yes")
    assert (await asked("show", "Tramontana"))["memories"] == []
    for word, meant in (("controls", "relay memory status"), ("export", "relay export"), ("import", "relay import")):
        code, shown = await relay(settings, tmp_path, "memory", word)
        assert code != 0
        assert f"Use `{meant}`." in shown
    found = await asked("erase", "Tramontana", expected=1)
    assert found["erased"] is None
    done = await asked("erase", "Tramontana", "--yes", "--purge-backups")
    assert done["erased"]["done"] is True  # type: ignore[index]
    assert done["cleared"] is True
    folder = Path(settings["RELAY_DATA_DIR"])
    backups = await asyncio.to_thread(lambda: list(folder.rglob("*.relaybackup")))
    assert len(backups) == 1
    assert f"{datetime.now(UTC):%Y%m}" in backups[0].name
    assert "Tramontana" not in (await bot.ask(dm, olga, "/memory")).text
    await bot.ask(dm, olga, "my boat is Bergwindel", "Ok.")
    shown = await bot.ask(dm, olga, "/forget --erase Bergwindel")
    await bot.press(dm, olga, shown, "Erase for good")
    assert "until tonight" in shown.text
    await bot.press(dm, olga, shown, "Rewrite the database's files now")
    await bot.tg.wait_for(lambda: [m for m in bot.tg.messages(dm) if "None of what you erased is left" in m.text])
    assert not [label for label in shown.buttons if "database's files" in label]


@pytest.mark.parametrize("word", ["/memory off", "/memory reset", "/memory pause 1h", "/private"])
async def test_only_admins_control_a_groups_memory(bot: SharedBot, word: str) -> None:
    (ada, _), (ben, _) = bot.person("Ada"), bot.person("Ben")
    group, name = bot.group(ada, ben), f"@{bot.tg.bot.username}"
    command, _, rest = word.partition(" ")
    assert "for my admins" in (await bot.ask(group, ada, f"{command}{name} {rest}")).text

"""Tests the pages about past sessions and their versions in the chat and in the shell."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from relay.core.models import Space, Thread
from relay.memory.claims import ClaimedTurn
from relay.memory.store import Store
from relay.surfaces.chat.callbacks import Callback, decode, encode
from relay.surfaces.chat.context import ChatContext, CommandMessage
from relay.surfaces.chat.contexts.buttons import ListVersions, OpenSession
from relay.surfaces.chat.contexts.compress import press_compress
from relay.surfaces.chat.contexts.pruning import press_undo, press_version
from relay.surfaces.chat.contexts.sessions import press_original, press_register
from relay.surfaces.chat.contexts.space_settings import press_setting
from relay.surfaces.chat.dispatch import press_button, run_command
from relay.surfaces.chat.history.search import Result, open_result
from relay.surfaces.chat.reply import ButtonReply
from relay.surfaces.cli.cli import cli
from relay.surfaces.cli.terminal import once
from tests.integration.conftest import Opened, Sql
from tests.integration.library import add_marker, add_version, compose
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, TurnDriver, a_house, group, private
from tests.standins.fakes import FakeMessenger

LIMIT = 1_500
"""Maximum length of a message in characters, so that it needs little scrolling on a phone."""


class Chat:
    """One message of the bot's, whose buttons a person presses one after another."""

    def __init__(self, store: Store, space: Space, user_id: int = ADA, admin: bool = False) -> None:
        self.store, self.space, self.user_id, self.admin = store, space, user_id, admin
        self.shown: Any = ButtonReply(text="", rows=())
        self.texts: list[str] = []

    def context(self, text: str = "") -> ChatContext:
        async def yes(*_: object) -> bool:
            return True

        chat_id = self.user_id if self.space.kind == "private" else GROUP
        return ChatContext(
            services=a_house(self.store),
            turn=ClaimedTurn(1, 1, "control", "working", 0, self.user_id, (), ()),
            bot_id=BOT.id, private=chat_id > 0, space=self.space, chat_id=chat_id, topic_id=0, user_id=self.user_id,
            name="Ada", admin=self.admin, stop=yes, sees=yes, text=text, messenger=FakeMessenger(),
            said=CommandMessage(rows=self.shown.rows or ()),
        )  # fmt: skip

    async def say(self, words: str) -> str:
        self.shown = await run_command(self.context(words), "sessions")
        return self._seen(self.shown.text)

    async def press(self, what: str | Callback) -> str:
        """Presses the button with that label, or the given callback. Returns the message's new text."""
        buttons = {one.text: one.callback_data for row in self.shown.rows or () for one in row}
        data = encode(what) if isinstance(what, Callback) else next(d for name, d in buttons.items() if what in name)
        done = await press_button(self.context(), data)
        if done.says is not None:
            return self._seen(done.says.text)
        if done.text is None:
            return done.toast
        self.shown = done
        return self._seen(done.text)

    def _seen(self, text: str) -> str:
        self.texts.append(text)
        print(text, [[one.text for one in row] for row in self.shown.rows or ()], sep="\n", end="\n\n")
        return unescape(text)


async def past(driver: TurnDriver, sql: Sql, *, user_id: int = ADA, space: Space | None = None) -> int:
    """Returns the id of an ended session with a marker. Another session is running."""
    where = {"chat_id": GROUP, "space": group()} if space else {}
    await driver.exchange(user_id, "The garden is 12 by 8 metres.", "Noted: 12 by 8.", **where)
    await driver.store.new_session(Thread(space or private(user_id), GROUP if space else user_id, 0), "")
    await driver.exchange(user_id, "Hello", "Hi.", **where)
    [(old,)] = await sql("select min(id) from session")
    return int(old)


async def test_a_session_page_shows_its_contents_and_actions(driver: TurnDriver, store: Store, sql: Sql) -> None:
    old = await past(driver, sql)
    await add_marker(sql, old, "0.80", "12 by 8")
    await add_version(sql, old, 1, tokens=3_012)
    await sql("update session set topics = '{garden,beds}' where id = %s", old)
    chat = Chat(store, private(ADA))
    listed = await chat.say("")
    assert "2 messages · 12 tokens · 📌 1 · 1 version" in listed
    opened = await chat.press("2")
    assert "Topics: garden, beds" in opened
    assert "1 session ago" in opened
    labels = [[one.text for one in row] for row in chat.shown.rows]
    assert labels == [
        ["View original", "Versions (1)"], ["Compress", "Markers 📌1"], ["Add to library", "Use in…"], ["‹ Sessions"],
    ]  # fmt: skip
    assert "[M]" in await chat.press("Add to library")
    assert "The garden is 12 by 8 metres" in await chat.press("View original")
    opened = await chat.press("‹ Session")
    assert "most recent · used 10 input and 5 output tokens" in opened, opened
    assert max(map(len, chat.texts)) < LIMIT


async def test_versions_are_selected_pruned_with_a_warning_and_restored(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    old = await past(driver, sql)
    first, second = [await add_version(sql, old, n, tokens=n * 9_000) for n in (1, 2)]
    await compose(sql, "Winter plan", [first])
    chat = Chat(store, private(ADA))
    listed = await chat.press(ListVersions(old))
    assert "v001_tiered-standard_9k" in listed
    assert "in 1 composition" in listed
    await chat.press("☐ v001")
    assert "Selected: 2 versions, 27.0k tokens" in await chat.press("☐ v002")
    assert "Selected: 1 version, 18.0k tokens" in await chat.press("☑ v001")
    await chat.press("☐ v001")
    asked = await chat.press("Prune 2…")
    assert "Prune 2 versions, 27.0k tokens?" in asked
    assert "v001 is used in “Winter plan”. Its text stays there." in asked
    done = await chat.press("Yes, prune 2")
    assert "v001, v002 (27.0k tokens)" in done
    assert await sql("select status from compression") == [("dropped",), ("dropped",)]
    await chat.press("Undo")
    assert await sql("select status from compression") == [("ready",), ("ready",)]
    assert "There's nothing to bring back here" in await chat.press(press_undo(old, second))
    await chat.press(press_setting("confirm", "off"))
    await chat.press(ListVersions(old))
    await chat.press("☐ v002")
    assert "Pruned: v002" in await chat.press("Prune 1…"), "there must be no confirmation question"
    assert max(map(len, chat.texts)) < LIMIT


async def test_a_session_page_leads_back_to_its_page_of_the_list(driver: TurnDriver, store: Store, sql: Sql) -> None:
    chat = Chat(store, private(ADA))
    await chat.press(OpenSession(await past(driver, sql), 6))
    data = {one.text: one.callback_data for row in chat.shown.rows for one in row}
    compress = decode(data["Compress"])
    assert type(compress) is press_compress
    assert compress.offset == 6


async def test_a_version_in_use_is_pruned_only_after_a_warning(driver: TurnDriver, store: Store, sql: Sql) -> None:
    old = await past(driver, sql)
    version = await add_version(sql, old, 1)
    [(running,)] = await sql("select max(id) from session")
    await compose(sql, "Winter plan", [version], used_by=running)
    await store.change_context_settings(private(ADA), {"ui": {"confirmDestructiveActions": False}})
    chat = Chat(store, private(ADA))
    await chat.press(ListVersions(old))
    await chat.press("☐ v001")
    assert "in use by a conversation that hasn't ended" in await chat.press("Prune 1…")
    assert "Pruned" in await chat.press("Prune 1 anyway")


async def test_many_versions_have_pages_and_one_selection(driver: TurnDriver, store: Store, sql: Sql) -> None:
    old = await past(driver, sql)
    for number in range(1, 31):
        await add_version(sql, old, number)
    chat = Chat(store, private(ADA))
    assert "**Versions** (30)" in await chat.press(ListVersions(old))
    assert "v024" not in await chat.press("☐ v030")
    listed = await chat.press("Older ›")
    assert "v024" in listed
    assert "Selected: 1 version" in listed
    assert "Selected: 2 versions" in await chat.press("☐ v019")
    for _ in range(3):
        listed = await chat.press("Older ›")
    assert "v001" in listed
    assert "Selected: 1 version" in await chat.press("☑ v019")
    await chat.press("Prune 1…")
    assert "Pruned: v030" in await chat.press("Yes, prune 1")
    assert max(map(len, chat.texts)) < LIMIT


async def test_two_versions_are_compared_in_the_chat_or_as_a_file(driver: TurnDriver, store: Store, sql: Sql) -> None:
    old = await past(driver, sql)
    uniform = {"mode": "uniform", "compactionRatio": 30, "sessionDistance": 2}
    short = await add_version(sql, old, 1, "The garden is 12 by 8 metres", 3_000, uniform)
    await add_version(sql, old, 2, "The garden is 12 by 9 metres", 10_000, {"mode": "tiered", "sessionDistance": 1})
    chat = Chat(store, private(ADA))
    await chat.press(ListVersions(old))
    await chat.press("☐ v001")
    await chat.press("☐ v002")
    compared = await chat.press("Compare")
    assert "3.0k ⇄ 10.0k tokens" in compared
    assert "mode: uniform ⇄ tiered" in compared
    assert "~~8~~ **9**" in compared
    assert "ratio: 30 ⇄ –" in compared
    assert "session distance: 2 ⇄ 1" in compared
    assert "> you: The garden is 12 by 8 metres" in await chat.press(press_version(short))
    assert [one.text for row in chat.shown.rows for one in row] == [
        "⬇ Text (.md)", "⬇ Data (.jsonl)", "What was left out", "‹ Versions",
    ]  # fmt: skip
    words = " ".join(f"word{n}" for n in range(3_000))
    await sql("update compression set rows = jsonb_build_array(jsonb_build_object('role', 'user', 'text', %s::text,"
              " 'at', now(), 'from', 1, 'through', 1))"
              " where number = 2", words)  # fmt: skip
    await chat.press(ListVersions(old))
    await chat.press("☐ v001")
    await chat.press("☐ v002")
    done = await press_button(chat.context(), "lm:%d" % old)  # noqa: UP031
    assert done.says is not None
    assert done.says.file is not None
    assert "word2999" in done.says.file.whole().decode()  # type: ignore[union-attr]


async def test_a_session_that_begins_without_words_has_no_empty_title(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await past(driver, sql)
    await sql("update message set text = '' where text = 'Hello'")
    assert "**1** · without a title · now" in await Chat(store, private(ADA)).say("")


async def test_a_version_says_how_much_was_said_since(driver: TurnDriver, store: Store, sql: Sql) -> None:
    old = await past(driver, sql)
    made = await add_version(sql, old, 1)
    chat = Chat(store, private(ADA))
    assert "since" not in await chat.press(press_version(made))
    await sql("update compression set through_message_id = (select min(id) from message)")
    assert "\n\n1 message since\n\n" in await chat.press(press_version(made))


async def test_a_search_names_a_version_by_its_session(driver: TurnDriver, store: Store, sql: Sql) -> None:
    old = await past(driver, sql)
    made = await add_version(sql, old, 3, "Tulips, in short.")
    chat = Chat(store, private(ADA))
    turn = await store.begin_command(BOT.id, ADA, 0, ADA)
    found = await run_command(replace(chat.context("tulips"), turn=turn), "search")
    assert "🗜 v003 of “The garden is 12 by 8 metres.”\n" in unescape(found.text)
    await sql("update session set title = %s where id = %s", "Beds *and* paths", old)
    found = await run_command(replace(chat.context("tulips"), turn=turn), "search")
    assert "🗜 v003 of “Beds *and* paths”\n" in unescape(found.text).replace("\\", "")
    opened = await chat.press(open_result(turn.turn_id, 0, Result("version", made)))
    assert "🗜 v003 of “Beds *and* paths”" in opened.replace("\\", "")


async def test_in_a_group_everyone_can_read_and_only_admins_can_change(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    old = await past(driver, sql, space=group())
    await add_version(sql, old, 1)
    member = Chat(store, group(), BEN)
    assert "Sessions in this conversation" in await member.say("")
    assert "12 by 8" in await member.press(press_original(old))
    refused = "That's for my admins."
    assert await member.press(press_register(old, True)) == refused
    assert await member.press(press_setting("model", "big")) == refused
    await member.press(ListVersions(old))
    await member.press("☐ v001")
    assert await member.press("Prune 1…") == refused
    admin = Chat(store, group(), ADA, admin=True)
    await admin.press(press_register(old, True))
    for _ in range(2):  # or removed elsewhere in between
        assert "12 by 8" in await admin.press(press_register(old, False))
    await admin.press(ListVersions(old))
    await admin.press("☐ v001")
    await admin.press("Prune 1…")
    assert "Pruned" in await admin.press("Yes, prune 1")
    stranger = Chat(store, private(BEN), BEN)
    for data in (OpenSession(old), press_original(old), ListVersions(old), press_version(1), press_register(old, True)):
        assert "12 by 8" not in await stranger.press(data)


Shell = Callable[..., Any]


@pytest.fixture
def shell(opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Returns a function that runs `relay session … --json` as Ada. It returns the result, or the error's sentence."""
    monkeypatch.setenv("DATABASE_URL", opened.server.url(opened.name))
    settings = {"DATA_DIR": str(tmp_path), "ADMINS": str(ADA), "LOG_LEVEL": "ERROR", "EMBEDDER": "off"}
    for name, value in settings.items():
        monkeypatch.setenv(f"RELAY_{name}", value)

    def run(*words: str, as_json: bool = True) -> Any:
        words = ("session", *words, *(["--json"] if as_json else []))
        done = CliRunner().invoke(cli, words, catch_exceptions=True)
        if not as_json:
            return done.output
        printed = json.loads(done.stdout)
        return printed["error"] if done.exit_code else printed

    return run


@pytest.mark.slow("test_command_surfaces.py")
async def test_the_shell_does_the_same_as_the_chat(driver: TurnDriver, sql: Sql, shell: Shell) -> None:
    old = await past(driver, sql)
    await driver.exchange(ADA, "Elsewhere we spoke of beans", topic_id=5)
    first, _ = [await add_version(sql, old, n, f"Garden {n}") for n in (1, 2)]
    here = ("--chat", str(ADA))

    async def run(*words: str, as_json: bool = True) -> Any:
        return await asyncio.to_thread(shell, words[0], *words[1:], *here, as_json=as_json)

    assert "autoDecay.enabled = off\n" in await run("settings", as_json=False)
    assert "A topic belongs to a chat." in await asyncio.to_thread(shell, "list", "--topic", "5")
    listed = await run("list")
    assert [one["number"] for one in listed["sessions"]] == [1, 2]
    assert listed["sessions"][1]["versions"] == 2
    assert (await run("show", "2"))["id"] == (await run("show", f"#{old}"))["id"] == old
    assert (await run("original", "2"))["messages"][0]["text"] == "The garden is 12 by 8 metres."
    assert (await run("register", "2"))["registered"]
    listing = await run("list", as_json=False)
    assert "[M]" in listing
    assert "2 messages · 12 tokens · 2 versions" in listing
    assert (await run("topics", "2"))["topics"] == []
    assert [one["number"] for one in (await run("versions", "2"))["versions"]] == [2, 1]
    assert [one["text"] for one in (await run("compare", "2", "v001", "2"))["a"]["rows"]] == ["Garden 1"]
    assert "Add --yes" in await run("prune", "2", "v001")
    assert [one["id"] for one in await run("prune", "2", "v001", "--yes")] == [first]
    assert "no version “v001”. There are: v002." in await run("prune", "2", "v001", "--yes")
    assert [one["id"] for one in await run("prune", "2", f"#{first}", "--undo")] == [first]
    assert "The original can't be chosen here." in await run("prune", "2", "original", "--yes")
    assert [one["session_id"] for one in await run("suggest", "garden", "metres")] == [old]
    assert "from 1,000 to 100,000" in await run("suggest", "garden", "--budget", "10")
    assert await run("suggest", "submarine") == []
    assert (await run("settings", "model", "big"))["defaults"]["model"] == "big"
    assert (await run("settings"))["defaults"]["model"] == "big"
    assert await run("settings", "model", as_json=False) == "defaults.model = big\n"
    assert "There is no setting “foo”. There are: storage.maxCacheSize" in await run("settings", "foo")
    assert {one["kind"]: one["rows"] for one in (await run("stats"))["stored"]}["versions"] == 2
    assert "no session with that number. relay sessions lists them." in await run("show", "9")
    assert "Add --yes" in await run("unregister", "2", "--versions")
    assert (await run("show", "2"))["registered"], "nothing may have been done"
    assert (await run("unregister", "2", "--versions", "--yes"))["versions"] == 0
    assert "That session isn't in the library." in await run("unregister", "2")
    [(elsewhere,)] = await sql("select s.id from session s join thread t on t.id = s.thread_id where t.topic_id = 5")
    assert (await run("link", f"#{elsewhere}", "--reason", "same garden"))["linked"] == "same garden"
    assert [one["id"] for one in (await run("list"))["linked"]] == [elsewhere]
    assert (await run("suggest", "beans"))[0]["linked"] == "same garden"
    assert await run("unlink", f"#{elsewhere}") == {"unlinked": elsewhere}
    assert "isn't linked" in await run("unlink", "2")
    assert "same memory" in await run("link", "#999")


async def test_the_shell_shows_own_days_and_how_to_restore_what_was_pruned(
    driver: TurnDriver, sql: Sql, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = await past(driver, sql)
    made = await add_version(sql, old, 1)
    await sql("update session set started_at = '2026-01-15T20:00:00Z' where id = %s", old)
    await sql("update compression set created_at = '2026-01-15T20:00:00Z'")
    monkeypatch.setenv("RELAY_TIMEZONE", "Pacific/Kiritimati")

    async def run(*words: str) -> str:
        return str(await asyncio.to_thread(shell, *words, "--chat", str(ADA), as_json=False))

    assert "2026-01-16" in await run("show", "2")
    assert f"#{made} · v001_tiered-standard_1k · ready · 1,000 tokens · 2026-01-16\n" in await run("versions", "2")
    done = await run("prune", "2", "v001", "--yes")
    assert done.startswith("Pruned:\n")
    assert done.endswith(f"To bring them back within ten minutes: relay session prune 2 {made} --undo --chat {ADA}\n")
    assert (await run("prune", "2", str(made), "--undo")).startswith("Restored:\n")


async def test_all_versions_of_a_session_are_deleted_however_many(driver: TurnDriver, sql: Sql, shell: Shell) -> None:
    old = await past(driver, sql)
    for number in range(1, 131):
        await add_version(sql, old, number)
    here = ("--chat", str(ADA))
    listed = await asyncio.to_thread(shell, "versions", "2", "--offset", "100", *here)
    assert [listed["versions"][0]["number"], len(listed["versions"]), listed["total"]] == [30, 30, 130]
    await asyncio.to_thread(shell, "register", "2", *here)
    assert "Add --yes" in await asyncio.to_thread(shell, "unregister", "2", "--versions", *here)
    assert (await asyncio.to_thread(shell, "unregister", "2", "--versions", "--yes", *here))["versions"] == 0
    assert "isn't in the library" in await asyncio.to_thread(shell, "unregister", "2", "--versions", *here)


async def test_a_group_named_in_the_shell_is_not_a_private_chat(driver: TurnDriver, sql: Sql, shell: Shell) -> None:
    old = await past(driver, sql, space=group())
    version = await add_version(sql, old, 1)
    await compose(sql, "Winter plan", [version])
    found = await asyncio.to_thread(
        CliRunner().invoke, cli, ["compose", "list", "--chat", str(GROUP), "--json"], catch_exceptions=False
    )
    assert [one["name"] for one in json.loads(found.stdout)["compositions"]] == ["Winter plan"]
    assert [one["id"] for one in (await asyncio.to_thread(shell, "list", "--chat", str(GROUP)))["sessions"]][1] == old


async def test_a_chat_where_nothing_was_said_is_refused_and_not_created(
    driver: TurnDriver, sql: Sql, shell: Shell
) -> None:
    await driver.exchange(ADA, "Hello")
    here = ["preferences", "here", "ignore", "--json", "--chat"]
    for words, where in (
        ([*here, "4711"], "4711"),
        ([*here, str(ADA), "--topic", "3"], f"{ADA}, topic 3"),
        (["session", "list", "--json", "--chat", "-4711"], "-4711"),
    ):
        done = await asyncio.to_thread(CliRunner().invoke, cli, words)
        assert done.exit_code == 1
        assert json.loads(done.stdout)["error"] == f"Nothing has been said in the chat {where} yet."
    assert await sql("select chat_id, topic_id from thread") == [(ADA, 0)]
    done = await asyncio.to_thread(CliRunner().invoke, cli, [*here, str(ADA)])
    assert json.loads(done.stdout)["here"] == "ignore"


async def test_only_a_search_loads_the_embedder(
    driver: TurnDriver, sql: Sql, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    await past(driver, sql)
    opened: list[str] = []
    open_desk = once.open_desk

    def noted(settings: Any, name: str, pressable: bool) -> Any:
        opened.append(name)
        return open_desk(settings, name, pressable)

    monkeypatch.setattr(once, "open_desk", noted)
    await asyncio.to_thread(shell, "list", "--chat", str(ADA))
    await asyncio.to_thread(shell, "suggest", "garden", "--budget", "8.5k", "--chat", str(ADA))
    assert [name == once.SEARCHES for name in opened] == [False, True]

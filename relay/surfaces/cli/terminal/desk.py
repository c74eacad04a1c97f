"""Runs commands, buttons and replies to questions at a terminal, each in its own turn without an update."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import TextIO

from relay.archive.packed import pack
from relay.commands.context import Services
from relay.commands.contexts.draft import Drafted, sessions_to_choose
from relay.commands.history.sessions import say_elsewhere
from relay.core.errors import RelayError
from relay.core.models import Button, Export, File, Space
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.sessions import SessionPage
from relay.runtime.storage import say_if_slow
from relay.surfaces.chat.context import NOTHING_SAID, ChatContext, CommandMessage, RepliedMessage
from relay.surfaces.chat.dispatch import hear_answer, press_button, run_command
from relay.surfaces.chat.handlers import CONFIRMING
from relay.surfaces.chat.reply import CommandReply
from relay.surfaces.cli.terminal.messenger import Terminal, name_commands
from relay.surfaces.cli.where import TERMINAL, Where, go_to
from relay.surfaces.telegram.outgoing.replies import redraw_pressed, reply_parts
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.parsing.updates import ASKED, Bot

BOT = Bot(0, "relay")
"""The terminal's bot. It has separate lanes, so a bot that runs at the same time leaves them alone."""
HERE = Place(0, 0, True)
"""The person's private chat at the terminal."""
NO_SUCH_BUTTON = "That button doesn't exist."
WAITING = "Waiting for the database, until it can be reached again. Ctrl-C stops."
SPEECHLESS = "I can't speak in the terminal. In Telegram, I can read an answer aloud."


@dataclass(eq=False, slots=True)
class Desk:
    """One person at a terminal, in a private chat with their own memory."""

    services: Services
    terminal: Terminal
    user_id: int
    name: str
    stop: Callable[[], bool] = lambda: False
    """Ends the answer that is being written here."""
    after: Callable[[], None] = lambda: None
    """Called when a command is done."""
    in_shell: bool = False
    """Refusals go to standard error, and commands are named as in the shell."""
    where: Where = TERMINAL
    """The conversation that commands are about."""
    refused: bool = False
    """Whether the last command was refused."""
    wrong: bool = False
    """Whether that was because of an argument."""
    result: object = None
    """The last command's result."""

    @property
    def asks(self) -> bool:
        """Whether the next line answers a question."""
        return self.terminal.asking is not None

    @property
    def buttons(self) -> bool:
        """Whether there is a button to press."""
        return bool(self.terminal.buttons)

    @property
    def confirming(self) -> int:
        """The number of the button that says yes to the question, or 0."""
        codes = [data.split(":")[0] for _, data, _ in self.terminal.buttons]
        return next((i for i, code in enumerate(codes, 1) if code in CONFIRMING), 0)

    def number_of(self, label: str) -> int:
        """Returns the number of the button with that name, or 0."""
        return next((i for i, (name, _, _) in enumerate(self.terminal.buttons, 1) if name == label), 0)

    async def command(self, name: str, words: str) -> None:
        """Runs a command of the chat and prints its reply."""
        self.terminal.asking = None
        async with self.turn(words, CommandMessage(text=f"/{name} {words}".strip())) as call:
            await self._show(call, await run_command(call, name))
            await self._look_elsewhere(call)

    async def _look_elsewhere(self, call: ChatContext) -> None:
        """Says where there are sessions, if a command found none here. Without any, there is nothing to compose."""
        found = self.result
        if isinstance(found, Drafted):
            none = not (await sessions_to_choose(call, found.draft, 0, 1)).sessions
            self.refused = self.refused or none
        else:
            none = isinstance(found, SessionPage) and not (found.total or found.linked)
        if none and (told := await say_elsewhere(call)):
            print(told, flush=True)

    async def answer(self, text: str) -> None:
        """Answers the question that was asked last."""
        asking, self.terminal.asking = self.terminal.asking, None
        found = ASKED.match(asking["text"]) if asking else None
        if asking is None or found is None:
            return
        replied = RepliedMessage(asking["message_id"], asking["text"], BOT.id, 0)
        async with self.turn(text, CommandMessage(text=text, replied=replied)) as call:
            await self._show(call, await hear_answer(call, found[1], int(found[2] or 0)))

    async def press(self, number: int) -> None:
        """Presses a button by its number."""
        if not 0 < number <= len(self.terminal.buttons):
            print(NO_SUCH_BUTTON, flush=True)
            self.refused = True
            return
        self.wrong = False
        _, data, under = self.terminal.buttons[number - 1]
        beside = ((name, other) for name, other, message_id in self.terminal.buttons if message_id == under)
        rows = [[Button(name, other)] for name, other in beside]
        async with self.turn("", CommandMessage(message_id=under, rows=rows)) as call:
            done = await press_button(call, data)
            self.refused = done.refused
            named = replace(done, text=done.text and self._named(done.text))
            with self._output(done.refused):
                if done.toast:
                    toast = self._named(done.toast)
                    print(toast if self.in_shell and done.refused else f"({toast})", flush=True)
                await redraw_pressed(call.store, self.terminal, BOT.id, HERE, under, named)
            if done.result is not None:
                self.result = done.result
            if done.says is not None:
                await self._show(call, done.says)

    async def _show(self, call: ChatContext, reply: CommandReply) -> None:
        self.wrong = reply.wrong
        self.refused = reply.refused or bool(reply.failed and not reply.changes)
        self.result = reply.result
        text = reply.text or (SPEECHLESS if reply.aloud else "")
        failed = [replace(one, hint=self._named(one.hint)) for one in reply.failed]
        shown = replace(reply, file=None, aloud="", text=self._named(text), failed=failed)
        with self._output(self.refused):
            for part in await reply_parts(shown, call.turn.turn_id, HERE):
                await self.terminal.call("sendMessage", **part.request)
        if isinstance(reply.file, Export):
            await self._send_export(call, reply.file)
        elif reply.file is not None and reply.file.picture:
            await self.terminal.call("sendPhoto", photo=reply.file)
        elif reply.file is not None:
            await self.terminal.call("sendDocument", document=reply.file)
        self.refused = self.refused or self.terminal.unwritten

    def _output(self, refused: bool) -> contextlib.redirect_stdout[TextIO]:
        """Sends refusals in the shell to standard error."""
        return contextlib.redirect_stdout(sys.stderr if self.in_shell and refused else sys.stdout)

    async def _send_export(self, call: ChatContext, wanted: Export) -> None:
        here = self.services.installation
        with await pack(call.store, wanted, here.version, here.scratch) as archive:
            await self.terminal.call("sendDocument", document=File(wanted.name, archive))

    @contextlib.asynccontextmanager
    async def turn(self, words: str = "", said: CommandMessage = NOTHING_SAID) -> AsyncIterator[ChatContext]:
        """Begins a turn and yields its command context. The turn ends with the block."""
        store = self.services.store
        with say_if_slow(WAITING):
            turn = await store.begin_command(BOT.id, HERE.chat_id, HERE.topic_id, self.user_id)
        try:
            yield await go_to(self._context(turn, words, said), self.where)
        finally:
            with contextlib.suppress(RelayError):
                await store.store_sent(turn, [], True)
            self.after()

    def _context(self, turn: ClaimedTurn, words: str, said: CommandMessage) -> ChatContext:
        return ChatContext(
            services=self.services,
            turn=turn,
            bot_id=BOT.id,
            space=Space("private", owner_id=self.user_id),
            chat_id=HERE.chat_id,
            topic_id=HERE.topic_id,
            private=True,
            user_id=self.user_id,
            name=self.name,
            admin=self.services.people.role_of(turn) == "admin",
            stop=self._stopped,
            sees=self._sees,
            text=words,
            said=said,
            messenger=self.terminal,
        )

    def _named(self, text: str) -> str:
        """Returns a text, in the shell with its commands named as there."""
        return name_commands(text) if self.in_shell else text

    async def _stopped(self) -> bool:
        return self.stop()

    async def _sees(self, space: Space) -> bool:
        return space.owner_id == self.user_id

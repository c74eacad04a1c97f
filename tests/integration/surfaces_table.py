"""How each command is run through each of its surfaces, after `surfaces_past.live`."""

from __future__ import annotations

from dataclasses import dataclass

from relay.surfaces.chat.contexts import composition, compress, sessions, version
from relay.surfaces.chat.contexts.buttons import ListVersions, OpenSession
from relay.surfaces.chat.contexts.compress import Draft
from relay.surfaces.chat.contexts.markers import keepit, pages
from relay.surfaces.chat.contexts.pruning import SelectVersion
from relay.surfaces.chat.memory import cards
from relay.surfaces.chat.memory.origin import show_origin
from relay.surfaces.chat.memory_buttons import (
    OpenMemory,
    ShowControls,
)
from relay.surfaces.chat.memory_views import View
from relay.surfaces.chat.preferences.pages import show_card
from relay.surfaces.chat.reminders.intents import act_on_intent
from relay.surfaces.chat.reminders.made import press_done
from relay.surfaces.chat.reminders.reminders import act_on_reminder, press_reminder
from tests.integration.surfaces import Label, Reply, Request, Step
from tests.integration.surfaces_past import SETTINGS

SESSION, PROJECT = "/api/memory/sessions/1", "/api/memory/projects/t1"
WAITS = "update observation set pending = true"
MARKED = "The answer to number 4 is 31 and must not be lost."


@dataclass(frozen=True, kw_only=True)
class Case:
    """The same done in several ways; `before`: SQL that runs first. `cli`: command lines."""

    chat: tuple[Step, ...] = ()
    cli: tuple[str, ...] = ()
    http: tuple[Request, ...]
    before: str = ""
    tells: tuple[str, ...] = ("cli", "http")
    """Where a program reads the result. Elsewhere it reads another form of it, such as a file."""
    part: tuple[str, ...] = ()
    """The fields that lead to the part of the result that the program reads."""
    apart: tuple[str, ...] = ()
    """Fields that say in which conversation it was done."""


CASES: dict[str, Case] = {
    "contexts.composition.compose": Case(
        tells=("cli",),
        chat=("/compose Shed", Label("Second"), Label("Next"), Label("Make it")),
        cli=("compose new Shed --session '#4' --in-order",),
        http=(("POST", f"{PROJECT}/compositions", {"name": "Shed", "components": [{"sessionId": "4"}]}),),
    ),
    "contexts.composition.drop_composition": Case(
        tells=("cli",),
        chat=("/compose show Garden", composition.press_confirm(1)),
        cli=("compose drop Garden --yes",),
        http=(("DELETE", "/api/memory/compositions/c1"),),
    ),
    "contexts.composition.export_composition": Case(
        tells=(),
        chat=("/compose show Garden", composition.press_download(1)),
        cli=("compose export Garden",),
        http=(("GET", "/api/memory/compositions/c1?format=zip"),),
    ),
    "contexts.composition.open_composition": Case(
        tells=(), chat=("/compose list", composition.press_open(1)), http=(("GET", "/api/memory/compositions/c1"),)
    ),
    "contexts.composition.use_composition": Case(
        tells=("cli",),
        chat=("/compose show Garden", composition.BeginWith(1)),
        cli=("compose use Garden",),
        http=(("POST", "/api/memory/compositions/c1/use"),),
    ),
    "contexts.compress.compress": Case(
        tells=("cli",),
        chat=("/sessions", compress.press_compress(1)),
        cli=("session compress",),
        http=(("POST", f"{SESSION}/versions", {"preview": True}),),
        before="update thread set session_id = 1 where id = 1",
    ),
    "contexts.compress.make_version": Case(
        tells=("cli",),
        chat=("/compress 20:1 light", compress.press_make(1, Draft(None, 20, "light", method="extract"))),
        cli=("session compress 20:1 light --model none --yes",),
        http=(("POST", f"{SESSION}/versions", SETTINGS | {"compactionRatio": 20}),),
        before="update thread set session_id = 1 where id = 1",
    ),
    "contexts.keepit.keep_passage": Case(
        tells=("cli",),
        chat=("/keepit 0.80 What do I like",),
        cli=("session keepit 0.80 What do I like",),
        http=(
            ("POST", "/api/memory/sessions/4/keepits", {"messageUuid": "m86", "weight": 0.8, "text": "What do I like"}),
        ),
    ),
    "contexts.keepit.keepits": Case(
        tells=("cli",),
        chat=("/sessions", keepit.open_session_markers(1)),
        cli=("session keepits --session '#1'",),
        http=(("GET", f"{SESSION}/keepits?limit=8"),),
    ),
    "contexts.keepit.open_keepit": Case(
        tells=("cli",),
        chat=("/keepit", pages.press_open(1)),
        cli=("session keepit --of p1",),
        http=(("PUT", f"{SESSION}/keepits/p1", {"weight": 1.0}),),
    ),
    "contexts.keepit.remove_keepit": Case(
        tells=("cli",),
        chat=("/keepit", pages.press_remove(1)),
        cli=("session keepit --of p1 --remove",),
        http=(("DELETE", f"{SESSION}/keepits/p1"),),
    ),
    "contexts.keepit.weigh_keepit": Case(
        tells=("cli",),
        chat=("/keepit", pages.press_weigh(1, 25)),
        cli=("session keepit 0.25 --of p1",),
        http=(("PUT", f"{SESSION}/keepits/p1", {"weight": 0.25}),),
    ),
    "contexts.library.link_session": Case(
        tells=("cli",),
        cli=("session link '#2' --reason plants",),
        http=(("POST", "/api/memory/links", {"sessionId": "2", "projectId": "t1", "reason": "plants"}),),
    ),
    "contexts.library.unlink_session": Case(
        tells=(),
        cli=("session link '#2'", "session unlink '#2'"),
        http=(
            ("POST", "/api/memory/links", {"sessionId": "2", "projectId": "t1"}),
            ("DELETE", "/api/memory/links/2-t1"),
        ),
    ),
    "contexts.library.register_session": Case(
        tells=("cli",),
        chat=("/sessions", sessions.press_register(3, True)),
        cli=("session register '#3'",),
        http=(("POST", f"{PROJECT}/sessions/3", {}),),
    ),
    "contexts.library.storage_statistics": Case(
        cli=("session stats",), http=(("GET", "/api/memory/stats?projectId=t1"),)
    ),
    "contexts.library.unregister_session": Case(
        tells=("cli",),
        chat=("/sessions", sessions.press_register(1, False)),
        cli=("session unregister '#1'",),
        http=(("DELETE", f"{PROJECT}/sessions/1"),),
    ),
    "contexts.pruning.prune": Case(
        tells=("cli",),
        chat=("/sessions", ListVersions(1), SelectVersion(2), Label("Prune"), Label("Yes")),
        cli=("session prune '#1' v002 --yes",),
        http=(("DELETE", f"{SESSION}/versions/v002"),),
    ),
    "contexts.pruning.restore_versions": Case(
        tells=("cli",),
        chat=("/sessions", ListVersions(1), SelectVersion(2), Label("Prune"), Label("Yes"), Label("Undo")),
        cli=("session prune '#1' v002 --yes", "session prune '#1' '#2' --undo"),
        http=(
            ("DELETE", f"{SESSION}/versions/v002"),
            ("POST", "/api/memory/versions/restore", {"sessionId": "1", "undo": "1-2"}),
        ),
    ),
    "contexts.space_settings.show_settings": Case(
        tells=(),
        chat=("/sessions settings",),
        cli=("session settings",),
        http=(("GET", "/api/memory/settings?projectId=t1"),),
    ),
    "contexts.library.suggest": Case(
        tells=("cli",),
        chat=("/compose strong tea",),
        cli=("session suggest strong tea",),
        http=(("POST", "/api/memory/suggest", {"query": "strong tea", "projectId": "t1"}),),
    ),
    "contexts.versions.compare_versions": Case(
        tells=("cli",),
        chat=("/sessions", ListVersions(1), SelectVersion(1), SelectVersion(2), Label("Compare")),
        cli=("session compare '#1' v001 v002",),
        http=(("GET", f"{SESSION}/compare?a=v001&b=v002"),),
    ),
    "contexts.versions.list_versions": Case(
        tells=("cli",),
        chat=("/sessions", ListVersions(1)),
        cli=("session versions '#1'",),
        http=(("GET", f"{SESSION}/versions"),),
    ),
    "contexts.versions.read_version": Case(
        tells=(),
        chat=("/sessions", version.press_download(1)),
        cli=("session download '#1'",),
        http=(("GET", f"{SESSION}/versions/v001"),),
    ),
    "contexts.versions.versions_named": Case(
        tells=(), cli=("session compare '#1' v001 v002",), http=(("GET", f"{SESSION}/compare?a=v001&b=v002"),)
    ),
    "history.search.search": Case(
        part=("page", "found"), chat=("/search tea",), cli=("search tea",), http=(("GET", "/api/search?q=tea&limit=8"),)
    ),
    "history.sessions.open_session": Case(
        tells=("cli",),
        chat=("/sessions", OpenSession(1)),
        cli=("session show '#1'",),
        http=(("GET", f"{SESSION}/versions"),),
    ),
    "history.sessions.sessions": Case(
        tells=("cli",), chat=("/sessions",), cli=("session list",), http=(("GET", f"{PROJECT}/sessions"),)
    ),
    "history.why.explain_turn": Case(chat=("/why",), cli=("why",), http=(("GET", "/api/turns/5/why"),)),
    "memory.browse.list_memories": Case(chat=("/memory",), cli=("memory",), http=(("GET", "/api/memories"),)),
    "memory.browse.list_past": Case(
        chat=("/memory 3", cards.show_past(3, 1)), cli=("memory history 3",), http=(("GET", "/api/memories/3/history"),)
    ),
    "memory.browse.open_memory": Case(chat=("/memory", OpenMemory(3, View())), http=(("GET", "/api/memories/3"),)),
    "memory.browse.trace_memory": Case(
        chat=("/memory 1", show_origin(1, View())), cli=("memory show 1",), http=(("GET", "/api/memories/1/source"),)
    ),
    "memory.change.forget_memory": Case(
        chat=("/memory 3", cards.press_forget(3, View())), http=(("DELETE", "/api/memories/3"),)
    ),
    "memory.change.merge_memories": Case(
        cli=("memory merge 1 3 'Sails for tea'",),
        http=(("POST", "/api/memories/merge", {"ids": ["1", "3"], "text": "Sails for tea"}),),
    ),
    "memory.change.patch_memory": Case(
        chat=("/memory 3", Label("Edit"), Reply("Sails a kayak")),
        cli=("memory edit 3 Sails a kayak",),
        http=(("PATCH", "/api/memories/3", {"text": "Sails a kayak"}),),
    ),
    "memory.change.restore_memory": Case(
        chat=("/memory 4", cards.press_restore(4, View())),
        cli=("memory restore 4",),
        http=(("POST", "/api/memories/4/restore", {}),),
    ),
    "memory.controls.show_controls": Case(
        chat=("/memory", ShowControls(0)), cli=("memory status",), http=(("GET", "/api/memories/settings"),)
    ),
    "memory.controls.switch": Case(
        chat=("/memory off",), cli=("memory off",), http=(("PUT", "/api/memories/settings", {"on": False}),)
    ),
    "memory.decide.decide": Case(
        chat=("/memory 3", cards.press_undo(5, View())), cli=("memory undo 5",), http=(("POST", "/api/changes/5/undo"),)
    ),
    "memory.decide.list_changes": Case(
        chat=("/memory changes",), cli=("memory changes",), http=(("GET", "/api/memories/changes"),)
    ),
    "memory.browse.export": Case(tells=(), chat=("/export",), http=(("GET", "/api/export"),)),
    "memory.remember.remember": Case(
        chat=("/remember I play the lute",),
        cli=("remember I play the lute",),
        http=(("POST", "/api/memories", {"text": "I play the lute"}),),
    ),
    "preferences.feedback.prefer": Case(
        chat=("/preferences prefer more examples",),
        cli=("preferences prefer more examples",),
        http=(("POST", "/api/preferences", {"polarity": "prefer", "pattern": "more examples"}),),
        apart=("session_id", "thread_id"),
    ),
    "preferences.feedback.signal": Case(
        chat=("/tag too long",),
        cli=("preferences signal --kind tag --words 'too long' --turn 5",),
        http=(("POST", "/api/preferences/signals", {"kind": "tag", "words": "too long", "turnId": "5"}),),
    ),
    "preferences.preferences.decide_waiting": Case(
        tells=(),
        chat=("/preferences", Label("Keep")),
        http=(("POST", "/api/preferences/decide", {"keep": True}),),
        before=WAITS,
    ),
    "preferences.preferences.forget_preferences": Case(
        chat=("/preferences forget emoji",),
        cli=("preferences forget emoji",),
        http=(("DELETE", "/api/preferences/3"),),
    ),
    "preferences.preferences.list_preferences": Case(
        chat=("/preferences",), cli=("preferences",), http=(("GET", "/api/preferences"),)
    ),
    "preferences.preferences.open_preference": Case(
        chat=("/preferences", show_card(0, 1)),
        cli=("preferences show 1",),
        http=(("GET", "/api/preferences/1"),),
    ),
    "preferences.preferences.reset_preferences": Case(
        chat=("/preferences reset", Reply("2")),
        cli=("preferences reset --yes 2",),
        http=(("POST", "/api/preferences/reset", {"known": 2}),),
    ),
    "preferences.preferences.switch_preferences": Case(
        chat=("/preferences off",),
        cli=("preferences off",),
        http=(("PUT", "/api/preferences/settings", {"on": False}),),
    ),
    "preferences.preferences.undo_forgetting": Case(
        tells=(),
        chat=("/preferences forget emoji", Label("Undo")),
        http=(("DELETE", "/api/preferences/3"), ("POST", "/api/preferences/restore", {"decisions": ["3"]})),
    ),
    "reminders.intents.intents": Case(chat=("/reminders",), http=(("GET", "/api/reminders/intents"),)),
    "reminders.intents.make_intent": Case(
        chat=("/remind when piano: the tuner",),
        http=(("POST", "/api/reminders/intents", {"about": "piano", "text": "the tuner"}),),
        apart=("session_id", "thread_id"),
    ),
    "reminders.intents.set_intent": Case(
        chat=("/reminders", act_on_intent(1, "delete")), http=(("DELETE", "/api/reminders/intents/1"),)
    ),
    "reminders.reminders.calendar": Case(
        tells=("cli",),
        chat=("/reminders ics",),
        cli=("reminders ics",),
        http=(("POST", "/api/reminders/calendar"), ("GET", "{path}")),
    ),
    "reminders.reminders.delete": Case(
        chat=("/reminders", act_on_reminder(1, "delete")), http=(("DELETE", "/api/reminders/1"),)
    ),
    "reminders.reminders.mark_done": Case(
        before="insert into reminder_event (reminder_id, kind) values (1, 'fired')",
        chat=("/reminders", press_done(1)),
        http=(("POST", "/api/reminders/1/done"),),
    ),
    "reminders.reminders.open_reminder": Case(
        chat=("/reminders", press_reminder(1, 0)), http=(("GET", "/api/reminders/1"),)
    ),
    "reminders.quiet.quiet": Case(
        chat=("/quiet on",), cli=("quiet on",), http=(("PUT", "/api/reminders/quiet", {"until": "on"}),)
    ),
    "reminders.reminders.remind": Case(
        chat=("/remind 2030-12-31 18:00 fireworks",),
        cli=("remind 2030-12-31 18:00 fireworks",),
        http=(("POST", "/api/reminders", {"text": "2030-12-31 18:00 fireworks"}),),
    ),
    "reminders.reminders.reminders": Case(chat=("/reminders",), cli=("reminders",), http=(("GET", "/api/reminders"),)),
    "session.usage.usage": Case(chat=("/usage",), cli=("usage",), http=(("GET", "/api/usage?days=14"),)),
}

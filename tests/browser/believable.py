"""A Relay after some weeks of use: Ada's memories, conversations, preferences and reminders. Everything is said in the
chat. Afterwards, only its days are moved back."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import httpx

from tests.acceptance.shared_relay import SharedRelay
from tests.benchmarks.conversations import load
from tests.standins.telegram import Chat, StoredMessage, User

Turns = tuple[tuple[str, str], ...]

MEMORIES = (
    "I work as a structural engineer for bridges in Rotterdam",
    "My daughter Mia is six and allergic to walnuts",
    "My brother Tom lives in Lisbon and plays the cello",
    "I drink my coffee black and never after four",
    "We are going to the Azores from 3 to 17 June",
    "I am learning Portuguese, an hour each Sunday",
    "The landlord, Mr Visser, repairs nothing without a letter",
    "I want to run ten kilometres in under an hour by autumn",
    "Our cat Pixel gets her tablet with salmon paste at eight",
    "I decided against a second car; we share Tom's old bicycle",
)
"""What Ada tells it with commands."""

CONVERSATIONS: tuple[tuple[int, str, Turns], ...] = (
    (
        61,
        "The balcony garden",
        (
            (
                "What grows on a north-facing balcony in Rotterdam? It gets two hours of sun.",
                "More than people think. **Ferns, hostas, ivy and fuchsias** like the shade; of herbs, mint, chives and "
                "parsley put up with it.\n[LEARN: Has a north-facing balcony with two hours of sun]",
            ),
            (
                "Mia wants strawberries though.",
                "Then take *alpine* strawberries: small, sweet, and the only kind that fruits in half shade. Give them "
                "the railing, where the light is.\n[LEARN: Grows alpine strawberries for Mia]",
            ),
            (
                "How often do I water them?",
                "When the top two centimetres are dry: every other day in May, daily in July.",
            ),
        ),
    ),
    (
        33,
        "The letter to the landlord",
        (
            (
                "The heating has been cold since Monday. Help me write to Mr Visser, firm but polite.",
                "> Dear Mr Visser,\n> The heating in Kade 14 has not worked since Monday, 23 March. I ask you to have it "
                "repaired by Friday. Until then I withhold a fifth of the rent, as article 7:207 allows.\n\nShall I make "
                "it shorter?",
            ),
            (
                "Is a fifth right?",
                "Courts granted 20 to 30 % for no heating at all. A fifth is cautious, and hard to argue with.",
            ),
            (
                "Good. Keep the deadline: ##keepit0.90##Friday 27 March, 17:00##/keepit##",
                "Noted. After that, the rent tribunal is free for tenants.",
            ),
        ),
    ),
    (
        12,
        "Azores in June",
        (
            (
                "Plan two weeks on the Azores with a six-year-old. No walnuts, few long drives.",
                "Stay on **two islands**, so nobody drives much:\n\n1. São Miguel, 3 to 11 June: hot springs at Furnas, "
                "whale watching on day 3\n2. Terceira, 11 to 17 June: natural pools at Biscoitos\n\n"
                "[LEARN: Wants holidays with few long drives]",
            ),
            (
                "What do I say in a restaurant about the walnuts?",
                "*“A minha filha é alérgica a nozes.”* Show it written, too.",
            ),
        ),
    ),
    (
        3,
        "Load cases for the footbridge",
        (
            (
                "Which live load do I take for a footbridge of 42 m after EN 1991-2?",
                "The uniform load is reduced with the span: `q = 2.0 + 120 / (L + 30)`, so **3.67 kN/m²** for 42 m. The "
                "limits are 2.5 and 5.0.\n[LEARN: Is designing a footbridge with a span of 42 m]",
            ),
            (
                "And for a crowd at a festival?",
                "Then take the full **5.0 kN/m²**, whatever the span, and check the vibration.",
            ),
        ),
    ),
)
"""How many days ago, the title, and the messages with their answers."""

LONG = ((19, "Two weeks in Japan", "japan", 2), (47, "Training for ten kilometres", "marathon", 3))
"""How many days ago, the title, and the id and session number of a benchmark conversation."""
EXCHANGES = 14
MARK = re.compile(r"##/?keepit[\d.]*##")
MARKED = {2: "1.00", 6: "0.80", 10: "0.50", 14: "0.65"}
"""The marked messages of the long conversations, with their weights."""

PREFERENCES = ("prefer short answers", "prefer metric units", "avoid exclamation marks", "avoid being asked back")
REMINDERS = (
    "in 1 day at 9:00 to call the dentist",
    "every monday 8:00 bins out",
    "on 3 June 6:30 to leave for the airport",
)
SUMMARY = (
    "Ada prepares things early and likes numbers with their source. She settled the dates, what it may cost, and who is "
    "told; what stays open is whether Tom comes along."
)
DAY_OF_SPENDING = "(('x' || substr(md5(id::text), 1, 4))::bit(16)::integer % 29)"
MOVED = {
    "session": ("started_at", "ended_at", "registered_at", "last_accessed_at"),
    "message": ("created_at",),
    "turn": ("created_at", "answered_at", "done_at"),
}


async def fill(shared_relay: SharedRelay, chat: Chat, user: User) -> None:
    """Holds the conversations and moves each back to its day."""
    shared_relay.model.rule(None, SUMMARY)

    async def say(text: str, answer: Any = None) -> StoredMessage:
        if answer is not None:
            words = MARK.sub("", text)[:80]
            shared_relay.model.rule(lambda request: words in request.user_turn()[0], answer, times=1)
        reply = await shared_relay.tg.wait_reply(chat, await shared_relay.tg.say(chat, user, text))
        await shared_relay.until("select not exists (select from relay.turn where done_at is null)")  # all its parts
        return reply

    for words in MEMORIES:
        await say(f"/remember {words}")
    for words in PREFERENCES:
        await say(f"/preferences {words}")
    for words in REMINDERS:
        await say(f"/remind {words}")
    for days, title, turns in sorted((*CONVERSATIONS, *_long_ones()), reverse=True):
        await say(f"/new {title}")
        for text, answer in turns:
            await say(text, answer)
        move_back(shared_relay, title, days)
    await say("/new")
    await say("What should I pack for Mia?", "Rain jackets, her swimming goggles, and the allergy card in Portuguese.")
    spread(shared_relay)


async def compress(api: httpx.AsyncClient) -> None:
    """Makes versions of the long conversations, a marker, and a composition of two sessions. Waits until they are
    ready."""
    (project,) = (await api.get("/memory/projects")).json()["projects"]
    at = f"/memory/projects/{project['projectId']}"
    sessions = {one["title"]: one["sessionId"] for one in (await api.get(f"{at}/sessions")).json()["sessions"]}
    for _, title, _, _ in LONG:
        await api.post(f"{at}/sessions/{sessions[title]}", json={})
        for settings in ({"compactionRatio": 10}, {"mode": "tiered", "tierPreset": "standard"}):
            made = await api.post(f"/memory/sessions/{sessions[title]}/versions", json=settings | {"method": "extract"})
            await _until(api, f"/memory/sessions/{sessions[title]}/versions/{made.json()['versionId']}")
    parts = [{"sessionId": sessions[title]} for title in ("Two weeks in Japan", "Azores in June")]
    made = await api.post(f"{at}/compositions", json={"name": "Holidays", "components": parts})
    await _until(api, f"/memory/compositions/{made.json()['compositionId']}")


async def _until(api: httpx.AsyncClient, path: str) -> None:
    """Waits until the version or composition is ready."""
    async with asyncio.timeout(30):
        while True:
            answer = await api.get(path)
            if answer.status_code == 200 and answer.json()["status"] == "ready":
                return
            assert answer.status_code in (200, 409), answer.text  # 409: a version is still being made
            await asyncio.sleep(0.2)


def _long_ones() -> list[tuple[int, str, Turns]]:
    chats = {chat.id: chat for chat in load() if chat.id in ("japan", "marathon")}
    made = []
    for days, title, name, session in LONG:
        texts = [turn.text for turn in chats[name].turns if turn.session == session][: 2 * EXCHANGES]
        for at, weight in MARKED.items():
            first, _, rest = texts[at].partition(". ")
            texts[at] = f"##keepit{weight}##{first}.##/keepit## {rest}"
        made.append((days, title, tuple(zip(texts[::2], texts[1::2], strict=False))))
    return made


def move_back(shared_relay: SharedRelay, title: str, days: int) -> None:
    """Moves a conversation and what was learned in it back by some days."""
    (session_id,) = shared_relay.sql("select id from relay.session where title = %s", title)[0]
    for table, columns in MOVED.items():
        changes = ", ".join(f"{column} = {column} - make_interval(days => {days})" for column in columns)
        column = "id" if table == "session" else "session_id"
        _quietly(shared_relay, f"update relay.{table} set {changes} where {column} = %s", session_id)  # noqa: S608 — our own names


def spread(shared_relay: SharedRelay) -> None:
    """Spreads the memories over days in their order, and the expenses over the last thirty days."""
    _quietly(shared_relay, f"update relay.spend set at = now() - {DAY_OF_SPENDING} * interval '1 day'")  # noqa: S608
    days = "4.3 * ((select max(number) from relay.memory) - number) * interval '1 day'"
    _quietly(shared_relay, f"update relay.memory set created_at = now() - {days}, updated_at = now() - {days}")  # noqa: S608


def _quietly(shared_relay: SharedRelay, query: str, *values: Any) -> None:
    """Runs a statement without triggers."""
    with shared_relay.database() as connection, connection.transaction():
        connection.execute("set local session_replication_role = replica")
        connection.execute(query.encode(), values or None)

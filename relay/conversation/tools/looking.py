"""The tools of a reminder that checks first: those of a turn's tools that change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from relay.conversation.tools.documents import READ_DOCUMENT, read_document
from relay.conversation.tools.memory import OPEN_MEMORY, SEARCH_MEMORY, open_memory, search_memory
from relay.conversation.tools.web import WEB
from relay.core.models import Incoming, ToolDefinition
from relay.core.ports import Embedder
from relay.memory.proactive.looking import LookTools
from relay.memory.rows.proactive.reminders import DueReminder
from relay.memory.store import Store


def look_tools(store: Store, embedder: Embedder | None, web: bool, one: DueReminder, tainted: bool) -> LookTools:
    """Returns the tools for a check. `web`: the installation allows web tools; with others' words in the prompt, they
    would need a tap, so there are none."""
    asker = Incoming(
        turn_id=0, fence=0, bot_id=0, chat_id=one.chat_id, topic_id=one.topic_id, space=one.space,
        user_id=one.user_id, name="", text=one.text, blocks=[], untrusted=False, telegram_message_ids=[],
        at=datetime.now(UTC),
    )  # fmt: skip

    def definitions(dirty: bool) -> Sequence[ToolDefinition]:
        return [SEARCH_MEMORY, OPEN_MEMORY, READ_DOCUMENT, *(WEB if web and not (tainted or dirty) else [])]

    return LookTools(
        definitions,
        {
            "search_memory": search_memory(store, asker, one.tzinfo, embedder),
            "open_memory": open_memory(store, asker, one.tzinfo),
            "read_document": read_document(store, one.space, None),
        },
    )

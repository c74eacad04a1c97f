"""One method per SQL function: the only caller of the database."""

from __future__ import annotations

from relay.memory.calls.delivery import DeliveryCalls
from relay.memory.calls.edit import EditCalls
from relay.memory.calls.facts import FactCalls
from relay.memory.calls.queue import QueueCalls
from relay.memory.calls.search import SearchCalls
from relay.memory.calls.session import SessionCalls
from relay.memory.calls.soul import SoulCalls
from relay.memory.calls.summary import SummaryCalls
from relay.memory.calls.turn import TurnCalls


class Store(
    QueueCalls, TurnCalls, DeliveryCalls, FactCalls, SearchCalls, SoulCalls, SessionCalls, SummaryCalls, EditCalls
):
    """Relay's state. `worker` names this process: what it holds, it alone may write."""

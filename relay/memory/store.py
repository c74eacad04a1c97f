"""One method per SQL function: the only caller of the database."""

from __future__ import annotations

from relay.memory.calls.contexts.versions import VersionCalls
from relay.memory.calls.delivery import DeliveryCalls
from relay.memory.calls.memory.erasure import ErasureCalls
from relay.memory.calls.memory.facts import FactCalls
from relay.memory.calls.memory.preferences import PreferenceCalls
from relay.memory.calls.memory.review import ReviewCalls
from relay.memory.calls.memory.search import SearchCalls
from relay.memory.calls.night import NightCalls
from relay.memory.calls.operations import OperationCalls
from relay.memory.calls.people import ApiCalls, PeopleCalls
from relay.memory.calls.queue import QueueCalls
from relay.memory.calls.reminders import ReminderCalls
from relay.memory.calls.sessions import SessionCalls
from relay.memory.calls.soul import SoulCalls
from relay.memory.calls.turn import TurnCalls
from relay.memory.calls.usage import UsageCalls


class Store(
    QueueCalls,
    TurnCalls,
    ApiCalls,
    DeliveryCalls,
    ErasureCalls,
    FactCalls,
    NightCalls,
    OperationCalls,
    PeopleCalls,
    PreferenceCalls,
    ReminderCalls,
    ReviewCalls,
    SearchCalls,
    SessionCalls,
    SoulCalls,
    UsageCalls,
    VersionCalls,
):
    """Relay's state. `worker` names this process: only it may write what it holds."""

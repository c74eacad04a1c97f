"""One method per SQL function: the only caller of the database."""

from __future__ import annotations

from relay.memory.calls.delivery import DeliveryCalls, OutboxCalls
from relay.memory.calls.jobs import JobCalls
from relay.memory.calls.memory.controls import ControlCalls
from relay.memory.calls.memory.erasure import EraseCalls, ExportCalls
from relay.memory.calls.memory.facts import FactCalls
from relay.memory.calls.memory.preferences import AttributionCalls, PreferenceCalls
from relay.memory.calls.memory.review import JudgeCalls, RederiveCalls
from relay.memory.calls.memory.search import DocumentCalls, EmbeddingCalls, SearchCalls
from relay.memory.calls.night import NightCalls
from relay.memory.calls.operations import DutyCalls, ExamineCalls, StatusCalls, WatchCalls
from relay.memory.calls.people import ChoiceCalls, PeopleCalls, PlaceCalls
from relay.memory.calls.queue import QueueCalls
from relay.memory.calls.sessions import ResultCalls, SessionCalls, SummaryCalls, TopicCalls
from relay.memory.calls.soul import PersonaCalls, SoulCalls
from relay.memory.calls.turn import EditCalls, TurnCalls
from relay.memory.calls.usage import SpendCalls, WhyCalls


class Store(
    QueueCalls,
    TurnCalls,
    AttributionCalls,
    DeliveryCalls,
    ChoiceCalls,
    ControlCalls,
    DocumentCalls,
    DutyCalls,
    EditCalls,
    EmbeddingCalls,
    EraseCalls,
    ExamineCalls,
    ExportCalls,
    FactCalls,
    JobCalls,
    JudgeCalls,
    NightCalls,
    OutboxCalls,
    PeopleCalls,
    PersonaCalls,
    PlaceCalls,
    PreferenceCalls,
    RederiveCalls,
    ResultCalls,
    SearchCalls,
    SessionCalls,
    SoulCalls,
    SpendCalls,
    StatusCalls,
    SummaryCalls,
    TopicCalls,
    WatchCalls,
    WhyCalls,
):
    """Relay's state. `worker` names this process: what it holds, it alone may write."""

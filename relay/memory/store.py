"""One method per SQL function: the only caller of the database."""

from __future__ import annotations

from relay.memory.calls.api import ApiCalls
from relay.memory.calls.contexts.composition import CompositionCalls
from relay.memory.calls.contexts.library import LibraryCalls
from relay.memory.calls.contexts.markers import MarkerCalls
from relay.memory.calls.contexts.projects import ProjectCalls
from relay.memory.calls.contexts.pruning import PruningCalls
from relay.memory.calls.contexts.versions import VersionCalls
from relay.memory.calls.delivery import DeliveryCalls, OutboxCalls
from relay.memory.calls.feed import FeedCalls
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
from relay.memory.calls.proactive import ProactiveCalls
from relay.memory.calls.queue import QueueCalls
from relay.memory.calls.reminders import ReminderCalls
from relay.memory.calls.sessions import ResultCalls, SessionCalls, SummaryCalls, TopicCalls
from relay.memory.calls.soul import GrowthCalls, PersonaCalls, SoulCalls
from relay.memory.calls.turn import EditCalls, TurnCalls
from relay.memory.calls.usage import SpendCalls, WhyCalls


class Store(
    QueueCalls,
    TurnCalls,
    ApiCalls,
    AttributionCalls,
    DeliveryCalls,
    ChoiceCalls,
    CompositionCalls,
    ControlCalls,
    DocumentCalls,
    DutyCalls,
    EditCalls,
    EmbeddingCalls,
    EraseCalls,
    ExamineCalls,
    ExportCalls,
    FactCalls,
    FeedCalls,
    GrowthCalls,
    JobCalls,
    JudgeCalls,
    LibraryCalls,
    MarkerCalls,
    NightCalls,
    OutboxCalls,
    PeopleCalls,
    PersonaCalls,
    PlaceCalls,
    PreferenceCalls,
    ProactiveCalls,
    ProjectCalls,
    PruningCalls,
    RederiveCalls,
    ReminderCalls,
    ResultCalls,
    SearchCalls,
    SessionCalls,
    SoulCalls,
    SpendCalls,
    StatusCalls,
    SummaryCalls,
    TopicCalls,
    VersionCalls,
    WatchCalls,
    WhyCalls,
):
    """Relay's state. `worker` names this process: only it may write what it holds."""

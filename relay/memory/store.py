"""One method per SQL function: the only caller of the database."""

from __future__ import annotations

from relay.memory.calls.choice import ChoiceCalls
from relay.memory.calls.controls import ControlCalls
from relay.memory.calls.delivery import DeliveryCalls
from relay.memory.calls.document import DocumentCalls
from relay.memory.calls.duty import DutyCalls
from relay.memory.calls.edit import EditCalls
from relay.memory.calls.embedding import EmbeddingCalls
from relay.memory.calls.erase import EraseCalls
from relay.memory.calls.examine import ExamineCalls
from relay.memory.calls.export import ExportCalls
from relay.memory.calls.facts import FactCalls
from relay.memory.calls.judge import JudgeCalls
from relay.memory.calls.night import NightCalls
from relay.memory.calls.people import PeopleCalls
from relay.memory.calls.persona import PersonaCalls
from relay.memory.calls.place import PlaceCalls
from relay.memory.calls.queue import QueueCalls
from relay.memory.calls.rederive import RederiveCalls
from relay.memory.calls.result import ResultCalls
from relay.memory.calls.search import SearchCalls
from relay.memory.calls.session import SessionCalls
from relay.memory.calls.soul import SoulCalls
from relay.memory.calls.spend import SpendCalls
from relay.memory.calls.status import StatusCalls
from relay.memory.calls.summary import SummaryCalls
from relay.memory.calls.topic import TopicCalls
from relay.memory.calls.turn import TurnCalls
from relay.memory.calls.watch import WatchCalls
from relay.memory.calls.why import WhyCalls


class Store(
    QueueCalls,
    TurnCalls,
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
    JudgeCalls,
    NightCalls,
    PeopleCalls,
    PersonaCalls,
    PlaceCalls,
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

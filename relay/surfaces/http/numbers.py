"""The metrics page: counters, and the present state of this process."""

from __future__ import annotations

import platform
from collections.abc import Iterator

from prometheus_client import ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector, CollectorRegistry

from relay.core import metrics
from relay.core.frozen import frozen
from relay.memory.claims import Queue
from relay.surfaces.http.health import Process


@frozen
class Numbers(Collector):
    """A snapshot of the state. `queue`: None if the database does not answer."""

    process: Process
    queue: Queue | None
    version: str

    def collect(self) -> Iterator[Metric]:
        yield gauge(
            "relay_build_info", "The running version.", 1, version=self.version, python=platform.python_version()
        )
        yield gauge("relay_turns_running", "Turns in progress in this process.", self.process.running())
        yield gauge("relay_turns_free", "How many more turns this process may run.", self.process.free())
        yield gauge("relay_database_up", "Whether the database answers.", int(self.queue is not None))
        yield gauge("relay_telegram_silence_seconds", "Seconds since Telegram last answered.", self.process.silence())
        if self.queue is not None:
            yield gauge("relay_queue_updates", "Updates waiting for their turn.", self.queue.waiting)
            yield gauge("relay_queue_turns", "Turns in progress or abandoned, in all processes.", self.queue.turns)
            yield gauge("relay_queue_oldest_seconds", "How long the oldest has been ready to run.", self.queue.oldest)
        yield from metrics.REGISTRY.collect()


def render_metrics(numbers: Numbers, accept: str) -> tuple[bytes, str]:
    """Returns the metrics in the newest format that the client accepts, and its content type."""
    registry = CollectorRegistry()
    registry.register(numbers)
    ProcessCollector(registry=registry)
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


def gauge(name: str, about: str, value: float, **labels: str) -> GaugeMetricFamily:
    """Makes a gauge."""
    family = GaugeMetricFamily(name, about, labels=list(labels))
    family.add_metric(list(labels.values()), value)
    return family

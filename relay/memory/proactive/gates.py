"""The conditions for a model call that nobody asked for. Pure."""

from __future__ import annotations

from datetime import timedelta, tzinfo

from relay.core.frozen import frozen
from relay.core.prices import Prices, format_dollars
from relay.memory.rows.proactive.heartbeat import GateState

ACTIVE_HOURS = (8, 21)
"""The first active hour, and the hour after the last."""


@frozen
class Limits:
    """The settings of the gates."""

    idle_days: int
    """After how many days of silence a person is left alone."""
    budget: float
    """The daily limit in dollars for each person's heartbeats, checks and proposals for the soul; 0: no calls."""
    prices: Prices


def explain_closed(state: GateState, limits: Limits, zone: tzinfo, hours: tuple[int, int] = ACTIVE_HOURS) -> str:
    """Returns why no model may be asked for a person now; empty if one may."""
    if state.quiet_until is not None:
        return "quiet is on"
    if not hours[0] <= state.now.astimezone(zone).hour < hours[1]:
        return f"outside {hours[0]}:00–{hours[1]}:00"
    if state.said_at is None or state.now - state.said_at > timedelta(days=limits.idle_days):
        return f"you haven't written for {limits.idle_days} days"
    if state.answering:
        return "I was writing an answer"
    spent = sum(limits.prices.cost_of(row) or 0.0 for row in state.spent)
    if spent >= limits.budget:
        return f"today's budget of {format_dollars(limits.budget)} for this is used up"
    return ""

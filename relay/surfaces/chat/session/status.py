"""Renders /status."""

from __future__ import annotations

from datetime import tzinfo

from relay.commands.session.status import StatusReport
from relay.commands.session.status import status as status_command
from relay.commands.session.usage import sum_up
from relay.core.text import escape_markdown, pluralize
from relay.memory.night.words import describe_night
from relay.memory.rows.controls import Controls
from relay.memory.rows.status import VersionCounts
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import shows
from relay.surfaces.chat.reply import CommandReply
from relay.surfaces.chat.session.usage import price
from relay.surfaces.chat.times import moment


@shows("status")
async def status(call: ChatContext) -> CommandReply:
    """Shows numbers about this space and the installation."""
    report = await status_command(call)
    now, today = report.now, report.now.today
    cached = f", {100 * today.cached / today.asked:.0f}% from the cache" if today.asked else ""
    found = f"words and meaning ({escape_markdown(report.embedder)})" if report.embedder else "words"
    models = f"on {escape_markdown(report.model)} (summaries: {escape_markdown(report.small_model)})"
    lines = [
        f"**Relay {report.version}** {models if report.model else 'offline: a stand-in answers instead of a model'}",
        f"- {pluralize(now.memories, 'memory', 'memories')}, {now.pending:,} waiting for a tap; "
        f"soul version {now.soul}",
        *_memory_lines(report.memory, call.zone),
        f"- {pluralize(now.threads, 'conversation')}, {pluralize(now.exchanges, 'answer')}",
        *_version_lines(now.versions),
        f"- last 24 hours: {pluralize(today.turns, 'turn')}, {pluralize(today.asked, 'token')} in{cached}, "
        f"{today.output:,} out, "
        f"{price(sum_up(now.used, call.services.budget.prices))} with summaries and titles",
        f"- voice: {voice_engines(report.hears, report.speaks)}",
        f"- search by {found}",
    ]
    if report.operator:
        lines += _operator_lines(call, report)
    return CommandReply("\n".join(lines), result=report)


def _version_lines(versions: VersionCounts) -> list[str]:
    """Counts compressed versions, and those made last night; empty if there are none."""
    if not versions.ready and not versions.by_night:
        return []
    night = f", {versions.by_night:,} made last night" if versions.by_night else ""
    return [f"- {pluralize(versions.ready, 'compressed version')} of sessions{night}"]


def _memory_lines(memory: Controls, zone: tzinfo) -> list[str]:
    """Lists what is unusual about memory; empty if it is simply on."""
    lines = []
    if memory.memory == "off":
        lines.append("- ⛔ memory is off (/memory on)")
    elif memory.paused_until:
        lines.append(f"- 💤 memory is paused until {moment(memory.paused_until, zone)} (/memory resume)")
    if not memory.recalls:
        lines.append("- in this chat I don't use what I know (/memory here)")
    if not memory.teaches:
        lines.append("- I don't learn from this chat (/memory here)")
    if memory.private:
        lines.append("- 🕶 this conversation is off the record (/private off)")
    return lines


def _operator_lines(call: ChatContext, report: StatusReport) -> list[str]:
    """Lists what only admins see."""
    now = report.now
    lines = [
        f"- queue: {now.waiting} waiting, {now.running} running, {now.set_aside} set aside today, "
        f"{pluralize(now.summaries_due, 'summary', 'summaries')} due",
        f"- reactions in 30 days: 👍 {now.liked}, 👎 {now.disliked}",
        f"- storage: {escape_markdown(report.storage)}",
    ]
    if night := now.night:
        when = moment(night.begun_at, call.zone) + ("" if night.ended_at else " (still running)")
        lines.append(f"- last night: {when}; {escape_markdown(describe_night(night.phases) or 'nothing done yet')}")
    lines += [
        f"- ⚠️ gave up: {pluralize(one.jobs, one.kind + ' job')} in 7 days ({escape_markdown(one.last_error)})"
        for one in now.parked
    ]
    lines += [
        f"- ⚠️ since {moment(incident.begun_at, call.zone)}: {escape_markdown(incident.detail)}"
        for incident in now.incidents
    ]
    return lines


def voice_engines(hears: str, speaks: str) -> str:
    """Names the engines for speech to text and text to speech (Markdown)."""
    heard = f"speech to text by {escape_markdown(hears)}" if hears else "speech to text is off"
    spoken = f"text to speech by {escape_markdown(speaks)}" if speaks else "text to speech is off"
    return f"{heard}; {spoken}"

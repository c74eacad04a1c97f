"""Marked passages below a running summary, word for word. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relay.core.frozen import frozen
from relay.core.limits import MARKED_TOKENS, SUMMARY_TOKENS
from relay.core.prompt_markup import cut_to_tokens, estimate_tokens
from relay.memory.rows.upkeep.writing import EarlierSummary, MarkedPassage

HEADING = "\n\nWord for word:\n"


@frozen
class Passages:
    """The passages below a summary."""

    kept: tuple[MarkedPassage, ...] = ()
    left_out: int = 0
    """How many more had no room."""

    @property
    def tainted(self) -> bool:
        """Tells whether a passage is from a message that has others' words, or answers them."""
        return any(one.tainted for one in self.kept)

    @property
    def settings(self) -> dict[str, int]:
        """Returns what is stored about them with the summary; empty if there are none."""
        return {"kept": len(self.kept), "left_out": self.left_out} if self.kept or self.left_out else {}

    @property
    def text(self) -> str:
        """Returns the passages under their heading; empty if there are none."""
        return HEADING + "\n".join(f"- {one.content}" for one in self.kept) if self.kept else ""

    def below(self, summary: str) -> str:
        """Returns a summary with the passages below it, within SUMMARY_TOKENS together."""
        if not self.kept:
            return summary
        mark = estimate_tokens(" […]")
        return cut_to_tokens(summary, SUMMARY_TOKENS - estimate_tokens(self.text) - mark - 1) + self.text


def choose_passages(markers: Sequence[MarkedPassage]) -> Passages:
    """Chooses the passages that fit into MARKED_TOKENS, whole. `markers`: the most important first."""
    kept: tuple[MarkedPassage, ...] = ()
    for one in markers:
        more = (*kept, one)
        if estimate_tokens(Passages(more).text) <= MARKED_TOKENS:
            kept = more
    return Passages(kept, len(markers) - len(kept))


def remove_passages(summary: EarlierSummary | None) -> EarlierSummary | None:
    """Returns a summary as the model or a person wrote it, without passages, as the basis of the next one."""
    if summary is None:
        return None
    return replace(summary, text=summary.text.rpartition(HEADING)[0] or summary.text)

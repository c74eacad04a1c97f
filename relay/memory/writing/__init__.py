"""Texts that models write: summaries, titles, proposals, versions."""

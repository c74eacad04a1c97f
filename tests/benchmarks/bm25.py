"""Plain BM25, for comparison with recall. It drops common words and reduces the others to rough stems."""

from __future__ import annotations

import math
import re
from collections import Counter

SATURATION, NORMALISING = 1.2, 0.75
COMMON = {
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "auch", "auf", "be", "been", "but",
    "by", "can", "could", "das", "dem", "den", "der", "des", "did", "die", "do", "does", "du", "ein", "eine", "es",
    "for", "from", "für", "had", "has", "have", "how", "i", "ich", "if", "im", "in", "into", "is", "ist", "it",
    "its", "just", "like", "man", "me", "mich", "mir", "mit", "more", "my", "nicht", "not", "of", "on", "or", "our",
    "out", "over", "sich", "so", "that", "the", "their", "them", "then", "there", "they", "this", "to", "und", "up",
    "von", "was", "we", "were", "what", "when", "where", "which", "who", "why", "wie", "will", "wir", "with",
    "would", "you", "your", "zu",
}  # fmt: skip


class BM25:
    """An index of texts."""

    def __init__(self, texts: list[str]) -> None:
        self.counts = [Counter(words(text)) for text in texts]
        self.lengths = [counts.total() for counts in self.counts]
        self.mean = sum(self.lengths) / len(texts)
        self.texts = Counter(word for counts in self.counts for word in counts)

    def rank(self, question: str, limit: int) -> list[int]:
        """Returns the indexes of the best texts, best first, among those with any word of the question."""
        scores = [self.score(set(words(question)), place) for place in range(len(self.counts))]
        found = [place for place, score in enumerate(scores) if score > 0]
        return sorted(found, key=lambda place: -scores[place])[:limit]

    def score(self, asked: set[str], place: int) -> float:
        """Returns a text's score."""
        counts, number = self.counts[place], len(self.counts)
        length = 1 - NORMALISING + NORMALISING * self.lengths[place] / self.mean
        return sum(
            math.log(1 + (number - self.texts[word] + 0.5) / (self.texts[word] + 0.5))
            * counts[word] * (SATURATION + 1) / (counts[word] + SATURATION * length)
            for word in asked if counts[word]
        )  # fmt: skip


def words(text: str) -> list[str]:
    """Returns the stems of a text, without common words."""
    found = (word for word in re.findall(r"\w+", text.lower()) if word not in COMMON)
    return [re.sub(r"(ing|ed|es|s|en|er|e)$", "", word) if len(word) > 4 else word for word in found]

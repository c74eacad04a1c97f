"""Composes what an assistant would answer: long, full of advice in general and of the question's words."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

from tests.benchmarks.conversations.source import Said, Topic

PHRASES = Path(__file__).with_name("phrases")
SHORTEST, LONGEST = 2000, 6000
"""Characters of an answer."""
FOCUS = 4
"""Words of a question that its answer dwells on, at most."""
DWELLS = 0.6
"""How often one of them stands where a term of the topic could."""
SECONDS = {"i'm": "you're", "i've": "you've", "i'll": "you'll", "i'd": "you'd", "i": "you", "me": "you", "my": "your",
           "mine": "yours", "myself": "yourself", "am": "are", "we": "you", "our": "your", "us": "you", "was": "were",
           "we're": "you're", "we've": "you've"}  # fmt: skip


def phrases(language: str) -> dict[str, list[str]]:
    """The phrases of a language by what they are for."""
    parts = re.split(r"^== ", (PHRASES / f"{language}.txt").read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {part.split("\n", 1)[0]: part.split("\n")[1:-1] for part in parts}


class Assistant:
    """Answers in a conversation. The same random numbers make the same answers."""

    def __init__(self, language: str, topics: dict[str, Topic], random: Random) -> None:
        self.language = language
        self.topics = topics
        self.random = random
        self.phrases = phrases(language)
        self.common = frozenset(" ".join(self.phrases["common"]).split())
        self.heard: list[str] = []
        self.known: dict[str, list[str]] = {name: [] for name in topics}

    def follow_up(self, topic: Topic) -> str:
        """What the person might ask next: one to three questions."""
        keys = self.keywords(" ".join(self.random.sample(self.heard, min(2, len(self.heard)))))
        asked = self.random.sample(self.phrases["follow"], self.random.randint(1, 3))
        return " ".join(self.filled(phrase, topic, keys, "") for phrase in asked)

    def answer(self, said: Said) -> str:
        """An answer, with the sentences that the script wants in it at some place."""
        topic, echo = self.topics[said.topic], self.echo(said.text or said.composed)
        keys = self.keywords(said.text) or topic.terms
        keys = self.random.sample(keys, min(FOCUS, len(keys)))
        size = int(SHORTEST + (LONGEST - SHORTEST) * self.random.random() ** 2)
        parts = [self.phrase("opening", topic, keys, echo)]
        while sum(map(len, parts)) < size - 300:
            parts.append(self.section(topic, keys, echo))
        if len(self.known[topic.name]) > 2 and self.random.random() < 0.6:
            parts.insert(self.random.randint(1, len(parts)), self.recap(topic))
        for _, sentence in said.answered:
            parts.insert(self.random.randint(1, len(parts)), sentence)
        if topic.samples and self.random.random() < 0.6:
            parts.insert(self.random.randint(1, len(parts)), self.random.choice(topic.samples))
        if self.heard and self.random.random() < 0.2:
            parts.append(self.phrase("earlier", topic, keys, self.echo(self.random.choice(self.heard))))
        parts.append(self.phrase("closing", topic, keys, echo))
        if said.text:
            self.heard.append(said.text)
            self.known[topic.name].append(said.text)
        return "\n\n".join(parts)

    def recap(self, topic: Topic) -> str:
        """What the person said about a topic before, told back to them."""
        known = self.known[topic.name]
        told = self.random.sample(known, min(len(known), self.random.randint(2, 5)))
        return "\n".join([f"### {self.phrase('recap', topic, [], '')}", *(f"- {self.echo(text)}." for text in told)])

    def section(self, topic: Topic, keys: list[str], echo: str) -> str:
        """A heading, advice in a list, and sometimes a paragraph."""
        lines = [f"### {self.phrase('heading', topic, keys, echo)}"]
        own = self.random.sample(topic.sentences, min(len(topic.sentences), self.random.randint(1, 3)))
        items = own + [self.phrase("item", topic, keys, echo) for _ in range(self.random.randint(1, 4))]
        self.random.shuffle(items)
        marks = (f"{number}." for number in range(1, 10)) if self.random.random() < 0.5 else iter("-" * 9)
        lines += [f"{mark} {item}" for mark, item in zip(marks, items, strict=False)]
        if self.random.random() < 0.5:
            lines.insert(self.random.choice((1, len(lines))), self.phrase("paragraph", topic, keys, echo))
        if self.random.random() < 0.1:
            lines += ["", self.phrases["table"][0], "|---|---|---|"]
            lines += [f"| {n} | {self.random.choice(topic.terms)} | {self.random.choice((15, 30, 45, 60, 90))} min |"
                      for n in range(1, 4)]  # fmt: skip
        return "\n".join(lines)

    def phrase(self, what: str, topic: Topic, keys: list[str], echo: str) -> str:
        """One phrase of a sort, filled."""
        return self.filled(self.random.choice(self.phrases[what]), topic, keys, echo)

    def filled(self, phrase: str, topic: Topic, keys: list[str], echo: str) -> str:
        """A phrase with two terms of the topic, a word of the question, and what the person said."""
        first, second = self.random.sample(topic.terms, 2)
        key, other = self.random.choices(keys or topic.terms, k=2)
        chance = self.random.random()
        if chance < 0.2:
            second = self.random.choice(self.random.choice(list(self.topics.values())).terms)
        elif chance < 0.2 + DWELLS:
            second = other
        words = {"t": first, "u": second, "k": key, "j": other, "echo": echo}
        words |= {name.capitalize(): word[:1].upper() + word[1:] for name, word in words.items()}
        return phrase.format(**words)

    def echo(self, text: str) -> str:
        """A sentence of the person's, told back to them."""
        sentences = [s for s in re.split(r"(?<=[.!?])\s+", text) if not s.endswith("?")] or [text]
        sentence = self.random.choice(sentences).rstrip(".!?")
        return sentence if self.language == "de" else addressed(sentence)

    def keywords(self, text: str) -> list[str]:
        """The words of a message that an answer would take up: nouns, as far as their form shows it."""
        words = re.findall(r"(?<![\w'’])[A-Za-zÄÖÜäöüß][\wäöüß-]{3,}", text)
        noun = str.istitle if self.language == "de" else re.compile(r".*(?<!ing)(?<!ed)(?<!ly)(?<!ould)$").match
        return list(dict.fromkeys(word for word in words if noun(word) and word.lower() not in self.common))


def addressed(sentence: str) -> str:
    """A sentence about me as one about you."""
    words = re.sub(r"[A-Za-z']+", lambda word: SECONDS.get(word[0].lower(), word[0]), sentence.replace("’", "'"))
    return words if words[:2].isupper() or words[:1] not in "TISBAWO" else words[:1].lower() + words[1:]

"""Converts LaTeX brackets to the dollar signs that the Markdown parser knows. Pure."""

from __future__ import annotations

import re

import pyromark
from telegramify_markdown.converter import STANDARD_OPTIONS

from relay.surfaces.telegram.formatting.tables import name_of, payload_of

_LATEX_BRACKET = re.compile(rb"\\\\|\\[\[\]()]|\n\s*\n")


def dollar_formulas(source: str) -> str:
    r"""Converts formulas in \(…\) and \[…\] outside of code to $…$ and $$…$$."""
    data = source.encode()
    written: list[bytes] = []
    copied, opened = 0, None
    code = iter(code_ranges(source))
    begin, end = next(code, (len(data), 0))
    for token in _LATEX_BRACKET.finditer(data):
        while end and end <= token.start():
            begin, end = next(code, (len(data), 0))
        if token.start() >= begin or token[0] == rb"\\":
            continue
        if token[0] in (rb"\(", rb"\["):
            opened = token
            continue
        if opened and token[0] == {rb"\(": rb"\)", rb"\[": rb"\]"}[opened[0]]:
            formula = data[opened.end() : token.start()].strip()
            if formula and b"$" not in formula and b"`" not in formula:
                sign = b"$" if token[0] == rb"\)" else b"$$"
                written += [data[copied : opened.start()], sign, formula, sign]
                copied = token.end()
        opened = None
    return b"".join([*written, data[copied:]]).decode()


def code_ranges(source: str, *, math: bool = True) -> list[tuple[int, int]]:
    """Finds the UTF-8 byte ranges of code blocks and spans. `math`: whether formulas may contain their marks."""
    options = STANDARD_OPTIONS if math else STANDARD_OPTIONS & ~pyromark.Options.ENABLE_MATH
    found = []
    for payload, where in pyromark.events_with_range(source, options=options):
        key, value = payload_of(payload)
        if key == "Code" or (key == "Start" and name_of(value) == "CodeBlock"):
            found.append((where["start"], where["end"]))
    return found

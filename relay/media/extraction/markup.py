"""Converts HTML to Markdown, keeping headings, lists, tables, code and equations."""

from __future__ import annotations

import re
from html import escape, unescape
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import html_to_markdown

OPTIONS = html_to_markdown.ConversionOptions(
    bullets="-",
    compact_tables=True,
    extract_metadata=False,
    skip_images=True,
    strip_tags=["a"],  # an address is often longer than its link text
)
TITLE = re.compile(r"<title[^>]{0,100}>([^<]{1,500})", re.IGNORECASE)
RAISED = re.compile(r"<sup[^>]{0,100}>\s{0,9}([-+−]?\d{1,9})\s{0,9}</sup>", re.IGNORECASE)
RAISED_DIGITS = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")


def to_markdown(html: str) -> str:
    """Returns a page, or part of one, as Markdown under its title. Leaves out scripts, styles and hidden elements."""
    titled = TITLE.search(html)
    title = " ".join(unescape(titled[1]).split()) if titled else ""
    html = RAISED.sub(lambda found: raise_digits(found[1]), _with_equations(html.replace("\0", "")))
    page = html_to_markdown.convert(html, OPTIONS)
    return "\n\n".join(part for part in (title, (page.content or "").strip()) if part)


def raise_digits(text: str) -> str:
    """Returns a number as a power or the number of a footnote, such as ² in `10²`; other text unchanged."""
    return text.translate(RAISED_DIGITS) if text.lstrip("+-−").isdecimal() else text


def _with_equations(html: str) -> str:
    """Returns a page whose equations are text. Those that aren't well-formed are not changed."""
    first, *others = html.split("<math")
    made = [first]
    for other in others:
        inside, end, after = other.partition("</math>")
        try:
            line = equation(ElementTree.fromstring(f"<math{inside}{end}"))  # noqa: S314 — it can declare nothing
            made.append(escape(line) + after)
        except (ElementTree.ParseError, RecursionError):
            made.append(f"<math{other}")
    return "".join(made)


def equation(one: Element) -> str:
    """Returns an equation in MathML on one line, such as `x=(-b±√(b^2-4ac))/(2a)`."""
    kind = one.tag.rpartition("}")[2]
    parts = [] if kind.startswith("annotation") else [equation(part) for part in one]
    match kind, parts:
        case "mfrac", [above, below]:
            return f"{group(above)}{'¦' if one.get('linethickness') == '0' else '/'}{group(below)}"
        case "mover", [base, above] if len(above) == 1 and not above.isalnum():
            return base + above
        case "mover", [base, above]:
            return f"{base}^{group(above)}"
        case "munder", [base, below]:
            return f"{base}_{group(below)}"
        case "munderover", [base, below, above]:
            return f"{base}_{group(below)}^{group(above)}"
        case "msup", [base, above]:
            return f"{group(base)}^{group(above)}"
        case "msub", [base, below]:
            return f"{group(base)}_{group(below)}"
        case "msubsup", [base, below, above]:
            return f"{group(base)}_{group(below)}^{group(above)}"
        case "msqrt", _:
            return f"√({''.join(parts)})"
        case "mroot", [base, degree]:
            return f"{group(base)}^(1/{degree})"
        case "mfenced", _:
            return f"{one.get('open', '(')}{one.get('separators', ',').join(parts)}{one.get('close', ')')}"
        case "mtable", _:
            return f"[{'; '.join(parts)}]"
        case "mtr", _:
            return ", ".join(parts)
        case "mi" | "mn" | "mo", _:
            return (one.text or "").strip()
        case "mtext" | "ms", _:
            return f" {' '.join((one.text or '').split())} "
    pairs = zip(["", *parts], parts, strict=False)
    return " ".join(
        "".join(
            f" {part}" if len(last) > 1 and last.isalpha() and part[:1].isalnum() else part for last, part in pairs
        ).split()
    )


def group(text: str) -> str:
    """Returns a part of an equation in brackets if it needs them."""
    return text if len(text) == 1 or text.isdecimal() else f"({text})"

"""Hides from the Markdown parser what it would misread: marks in web addresses and numbers, the dollar signs of
amounts, and the punctuation that keeps words without spaces from being bold. Pure."""

from __future__ import annotations

import re

from relay.surfaces.telegram.formatting.formulas import code_ranges

_WIDE, _NARROW = "“”‘’「」『』《》【】（）。，、！？：；", '":%'
_MARKS = f"*_~|$){_WIDE}{_NARROW}"
# Removed from every source before; to the parser, they are ordinary letters. U+0085 is a line break.
_HIDDEN = "\x80\x81\x82\x83\x84" + "".join(map(chr, range(0x86, 0x86 + len(_MARKS) - 5)))
_HIDE, _REVEAL = str.maketrans(_MARKS, _HIDDEN), str.maketrans(_HIDDEN, _MARKS)
_MARK = re.compile(r"(?<!\\)[*_~$]")

# As GFM delimits them. But they end before a bracket that they didn't open, a table's border, and marks followed by
# text that no address has ("**https://e.org/**。", "**https://e.org/**'s").
_ADDRESS = re.compile(
    r"""(?i:https?)://(?=\w)(?:
        [^\s<>"`|()\[\]*_~]++ | [*_~]++(?!['\x80-\U0010ffff]) | \([^\s<>"`|()\[\]]*+\) | \[[^\s<>"`|()\[\]]*+\]
    )*+""",
    re.VERBOSE,
)
_PRODUCT = re.compile(r"(?<![\w*.,])[0-9][0-9.,]*+(?:\*{1,2}[0-9][0-9.,]*+)++(?![\w*])")
_FOOTNOTE = re.compile(r"^(?:[ >]|[-*+] |\d{1,9}[.)] )*+\[\^[^\]\n]++\]:", re.MULTILINE)
# Not the bracket that ends a link's address.
_BESIDE_BOLD = re.compile(
    rf"(?<=\w\*\*)[{_WIDE}] | [{_WIDE}](?=\*\*\w)"
    rf"| (?:[{_NARROW}]|(?<![\]\\])\([^()\n\\]*+\))(?=\*\*[^\W\x00-\x7f])",
    re.VERBOSE,
)
_BEHIND = "?!.,:;*_~$'"  # doesn't belong to an address that it ends
_ADDRESS_WITH_BARS = re.compile(r"(?i:https?)://(?=\w)[^\s<|]++(?:\|\|[A-Za-z0-9][^\s<|]*+\|\|[^\s<|]*+)*+")

_SIGNS = re.compile(r"\\[\\${}]|\$+|[{}]|\n\s*\n")
_TEX = re.compile(r"[\\^_{}]")
_WORD = re.compile(r"(?<![^\W_])[^\W\d_]{2,}")


def reveal(text: str) -> str:
    """Returns a text with its hidden marks, at the same places."""
    return text.translate(_REVEAL)


def hide_addresses(source: str) -> str:
    """Hides the marks in bare web addresses."""
    return _ADDRESS.sub(_hide_inside, source)


def hide_unmeant(source: str) -> str:
    """Hides the stars of products (2*3*4), the colons of footnotes (the parser takes “[^1]: word” for a link's
    address and drops it), and punctuation inside ** next to a letter: in Chinese and Japanese, CommonMark would show
    the stars (https://github.com/commonmark/commonmark-spec/issues/650)."""
    source = _PRODUCT.sub(lambda stars: stars[0].translate(_HIDE), source)
    for pattern in (_FOOTNOTE, _BESIDE_BOLD):
        source = pattern.sub(lambda found: found[0][:-1] + found[0][-1].translate(_HIDE), source)
    return source


def hide_bars(text: str) -> str:
    """Hides pairs of || in bare web addresses, in a text without tables."""
    return _ADDRESS_WITH_BARS.sub(lambda address: address[0].replace("|", "|".translate(_HIDE)), text)


def _hide_inside(address: re.Match[str]) -> str:
    inside = address[0].rstrip(_BEHIND)
    return _MARK.sub(lambda mark: mark[0].translate(_HIDE), inside) + address[0][len(inside) :]


def hide_dollars(source: str) -> str:
    """Hides the dollar signs that don't delimit a formula. No formula contains code."""
    data = source.encode()
    written: list[str] = []
    copied = 0
    for begin, end in code_ranges(source, math=False):
        code = data[begin:end].decode().replace("$", "$".translate(_HIDE))
        written += [_hide_amounts(data[copied:begin].decode()), code]
        copied = end
    return "".join([*written, _hide_amounts(data[copied:].decode())])


def _hide_amounts(text: str) -> str:
    """Hides the dollar signs that don't delimit a formula in a text without code."""
    kept: set[int] = set()
    block: re.Match[str] | None = None
    opened: dict[int, re.Match[str]] = {}  # by the depth of braces, since \text{…} may contain formulas
    depth = 0
    for sign in _SIGNS.finditer(text):
        if sign[0].isspace():
            block, opened, depth = None, {}, 0
        elif sign[0] == "{":
            depth += 1
            opened.pop(depth, None)
        elif sign[0] == "}":
            depth = max(depth - 1, 0)
        elif sign[0] == "$$":
            opened = {}
            if block:
                kept |= {block.start(), sign.start()}
            block = None if block else sign
        elif sign[0] == "$":
            begin = opened.pop(depth, None)
            if begin and _is_formula(text, begin.end(), sign.start()):
                kept |= {begin.start(), sign.start()}
            elif _may_open(text, sign):
                opened[depth] = sign
    return _SIGNS.sub(
        lambda sign: sign[0].translate(_HIDE) if sign[0][0] == "$" and sign.start() not in kept else sign[0], text
    )


def _may_open(text: str, sign: re.Match[str]) -> bool:
    before, after = text[max(sign.start() - 1, 0) : sign.start()], text[sign.end() : sign.end() + 1]
    return not before.isalnum() and not after.isspace()


def _is_formula(text: str, begin: int, end: int) -> bool:
    """Tests whether `text[begin:end]`, between two dollar signs, is a formula.

    Pandoc's rule: a formula has no white space at its ends, and no digit follows. Here neither does a letter, except
    after a letter, digit or bracket ("the $n$th"), nor is an amount with words a formula ("$5 or 7$").
    """
    before, after = text[end - 1], text[end + 1 : end + 2]
    if before.isspace() or after.isdigit() or (after.isalpha() and not (before.isalnum() or before in ")]}")):
        return False
    return not text[begin].isdigit() or bool(_TEX.search(text, begin, end)) or not _WORD.search(text, begin, end)

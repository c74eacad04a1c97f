"""The pieces from which property tests build a model's output: Markdown and tags."""

REMEMBER = '[REMEMBER] {"content": "deploys on Fridays", "category": "operational", "tags": ["work"]}'

FRAGMENTS = [
    *("[LEARN: likes tea]", "[ learn : likes [old] jazz ]", "[FORGET: likes coffee]", "[VOICE_REPLY]", REMEMBER),
    *(f"[LEARN: {'long ' * 50}]", f"[LEARN: {'long ' * 90}]", "[LEARN: ]", "[FORGET: a]", "[LEARN: a\nb]"),
    *('[REMEMBER]\n{"content":\n"x"}', "[REMEMBER]", '[REMEMBER] {"content": 1}', "[REMEMBER] {bad}", '{"a": "', '"}'),
    *("[", "]", "[LE", "[LEARN:", "[LEARN: half", "[REMEMBER", "[VOICE_", "VOICE_REPLY]", "ARN: x]", "{", "}", '"'),
    *("`", "``", "```", "````", "`code`", "~~~", "\n```\n", "\n```py\n", "\n~~~\n", "\n    ", "\\", "\\[", "\t"),
    *("> ", "\n> ", "\n- ", "\n1. ", "\n# ", "\n---\n", "- ", "1.", "#", "*", "-", "="),
    *("\n", "\n\n", "\n\n\n", "\r\n", " ", "  ", "   ", "    ", "text", "Hello, world. ", "(", ")", ".", ":"),
    *("[link](http://x)", "[x]", "é", "猫", "🍵", "\u200b", "\u00a0", "［", "ſ", "\0", "\ud800"),
]

MARKDOWN = [*"*_`~|>#-+[]()!<>$\\\n \t&=:1.é字😀\u200d\u200b\u0301\u05d0\ud800\udc00\x00", "**", "||", "```", "\n\n"]
MARKDOWN += [
    "```py\n",
    "\n```\n",
    "- ",
    "1. ",
    "> ",
    "# ",
    "[a](http://b.c)",
    "![a](http://b.c)",
    "| a | b |\n|---|---|\n",
]
MARKDOWN += [
    "$x^2$",
    "$$\\frac12$$",
    "\\(",
    "\\)",
    "<b>",
    "</b>",
    "<br>",
    "<T>",
    "<div>",
    "word ",
    "A sentence. ",
    "👨‍👩‍👧",
    "🇩🇪",
]
MARKDOWN += ["| " + "wide " * 12 + "| b |\n", "- [x] ", "<!--", "-->", "~~", "    ", "  \n", "---\n", "<tg-spoiler>"]

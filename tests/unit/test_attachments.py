"""Code that is too long for the chat is sent as files: which code, under which name, and nothing else."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.core.models import Button, File
from relay.core.settings import Settings
from relay.memory.rows.turns.answer import Answer
from relay.surfaces.cli.terminal.messenger import Terminal
from relay.surfaces.telegram.formatting.attachments import MOST_MESSAGES, extract_long_code
from relay.surfaces.telegram.formatting.format import format_reply
from relay.surfaces.telegram.outgoing.files import LARGEST, choose_method, shows
from relay.surfaces.telegram.outgoing.render import answer_parts, message_parts
from relay.surfaces.telegram.parsing.place import Place
from tests.strategies import examples

DM = Place(1001, 0, True)
TOPIC = Place(-1001234567890, 8, False, reply_to=55)


def lines(count: int, text: str = "x = 'a line of code that is neither long nor short'") -> str:
    return "".join(f"{text}  # {number}\n" for number in range(count))


def fence(code: str, language: str = "py") -> str:
    return f"```{language}\n{code}```"


def test_long_code_is_sent_as_a_file_and_a_line_names_it() -> None:
    code = lines(412)
    text, files = extract_long_code(f"Here it is:\n\n{fence(code)}\n\nRun it.")
    assert files == [File("code.py", code.encode())]
    (part,) = format_reply(text)
    assert part.text == "Here it is:\n\n📎 code.py (412 lines)\n\nRun it."


def test_several_code_files_are_numbered_and_short_code_stays() -> None:
    first, second, tiny = lines(300), lines(2000, "y"), fence("tiny()\n")
    text, files = extract_long_code(f"{fence(first)}\n{tiny}\n{fence(second, 'typescript title=app')}\nend")
    assert [file.name for file in files] == ["code-1.py", "code-2.ts"]
    assert [file.content.decode() for file in files] == [first, second]
    assert text.index("code-1.py") < text.index("tiny()") < text.index("code-2.ts") < text.index("end")


@pytest.mark.parametrize(
    ("language", "name"),
    [("Python", "code.py"), ("tsx", "code.tsx"), ("c++", "code.cpp"), ("", "code.txt"), ("exe", "code.txt")],
)
def test_the_language_of_the_code_gives_the_file_its_name(language: str, name: str) -> None:
    assert extract_long_code(fence(lines(500), language))[1][0].name == name


def test_code_in_a_list_or_a_quote_loses_indentation_and_quote_marks() -> None:
    code = lines(400)
    nested = "".join(f"  {line}\n" for line in fence(code).splitlines())
    quoted = "".join(f"> {line}\n" for line in fence(code).splitlines())
    text, files = extract_long_code(f"- first\n{nested}- second\n\n{quoted}\nafter")
    assert [file.content.decode() for file in files] == [code, code]
    assert (
        format_reply(text)[0].text == "• first\n📎 code-1.py (400 lines)\n• second\n\n📎 code-2.py (400 lines)\n\nafter"
    )


def test_code_with_an_unclosed_fence_is_sent_as_a_file_too() -> None:
    assert extract_long_code(f"```py\n{lines(400)}")[1][0].content.decode() == lines(400)


def test_tabs_are_kept_in_the_file() -> None:
    code = lines(900, "\tif x:")
    assert extract_long_code(fence(code, "go"))[1] == [File("code.go", code.encode())]


def test_a_broken_parser_leaves_the_answer_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise BaseException("panicked")

    monkeypatch.setattr("relay.surfaces.telegram.formatting.attachments.pyromark.events_with_range", breaks)
    answer = fence(lines(400))
    assert extract_long_code(answer) == (answer, [])


words = st.text(st.sampled_from("ab \n#*_>-|\tü😀"), max_size=40)
codes = st.builds(lines, st.integers(1, 900), st.sampled_from(["x", "y = '😀'", "a" * 60, "\tdef f(): pass"]))
answers = st.lists(st.tuples(words, codes, st.sampled_from(["py", "ts", "", "zig"])), min_size=1, max_size=4)


@examples(60)
@given(answers)
def test_each_code_block_is_in_the_chat_or_in_a_file_in_order(pieces: list[tuple[str, str, str]]) -> None:
    answer = (
        "\n\n".join(f"{before.strip()}\n\n{fence(code, language)}" for before, code, language in pieces) + "\n\nend"
    )
    text, files = extract_long_code(answer)
    kept = [file.content.decode() for file in files]
    needed = [len(format_reply(fence(code, language))) for _, code, language in pieces]
    for (_, code, _), messages in zip(pieces, needed, strict=True):
        assert (code in kept) == (messages > MOST_MESSAGES)
    assert kept == [code for (_, code, _), messages in zip(pieces, needed, strict=True) if messages > MOST_MESSAGES]
    places = [text.index(file.name) for file in files]
    assert places == sorted(places)
    assert text.endswith("end")


def test_files_are_sent_after_the_text_and_its_buttons() -> None:
    parts = answer_parts(Answer(f"Look:\n{fence(lines(400))}", retry=True), TOPIC, 9)
    assert [part.seq for part in parts] == [1, 2]
    text, file = (part.request for part in parts)
    assert "📎 code.py (400 lines)" in text["text"]
    assert "reply_markup" in text
    assert file["method"] == "sendDocument"
    assert file["disable_notification"] is True
    assert base64.b64decode(file["file"]["content"]).decode() == lines(400)
    assert (file["chat_id"], file["message_thread_id"]) == (TOPIC.chat_id, 8)
    assert "reply_parameters" not in file


def test_a_picture_is_sent_after_its_text_or_alone() -> None:
    picture = File("usage.png", b"\x89PNG", picture=True)
    text, photo = message_parts("Here.", TOPIC, silent=True, file=picture)
    assert text.request["text"] == "Here."
    assert choose_method(photo.request) == (
        "sendPhoto",
        {**TOPIC.address(), "disable_notification": True, "photo": picture},
    )
    (alone,) = message_parts("", TOPIC, [[Button("a", "n")]], file=picture)
    assert alone.request["reply_markup"]["inline_keyboard"]
    assert alone.request["reply_parameters"]["message_id"] == 55


def test_a_line_replaces_a_file_that_is_too_large_or_empty() -> None:
    (part,) = message_parts("Done.", DM, file=File("my_export.zip", b"x" * (LARGEST + 100_000)))
    assert part.request["text"] == "Done.\n\n⚠️ my_export.zip is 10.1 MB, but I can send at most 10 MB."
    (part,) = message_parts("", DM, file=File("export.zip", b""))
    assert "empty" in part.request["text"]


def test_a_file_name_has_only_characters_that_telegram_keeps() -> None:
    (part,) = message_parts("", DM, file=File('a "b"/c\n.txt', b"x"))
    assert part.request["file"]["name"] == "a-b-c-.txt"


async def test_the_terminal_prints_text_documents_and_writes_every_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.zip").write_bytes(b"of before")
    terminal = Terminal(Settings(_env_file=None))
    for file in (
        File("usage.png", b"\x89PNG" * 3000, True),
        File("code.py", b"print('hi')\n"),
        File("a.zip", b"\xff" * 9),
    ):
        (part,) = message_parts("", DM, file=file)
        method, parameters = choose_method(part.request)
        assert (await terminal.call(method, **parameters))["message_id"]
    printed = capsys.readouterr().out.splitlines()
    assert printed == [
        f"[usage.png, 12 KB: {tmp_path}/usage.png]",
        "print('hi')",
        "",
        f"[code.py, 1 KB: {tmp_path}/code.py]",
        f"[a.zip, 1 KB: {tmp_path}/a-2.zip]",
    ]
    assert (tmp_path / "code.py").read_bytes() == b"print('hi')\n"
    assert (tmp_path / "a.zip").read_bytes() == b"of before"
    assert (tmp_path / "a-2.zip").read_bytes() == b"\xff" * 9
    assert (tmp_path / "a-2.zip").stat().st_mode & 0o777 == 0o600


def test_a_sent_file_is_recognized_in_the_chat() -> None:
    (document,) = message_parts("", DM, file=File("code.py", b"x"))
    (photo,) = message_parts("", DM, file=File("usage.png", b"x", True))
    assert shows({"document": {"file_name": "code.py"}}, document.request, "code.py")
    assert not shows({"document": {"file_name": "other.py"}}, document.request, "code.py")
    assert not shows({"text": "code.py"}, document.request, "code.py")
    assert shows({"photo": [{}]}, photo.request, "usage.png")
    assert not shows({"document": {"file_name": "usage.png"}}, photo.request, "usage.png")
    assert shows({"text": "hello "}, {"text": "hello"}, "hello")

"""The `FileExtractor` port: each file in its own process, a few at a time."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import signal
from collections.abc import Sequence
from typing import Any

import structlog

from relay.clients.processes import machine
from relay.clients.processes.process import kill, program, start_process
from relay.core.errors import MediaRefused

log = structlog.get_logger()

MEMORY = 1024**3
"""The most memory for such a process in bytes: a quarter of the machine's, at least `LEAST`, at most this."""
LEAST = 384 * 2**20
SECONDS = 60
"""The time limit for a file in seconds."""
AT_ONCE = 2
ROOMY = 1792 * 2**20
"""With less memory (in bytes), files are opened one at a time."""
MOST_MADE = 64 * 2**20
"""The largest output in bytes."""
MOST_TROUBLE = 2000
"""How many bytes of what libraries print are kept."""
PIECE = 2**16
"""How many bytes are read or written at once."""
PROGRAM = program("relay.media.extraction")
TOO_LONG = "It takes too long to open."
NOT_OPENED = "It can't be opened: it's damaged, or too large for this machine."
Made = tuple[dict[str, Any], list[bytes]]


class FileExtractor:
    """Reads files that people send."""

    def __init__(self, memory: int = 0, seconds: float = SECONDS, program: Sequence[str] = PROGRAM) -> None:
        """`memory`: address space in bytes (0: what this machine allows); `program`: the command, see
        `relay.media.extraction`."""
        there = machine.memory()
        self._memory = memory or max(LEAST, min(MEMORY, there // 4))
        self._seconds = seconds
        self._program = program
        self._places = asyncio.Semaphore(AT_ONCE if there >= ROOMY else 1)

    async def open(self, work: str, content: bytes, **options: Any) -> Made:
        limits = {"memory": self._memory, "seconds": int(self._seconds) + 1, "size": len(content)}
        head = json.dumps({"work": work, "options": options, **limits}).encode() + b"\n"
        async with self._places:
            code, output, trouble = await self._run_process(head, content)
        log.debug("file opened", work=work, code=code, printed=trouble.decode("utf-8", "replace"))
        if code and code == -getattr(signal, "SIGXCPU", 0):
            raise MediaRefused(TOO_LONG)
        answer = _parse_answer(output) if code == 0 else None
        if answer is None:
            log.warning("file not opened", work=work, code=code)
            raise MediaRefused(NOT_OPENED)
        told, made = answer
        if "refused" in told:
            log.info("file refused", work=work, error=str(told.get("error"))[:80])
            raise MediaRefused(str(told["refused"]))
        return told["told"], made

    async def _run_process(self, head: bytes, content: bytes) -> tuple[int, bytes, bytes]:
        """Runs the process. Returns its exit code, output, and the end of what its libraries printed."""
        process = await start_process(self._program, asyncio.subprocess.PIPE, PIECE)
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        assert stdin is not None and stdout is not None and stderr is not None  # noqa: PT018, S101 — they are pipes
        try:
            async with asyncio.timeout(self._seconds):
                _, output, trouble = await asyncio.gather(
                    _feed(stdin, head, content), _read(stdout, process), _last(stderr)
                )
                return await process.wait(), output, trouble
        except TimeoutError:
            raise MediaRefused(TOO_LONG) from None
        finally:
            stdin.close()
            if process.returncode is None:
                kill(process)  # its pipes must be read to the end before it counts as ended
                await asyncio.shield(asyncio.gather(process.wait(), _last(stdout), _last(stderr)))


async def _feed(stdin: asyncio.StreamWriter, head: bytes, content: bytes) -> None:
    """Sends the file. Keeps the pipe open, because its end tells the process that its parent is gone."""
    with contextlib.suppress(ConnectionError):  # it has ended; its exit code says why
        stdin.write(head)
        for start in range(0, len(content), PIECE):  # a pipe copies what it can't send at once
            stdin.write(memoryview(content)[start : start + PIECE])
            await stdin.drain()


async def _read(stdout: asyncio.StreamReader, process: asyncio.subprocess.Process) -> bytes:
    """Reads all output. Kills the process if there is too much."""
    output = io.BytesIO()  # whose value, unlike a bytearray's, is not copied
    while piece := await stdout.read(PIECE):
        output.write(piece)
        if output.tell() > MOST_MADE:
            output = io.BytesIO()
            kill(process)
    return output.getvalue()


async def _last(stderr: asyncio.StreamReader) -> bytes:
    """Returns the end of what was printed, however long it is."""
    kept = b""
    while piece := await stderr.read(PIECE):
        kept = (kept + piece)[-MOST_TROUBLE:]
    return kept


def _parse_answer(output: bytes) -> Made | None:
    """Parses the process's result and files; None if invalid."""
    start = output.find(b"\n") + 1 or len(output)
    try:
        answer = json.loads(output[:start])
        if "refused" in answer:
            return answer, []
        made = []
        for size in answer["sizes"]:
            made.append(output[start : start + size])
            start += size
        return (answer, made) if start == len(output) and isinstance(answer["told"], dict) else None
    except (ValueError, TypeError, KeyError):
        return None

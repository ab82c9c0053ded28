"""A system that is a shell command: a request on standard input, the answer on standard output."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.base.score import Reason
from ragassay.targets.reply_shapes import read_text, shown
from ragassay.targets.target import Request, Stopwatch, Target, refuse_endless
from ragassay.transport.endpoints import EndpointError

_CHUNK = 2**16


class CommandTarget(Target):
    """A command that is started for each request. It reads the request as JSON, and writes a text,
    or a JSON object with ``answer`` and ``passages``. An exit code other than 0 is a failure."""

    def __init__(self, command: str, name: str | None = None) -> None:
        try:
            words = shlex.split(command) or [""]
        except ValueError as error:
            raise UsageError(f"The target command:{command} cannot be read: {error}.") from error
        if shutil.which(words[0]) is None:
            raise UsageError(f"The target command:{command}: there is no program {words[0]!r}.")
        super().__init__(name or _name_of(words), command)
        # "python" is the one that runs us: a virtual environment need not be activated.
        first = sys.executable if words[0] in ("python", "python3") else words[0]
        self._words = [first, *words[1:]]

    @property
    def identity(self) -> Mapping[str, Any]:
        """The command."""
        return {"kind": "command", "command": self.url}

    @property
    def takes_passages(self) -> bool:
        """Always: the request that it reads holds them."""
        return True

    async def call(self, request: Request, watch: Stopwatch) -> Any:
        """Runs the command. It is killed, with what it started, where the time is up."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *self._words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        pieces_at: list[float] = []  # seconds from the start to each piece of the answer

        def note(piece: bytes) -> None:
            if piece.strip():  # a line's end may come by itself
                pieces_at.append(watch.seconds)

        writing = _write(process.stdin, request.body() + b"\n")
        reading = _read(process.stdout, note), _read(process.stderr)
        streams = [asyncio.ensure_future(coroutine) for coroutine in (*reading, writing)]
        try:
            out, words, _ = await asyncio.gather(*streams)
            code = await process.wait()
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            for stream in streams:
                stream.cancel()
            await asyncio.gather(*streams, return_exceptions=True)
            await process.communicate()  # what is left in the pipes, so that they are closed
            raise
        if code != 0:
            last = (words.strip() or out).decode("utf-8", "replace").strip().splitlines()[-1:]
            message = f": {shown(last[0]).rstrip('.')}" if last else ""
            raise EndpointError(Reason.FAILED, f"{self.url} {_end(code)}{message}.")
        value = read_text(out.decode("utf-8", "replace"))
        if isinstance(value, str) and len(pieces_at) > 1:  # only a text can come in pieces
            watch.first = pieces_at[0]
        return value


def _name_of(words: Sequence[str]) -> str:
    """The name of the script, module or program that a command runs, without its options."""
    for previous, word in pairwise(words):
        if previous == "-m":
            return word
        if Path(word).is_file():
            return Path(word).stem
    return Path(words[0]).stem


def _end(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    with suppress(ValueError):
        return f"was ended by the signal {signal.Signals(-code).name}"
    return f"was ended by the signal {-code}"


async def _read(
    stream: asyncio.StreamReader | None, note: Callable[[bytes], None] = lambda piece: None
) -> bytes:
    assert stream is not None
    pieces, size = [], 0
    while piece := await stream.read(_CHUNK):
        note(piece)
        pieces.append(piece)
        size += len(piece)
        refuse_endless(size, "the command")
    return b"".join(pieces)


async def _write(stream: asyncio.StreamWriter | None, content: bytes) -> bytes:
    assert stream is not None
    with suppress(ConnectionError):  # a command need not read what it is given
        stream.write(content)
        await stream.drain()
        stream.close()
        await stream.wait_closed()
    return b""

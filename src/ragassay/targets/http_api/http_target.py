"""A system over HTTP: as a mapping file says, or by a known API."""

from __future__ import annotations

import json
import os
import re
import ssl
import urllib.request
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from ragassay.base.errors import UsageError
from ragassay.base.json_data import NOTHING, PathError
from ragassay.base.score import Reason
from ragassay.targets.http_api.http_mapping import (
    DONE,
    HttpMapping,
    PassagePaths,
    Paths,
    end_marks,
    filled,
    filled_params,
    filled_url,
    find_first,
    paths_text,
    secrets_in,
    secrets_in_url,
    slots_in,
    texts_joined,
    value_at,
    with_defaults,
    with_environment,
)
from ragassay.targets.reply_shapes import SystemReply, foreign, made_reply, number_of, shown
from ragassay.targets.target import (
    CutReplyError,
    RefusedAddressError,
    RefusedKeyError,
    Request,
    Stopwatch,
    Target,
    refuse_endless,
    without_secrets,
)
from ragassay.transport.endpoints import EndpointError
from ragassay.transport.endpoints.endpoint import CONNECT_S
from ragassay.transport.endpoints.endpoint_errors import passing, redirected, unreached
from ragassay.transport.endpoints.http_chats import parsed
from ragassay.transport.providers_and_prices import Price
from ragassay.transport.secrets import NO_KEY, Secret, from_environment

if TYPE_CHECKING:
    import aiohttp

_SECRET = re.compile("authorization|cookie|key|token|secret|password", re.IGNORECASE)
"""In the names of headers that hold secrets."""
_IS_KEY = re.compile(r"[\x21-\x7e]+")
"""What a key may be; the name of an index may have a blank."""
_TAG = re.compile(r"<[^>]*>")
_NO_ACCESS = frozenset({401, 403, 407})
_REFUSALS = dict.fromkeys((403, 404, 405, 407), RefusedAddressError) | {401: RefusedKeyError}
"""Statuses whose cause is most often the address or the key, and not what is asked."""


def lacks_package() -> str:
    """A sentence about the package that is not installed, or nothing."""
    if find_spec("aiohttp") is not None:
        return ""
    return "A target over HTTP needs aiohttp: pip install 'ragassay[llm]'."


class HttpTarget(Target):
    """An endpoint that a mapping describes. ``origin`` is what messages name as the mapping's
    place; ``price`` is for replies that give tokens and no cost."""

    def __init__(
        self,
        name: str,
        mapping: HttpMapping,
        origin: str,
        *,
        key: Secret = NO_KEY,
        price: Price | None = None,
    ) -> None:
        if lacking := lacks_package():
            raise UsageError(lacking)
        variables = {text for value in mapping.headers.values() for text in secrets_in(value)}
        hidden = [from_environment([variable], os.environ) for variable in sorted(variables)]
        self._secrets = [secret for secret in (key, *hidden) if secret]
        first = self._secrets[0] if self._secrets else NO_KEY
        super().__init__(name, without_secrets(with_defaults(mapping.url)), first)
        self.mapping, self._origin, self.price = mapping, origin, price
        self._url = with_environment(mapping.url)
        bearer = {"Authorization": f"Bearer {key.reveal()}"} if key else {}
        own = {text: with_environment(value) for text, value in mapping.headers.items()}
        self._headers = {**bearer, **own}
        # Also what is written in the file itself; these are not what a message names as the key.
        self._secrets += [
            Secret(value.split()[-1], f"the header {text}")
            for text, value in own.items()
            if _SECRET.search(text) and value.strip()
        ]
        # An answer may hold such a word, the name of an index, for another reason.
        in_url = [text for text in secrets_in_url(mapping.url) if _IS_KEY.fullmatch(text)]
        self.secrets = [*self._secrets, *(Secret(text, "the URL") for text in in_url)]
        self._usage_paths = mapping.usage.model_dump()
        self._passage_paths = (mapping.passage or PassagePaths()).model_dump()
        self._session: aiohttp.ClientSession | None = None
        self._last_events, self._last_paths = end_marks(mapping.end_mark or ())
        self._ends_in_done = False

    @property
    def identity(self) -> Mapping[str, Any]:
        """The mapping as it is written, without the values of environment variables."""
        left_out = {"name"} if self.mapping.end_mark is not None else {"name", "end_mark"}
        return {"kind": "http", **self.mapping.model_dump(exclude=left_out)}

    @property
    def takes_passages(self) -> bool:
        """Whether the mapping has a place for them."""
        return any(slot in ("passages", "messages") for _, slot in slots_in(self.mapping))

    async def open(self) -> None:
        """Makes the session."""
        accepted = "text/event-stream" if self.mapping.stream == "sse" else "application/json"
        types = {"Content-Type": "application/json", "Accept": accepted}
        try:
            headers = {**types, **self._headers}
            self._session = open_session(self._url, self.url, headers, self.mapping.method)
        except ValueError as error:
            do = f"Correct 'url' in {self._origin}: it is written like http://localhost:8000/ask."
            raise UsageError(f"{self.url} is not an HTTP address ({error}). {do}") from None

    async def close(self) -> None:
        """Ends the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def call(self, request: Request, watch: Stopwatch) -> SystemReply:
        """Sends one request, and reads the reply as the mapping says."""
        import aiohttp

        assert self._session is not None
        mapping = self.mapping
        sending = self._session.request(
            mapping.method,
            filled_url(self._url, request),
            params=filled_params(mapping.params, request),
            data=None if mapping.body is None else orjson.dumps(filled(mapping.body, request)),
        )
        try:
            async with sending as response:
                if mapping.stream is not None and response.status < 400:
                    return await self._read_stream(response, watch)
                pieces = [piece async for piece in pieces_of(response, self.url)]
                content = self._hidden(b"".join(pieces))
        except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError):
            raise self._cut("it closed the connection") from None
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise unreached(error, self.url, self.key) from None
        if response.status >= 400:
            raise self._status(response.status, response.headers, content)
        value = self._json(content)
        self._refuse_failure(value)
        answer = texts_joined(self._find([value], "answer", mapping.answer), mapping.answer)
        return self._made("" if answer is NOTHING else answer, [value])

    async def _read_stream(self, response: aiohttp.ClientResponse, watch: Stopwatch) -> SystemReply:
        """The reply that the events of a stream form together."""
        import aiohttp

        values: list[Any] = []
        pieces: list[str] = []
        raw, ended = "", False
        is_sse = self.mapping.stream == "sse"
        try:
            async for event in events_of(response, self.url, server_sent=is_sse):
                if event.text.strip() == DONE:
                    self._ends_in_done = ended = True
                    break
                last = event.name in self._last_events
                if event.name == "error" and not last:
                    raise self._failure(event.text)
                raw = raw or event.text
                value = self._event(event, last)
                ended = (
                    ended
                    or last
                    or any(value_at(value, last_path) for last_path in self._last_paths)
                )
                self._refuse_failure(value)
                piece = texts_joined(value_at(value, self.mapping.answer), self.mapping.answer)
                if isinstance(piece, str):
                    if piece:
                        watch.words_came()
                    pieces.append(piece)
                values.append(value)
        except aiohttp.ClientPayloadError:
            if not ended:  # else what is missing comes after the mark of the end
                raise
        if not ended:
            self._refuse_cut()
        if not pieces:
            events = f"its first is {shown(raw)!r}" if raw else "there are none"
            path = f"the path answer ({paths_text(self.mapping.answer)})"
            do = f"Correct 'answer' or 'stream' in {self._origin}."
            raise foreign(f"{self.url} sent no event with {path}: {events}. {do}")
        return self._made("".join(pieces), values)

    def _event(self, event: Event, last: bool) -> Any:
        """The value of an event; ``None`` for a name alone, and for words in the last one."""
        text = event.text.strip()
        if not text or (last and not text.startswith("{")):
            return None
        content = self._hidden(text.encode())
        if not event.is_complete and text.startswith(("{", "[", '"')):
            try:
                return json.loads(content)
            except ValueError:
                raise self._cut("its last event is not whole") from None
        return self._json(content)

    def _refuse_cut(self) -> None:
        """Raises where a stream that is over should have had a mark of its end."""
        if self.mapping.end_mark is not None:
            mark = f"{paths_text(self.mapping.end_mark)}, end_mark in {self._origin}"
            raise self._cut(f"the mark of its end ({mark}) did not come")
        if self._ends_in_done:
            raise self._cut(f"{DONE} did not come, with which its other streams ended")

    def _cut(self, why: str) -> EndpointError:
        return CutReplyError(f"{self.url} ended its reply too early: {why}.")

    def _made(self, answer: Any, values: list[Any]) -> SystemReply:
        """The reply: its answer, and what the paths find in the last value that has it."""
        mapping = self.mapping
        not_found: dict[str, str] = {}

        def measured(name: str, paths: Paths) -> Any:
            try:
                found = self._last(values, name, paths)
                if found is None or name == "version" or number_of(found) is not None:
                    return found
            except EndpointError:
                pass
            # A reply may lack a measurement; the summary names a path that never fits.
            if not self._origin.startswith("--"):  # nobody can correct the mapping of an API
                not_found[f"{name} ({paths_text(paths)})"] = self._origin
            return None

        passages = self._last(values, "passages", mapping.passages)
        if isinstance(passages, list) and mapping.passage is not None:
            passages = [
                {part: found for part, path in self._passage_paths.items()
                 if (found := self._find([passage], f"passage.{part}", path)) is not NOTHING}
                for passage in passages
            ]  # fmt: skip
        usage = {part: measured(f"usage.{part}", path) for part, path in self._usage_paths.items()}
        citations = self._last(values, "citations", mapping.citations)
        version = measured("version", mapping.version)
        for name, value in (("passages", passages), ("citations", citations)):
            if value is not None and not isinstance(value, list):
                found = f"no list at the path {name}, but {shown(str(value))!r}"
                raise foreign(f"{self.url} has {found}. Correct '{name}' in {self._origin}.")
        reply = made_reply(
            answer,
            passages,
            citations=citations,
            usage=usage,
            version=str(version or ""),
            how={
                "answer": f"Correct 'answer' ({paths_text(mapping.answer)}) in {self._origin}.",
                "passages": f"Correct 'passages' or 'passage' in {self._origin}.",
            },
        )
        if reply.cost is None and self.price is not None and reply.counted:
            cost = self.price.cost(reply.input_tokens, reply.output_tokens)
            reply = replace(reply, cost=cost)
        return replace(reply, not_found=not_found)

    def _last(self, values: list[Any], name: str, paths: Paths) -> Any:
        """What a path finds in the last value that has it; ``None`` for nothing."""
        part = NOTHING if paths is None else self._find(values[::-1], name, paths)
        return None if part is NOTHING else part

    def _find(self, values: list[Any], name: str, paths: Paths) -> Any:
        try:
            return find_first(values, paths)
        except PathError as error:
            do = f"Correct '{name}' in {self._origin}, or end the path with ? if it may be missing."
            path = f"the path {name} ({paths_text(paths)})"
            raise foreign(f"{self.url}: {path} finds nothing, because {error}. {do}") from None

    def _refuse_failure(self, value: Any) -> None:
        """Raises where the reply says that the system failed."""
        # Without a path the key "error" counts, as in what functions return.
        error = value_at(value, "error?" if self.mapping.error is None else self.mapping.error)
        if error and (self.mapping.error is not None or isinstance(error, str | dict)):
            raise self._failure(str(error))

    def _failure(self, message: str) -> EndpointError:
        return EndpointError(Reason.FAILED, f"{self.url} says: {shown(message)}")

    def _json(self, content: bytes) -> Any:
        try:
            return parsed(content)
        except ValueError:
            text = content.decode("utf-8", "replace")
            is_page = re.match(r"\s*<(!doctype|html)", text, re.I)
            kind, words = ("HTML", _TAG.sub(" ", text)) if is_page else ("other text", text)
            came = f"answered with {kind}: {shown(words)!r}"
            raise foreign(f"{self.url} {came}. Check 'url' in {self._origin}.") from None

    def _status(self, status: int, headers: Mapping[str, str], content: bytes) -> EndpointError:
        text = _TAG.sub(" ", content.decode("utf-8", "replace")).strip()
        if text.startswith("Traceback "):  # its last line says what went wrong
            text = text.splitlines()[-1]
        message = shown(text) or "it gave no reason"
        detail = f"{self.url} answered with status {status}: {message}"
        if (error := passing(status, detail, headers, content)).again:
            return error
        detail = f"{detail.rstrip('.')}. {self._advice(status)}"
        return _REFUSALS.get(status, EndpointError)(Reason.REFUSED, detail)

    def _advice(self, status: int) -> str:
        """What to do where a request is refused."""
        if status in _NO_ACCESS:
            if self.key:
                return self.key.advice
            names = ", ".join(self.mapping.headers)
            do = f"Check 'headers' ({names}) in" if names else "Add 'headers' to"
            return f"{do} {self._origin}."
        key = {404: "url", 410: "url", 405: "method"}.get(status, "body")
        return f"Check '{key}' in {self._origin}."

    def _hidden(self, content: bytes) -> bytes:
        """A reply without the secrets that were sent."""
        for secret in self._secrets:
            content = secret.hidden_in_bytes(content)
        return content


def open_session(
    url: str, shown: str, headers: Mapping[str, str], method: str
) -> aiohttp.ClientSession:
    """A session that talks to one origin only; the caller has the deadlines and the limits. Another
    redirect, or one without the body, is an `EndpointError`; another kind of URL a `ValueError`."""
    import aiohttp
    from yarl import URL

    place = urlsplit(url)
    if place.scheme not in ("http", "https"):
        raise ValueError("it begins with neither http:// nor https://")
    home = URL(url).origin()

    async def stay(
        request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        if request.url.origin() != home:
            raise redirected(shown, request.url.origin(), "target")
        if request.method != method:
            detail = f"{shown} redirects to {request.url.path}, without the query"
            raise RefusedAddressError(Reason.REFUSED, f"{detail}. Write that into 'url'.")
        return await send(request)

    ssl_context = _certificates() if place.scheme == "https" else True
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=ssl_context),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        middlewares=(stay,),
        proxy=_proxy(place.scheme, place.netloc),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
    )


def _certificates() -> ssl.SSLContext:
    if find_spec("truststore") is None:
        return ssl.create_default_context()
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _proxy(scheme: str, host: str) -> str | None:
    if urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(scheme) or proxies.get("all")


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a stream: its data, the name of a server-sent one, and whether its end came."""

    text: str
    name: str = ""
    is_complete: bool = True


async def events_of(
    response: aiohttp.ClientResponse, shown: str, *, server_sent: bool
) -> AsyncIterator[Event]:
    """The events of a stream as they come: server-sent ones, or each line one."""
    data: list[str] = []
    name = ""
    async for line, is_complete in _lines_of(response, shown):
        if not server_sent:
            if line.strip():
                yield Event(line, is_complete=is_complete)
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif not line.strip():
            if data or name:
                yield Event("\n".join(data), name)
            data, name = [], ""
        elif line.lstrip().startswith(("<", "{")):
            yield Event(line)  # no stream, but a page of HTML or JSON
    if data:
        yield Event("\n".join(data), name, is_complete=False)


async def _lines_of(
    response: aiohttp.ClientResponse, shown: str
) -> AsyncIterator[tuple[str, bool]]:
    """The lines of a reply, of any length, without their ends; with each whether its end came."""
    line: list[bytes] = []
    async for piece in pieces_of(response, shown):
        rest_of_line, *next_lines = piece.split(b"\n")
        line.append(rest_of_line)
        for next_line in next_lines:
            yield b"".join(line).removesuffix(b"\r").decode("utf-8", "replace"), True
            line = [next_line]
    if rest := b"".join(line):
        yield rest.decode("utf-8", "replace"), False


async def pieces_of(response: aiohttp.ClientResponse, shown: str) -> AsyncIterator[bytes]:
    """The body of a reply as it comes; an `EndpointError` where it does not end."""
    size = 0
    async for piece in response.content.iter_any():
        size += len(piece)
        refuse_endless(size, shown)
        yield piece

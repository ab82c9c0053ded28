"""A system that is reached by HTTP: as a mapping file says, or by a known API."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from ragassay import formats
from ragassay.errors import UsageError
from ragassay.json_paths import EVERY, NOTHING, JsonPath, PathError
from ragassay.scores import Reason
from ragassay.targets.http_api.http_mapping import (
    HttpMapping,
    Paths,
    filled,
    secrets_in,
    secrets_in_url,
    shown_url,
    slots_of,
    with_environment,
)
from ragassay.targets.http_api.http_session import content_of, needs_session, open_session
from ragassay.targets.http_api.http_stream import DONE, EndMark, Event, events_of
from ragassay.targets.reply_shapes import made_reply
from ragassay.targets.target import (
    CutReplyError,
    RefusedAddressError,
    RefusedKeyError,
    Request,
    Stopwatch,
    SystemReply,
    Target,
    foreign,
    shown,
)
from ragassay.transport import NO_KEY, Price, Secret, from_environment
from ragassay.transport.endpoints import EndpointError, parsed, retry_after, unreached

if TYPE_CHECKING:
    import aiohttp

_SECRET = re.compile("authorization|cookie|key|token|secret|password", re.IGNORECASE)
"""In the names of headers that hold secrets."""
_IS_KEY = re.compile(r"[\x21-\x7e]+")
"""What a key may be; the name of an index may have a blank."""
_OVERLOADED = frozenset({429, 503, 529})
_PASSING = frozenset({408, 409, 425, 429})
_NO_ACCESS = frozenset({401, 403, 407})
_OF_EVERY_REQUEST = frozenset({*_NO_ACCESS, 404, 405})
"""Statuses whose cause is most often the address or the key, and not what is asked."""


class HttpTarget(Target):
    """An endpoint that a mapping describes.

    Args:
        name: the system's name.
        mapping: how it is asked and read.
        origin: what messages name as the place of the mapping: a file, or ``--target``.
        key: sent as ``Authorization: Bearer``, beside the mapping's headers.
        price: of the model, where the reply tells tokens and no cost.

    Raises:
        UsageError: the HTTP client is not installed, or a header's secret cannot be sent.
    """

    def __init__(
        self,
        name: str,
        mapping: HttpMapping,
        origin: str,
        *,
        key: Secret = NO_KEY,
        price: Price | None = None,
    ) -> None:
        needs_session()
        url = with_environment(mapping.url)
        variables = {one for value in mapping.headers.values() for one in secrets_in(value)}
        hidden = [from_environment([one], os.environ) for one in sorted(variables)]
        self._secrets = [one for one in (key, *hidden) if one]
        first = self._secrets[0] if self._secrets else NO_KEY
        super().__init__(name, shown_url(mapping.url), first)
        self.mapping, self._origin, self.price = mapping, origin, price
        self._url = url
        bearer = {"Authorization": f"Bearer {key.reveal()}"} if key else {}
        own = {one: with_environment(value) for one, value in mapping.headers.items()}
        self._headers = {**bearer, **own}
        # Also what is written in the file itself; these are not what a message names as the key.
        self._secrets += [
            Secret(value.split()[-1], f"the header {one}")
            for one, value in own.items()
            if _SECRET.search(one) and value.strip()
        ]
        # An answer may hold such a word, the name of an index, for another reason.
        self._of_url = [
            Secret(one, "the URL") for one in secrets_in_url(mapping.url) if _IS_KEY.fullmatch(one)
        ]
        self._usage_paths = mapping.usage.model_dump(exclude_none=True)
        given = mapping.passage
        self._passage_paths = {} if given is None else given.model_dump(exclude_none=True)
        self._session: aiohttp.ClientSession | None = None
        self._end = EndMark.of(mapping.end_mark or ())
        self._ends_in_done = False

    @property
    def identity(self) -> Mapping[str, Any]:
        """The mapping as it is written, without the values of environment variables."""
        left_out = {"name"} if self.mapping.end_mark is not None else {"name", "end_mark"}
        return {"kind": "http", "url": self._url, **self.mapping.model_dump(exclude=left_out)}

    @property
    def takes_passages(self) -> bool:
        """Whether the mapping has a place for them."""
        return not slots_of(self.mapping).isdisjoint({"passages", "messages"})

    async def open(self) -> None:
        """Makes the session."""
        accepted = "text/event-stream" if self.mapping.stream == "sse" else "application/json"
        agreed = {"Content-Type": "application/json", "Accept": accepted}
        try:
            headers = {**agreed, **self._headers}
            self._session = open_session(self._url, self.url, headers, self.mapping.method)
        except ValueError as error:
            raise UsageError(
                f"{self.url} is no address of HTTP ({error}). Correct 'url' in {self._origin}: it "
                "is written like http://localhost:8000/ask."
            ) from None

    async def close(self) -> None:
        """Ends the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def answer(self, request: Request, watch: Stopwatch) -> SystemReply:
        """Sends one request, and reads the reply as the mapping says."""
        try:
            return await self._answer(request, watch)
        except EndpointError as error:
            for secret in (*self._secrets, *self._of_url):
                error.detail = secret.hidden_in(error.detail)
            raise

    async def _answer(self, request: Request, watch: Stopwatch) -> SystemReply:
        import aiohttp

        assert self._session is not None
        mapping = self.mapping
        body = None if mapping.body is None else orjson.dumps(filled(mapping.body, request))
        url = _filled_url(self._url, request)
        params = {one: _flat(filled(value, request)) for one, value in mapping.params.items()}
        try:
            async with self._session.request(
                mapping.method, url, params=params, data=body
            ) as response:
                if mapping.stream is not None and response.status < 400:
                    return await self._read_stream(response, watch)
                content = self._hidden(await content_of(response, self.url))
        except aiohttp.ClientPayloadError:
            raise self._cut("it closed the connection") from None
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise unreached(error, self.url, self.key) from None
        if response.status >= 400:
            raise self._status(response.status, response.headers, content)
        return self._read(self._json(content))

    def _read(self, value: Any) -> SystemReply:
        """The reply that a JSON value stands for."""
        self._refuse_failure(value)
        answer = _joined(self._found(value, "answer", self.mapping.answer), self.mapping.answer)
        return self._made("" if answer is NOTHING else answer, [value])

    async def _read_stream(self, response: aiohttp.ClientResponse, watch: Stopwatch) -> SystemReply:
        """The reply that the events of a stream stand for together."""
        import aiohttp

        values: list[Any] = []
        pieces: list[str] = []
        raw = ""
        ended = False
        stream = events_of(response, self.mapping.stream == "sse", self.url)
        while True:
            try:
                event = await anext(stream, None)
            except aiohttp.ClientPayloadError:
                if ended:
                    break  # what is missing comes after the mark of the end
                raise
            if event is None:
                break
            if event.is_done:
                self._ends_in_done = ended = True
                break
            if event.name == "error" and event.name not in self._end.names:
                raise self._failure(event.text)
            raw = raw or event.text
            last = event.name in self._end.names
            value = self._event(event, last)
            ended = ended or last or self._end.is_in(value)
            self._refuse_failure(value)
            try:
                piece = _joined(_first(value, self.mapping.answer), self.mapping.answer)
            except PathError:
                piece = NOTHING
            if isinstance(piece, str):
                if piece:
                    watch.words_came()
                pieces.append(piece)
            values.append(value)
        if not ended:
            self._refuse_cut()
        if not pieces:
            came = f"its first is {shown(raw)!r}" if raw else "there are none"
            raise foreign(
                f"{self.url} sent no event with the path answer ({_written(self.mapping.answer)}): "
                f"{came}. Correct 'answer' or 'stream' in {self._origin}."
                f"{'' if ended else self._may_be_cut()}"
            )
        try:
            return self._made("".join(pieces), values)
        except EndpointError as error:
            if not ended:
                error.detail += self._may_be_cut()
            raise

    def _event(self, event: Event, last: bool) -> Any:
        """The value of an event; ``None`` for a name alone, and for words in the last one."""
        text = event.text.strip()
        if not text or (last and not text.startswith("{")):
            return None
        content = self._hidden(text.encode())
        if not event.whole and text.startswith(("{", "[", '"')):
            try:
                return json.loads(content)
            except ValueError:
                raise self._cut("its last event is not whole") from None
        return self._json(content)

    def _refuse_cut(self) -> None:
        """Raises where a stream that is over should have had a mark of its end."""
        if self.mapping.end_mark is not None:
            written = _written(self.mapping.end_mark)
            raise self._cut(
                f"the mark of its end ({written}, end_mark in {self._origin}) did not come. "
                "Correct end_mark if streams of this system end in another way"
            )
        if self._ends_in_done:
            raise self._cut(f"{DONE} did not come, with which its other streams ended")

    def _may_be_cut(self) -> str:
        """What to think of where something is missing from a stream that had no mark of its end."""
        return (
            " Or the stream was cut: nothing marked its end. Name what ends streams of this system "
            f"('end_mark') in {self._origin}; then a cut one is told, and asked again."
        )

    def _cut(self, why: str) -> EndpointError:
        """The failure of a reply of which only a part came."""
        return CutReplyError(f"{self.url} broke its reply off before the end: {why}.")

    def _made(self, answer: Any, values: list[Any]) -> SystemReply:
        mapping = self.mapping
        not_found: dict[str, str] = {}

        def measured(name: str, paths: Paths) -> Any:
            try:
                return self._last(values, name, paths)
            except EndpointError:
                # What a reply took may be left out; the summary tells of a path that never fits.
                if not self._origin.startswith("--"):  # nobody can correct the mapping of an API
                    not_found[f"{name} ({_written(paths)})"] = self._origin
                return None

        passages = self._last(values, "passages", mapping.passages)
        if isinstance(passages, list) and mapping.passage is not None:
            passages = [
                {part: found for part, path in self._passage_paths.items()
                 if (found := self._found(one, f"passage.{part}", path)) is not NOTHING}
                for one in passages
            ]  # fmt: skip
        usage = {part: measured(f"usage.{part}", path) for part, path in self._usage_paths.items()}
        citations = self._last(values, "citations", mapping.citations)
        version = measured("version", mapping.version)
        for name, value in (("passages", passages), ("citations", citations)):
            if value is not None and not isinstance(value, list):
                raise foreign(
                    f"{self.url} has no list at the path {name}, but {shown(str(value))!r}. "
                    f"Correct '{name}' in {self._origin}."
                )
        with self.named():
            reply = made_reply(
                answer,
                passages,
                citations=citations,
                usage=usage,
                places={part: _written(path) for part, path in self._usage_paths.items()},
                version=str(version or ""),
                how=self._how(answer),
            )
        if reply.cost is None and self.price is not None and reply.counted:
            cost = self.price.cost(reply.input_tokens, reply.output_tokens)
            reply = replace(reply, cost=cost)
        return replace(reply, not_found=not_found) if not_found else reply

    def _how(self, answer: Any) -> dict[str, str]:
        """What to do where a part of the reply cannot be read, by the name of the part."""
        answer_at = f"Correct 'answer' ({_written(self.mapping.answer)}) in {self._origin}"
        return {
            "answer": f"{answer_at}: the path finds {formats.kind(answer)}.",
            "passages": f"Correct 'passages' or 'passage' in {self._origin}.",
        }

    def _last(self, values: list[Any], name: str, paths: Paths) -> Any:
        """What a path finds in the last value that has it; ``None`` where there is no path, or one
        that may find nothing."""
        if paths is None:
            return None
        problem: EndpointError | None = None
        for value in reversed(values):
            try:
                found = self._found(value, name, paths)
            except EndpointError as error:
                problem = problem or error
                continue
            if found is not NOTHING:
                return found
        if problem is not None:
            raise problem
        return None

    def _found(self, value: Any, name: str, paths: Paths) -> Any:
        try:
            return _first(value, paths)
        except PathError as error:
            raise foreign(
                f"{self.url}: the path {name} ({_written(paths)}) finds nothing, because {error}. "
                f"Correct '{name}' in {self._origin}, or end the path in ? if it may be missing."
            ) from None

    def _refuse_failure(self, value: Any) -> None:
        """Raises where the reply says that the system failed."""
        if value is None:
            return
        if self.mapping.error is None:
            # As of functions: an error that a system tells is no answer, nor is what came before.
            said = value.get("error") if isinstance(value, dict) else None
            if said and isinstance(said, str | dict):
                raise self._failure(str(said))
            return
        try:
            said = _first(value, self.mapping.error)
        except PathError:
            return
        if said is not NOTHING and said:
            raise self._failure(str(said))

    def _failure(self, said: str) -> EndpointError:
        """The failure that the system tells, as a function does: with its words, and no status."""
        return EndpointError(Reason.FAILED, f"{self.url} says: {shown(said)}")

    def _json(self, content: bytes) -> Any:
        try:
            return parsed(content)
        except ValueError:
            text = content.decode("utf-8", "replace")
            what = "HTML" if re.match(r"\s*<(!doctype|html)", text, re.I) else "what is no JSON"
            said = shown(re.sub(r"<[^>]*>", " ", text)) if what == "HTML" else shown(text)
            raise foreign(
                f"{self.url} answered with {what}: {said!r}. Check 'url' in {self._origin}."
            ) from None

    def _status(self, status: int, headers: Mapping[str, str], content: bytes) -> EndpointError:
        text = content.decode("utf-8", "replace")
        said = shown(re.sub(r"<[^>]*>", " ", text)) or "it gave no reason"
        detail = f"{self.url} answered with status {status}: {said}"
        if 400 <= status < 500 and status not in _PASSING:
            detail = f"{detail.rstrip('.')}. {self._advice(status)}"
            kind = RefusedAddressError if status in _OF_EVERY_REQUEST else EndpointError
            return (RefusedKeyError if status == 401 else kind)(Reason.REFUSED, detail)
        overloaded = status in _OVERLOADED
        reason = Reason.RATE_LIMITED if status == 429 else Reason.SERVER_ERROR
        if status in (408, 504):
            reason = Reason.TIMEOUT
        return EndpointError(
            reason,
            detail,
            again=True,
            overloaded=overloaded,
            retry_after=retry_after(headers, content) if overloaded else None,
        )

    def _advice(self, status: int) -> str:
        """What to do where the system takes no such request."""
        if status in _NO_ACCESS:
            if self.key:
                return self.key.advice
            names = ", ".join(self.mapping.headers)
            do = f"Check 'headers' ({names}) in" if names else "Add 'headers' to"
            return f"{do} {self._origin}."
        key = {404: "url", 410: "url", 405: "method"}.get(status, "body")
        return f"Check '{key}' in {self._origin}."

    def _hidden(self, content: bytes) -> bytes:
        """What came over the wire, without secrets."""
        for secret in self._secrets:
            content = secret.hidden_in_bytes(content)
        return content


def _first(value: Any, paths: Paths) -> Any:
    """What the first of the paths that leads somewhere finds; see `JsonPath.find`."""
    problem: PathError | None = None
    optional = False
    for text in [paths] if isinstance(paths, str) else paths or ():
        path = JsonPath.parse(text)
        optional = optional or path.optional
        try:
            found = path.find(value)
        except PathError as error:
            problem = problem or error
            continue
        if found is not NOTHING:
            return found
    if problem is not None and not optional:
        raise problem
    return NOTHING


def _joined(found: Any, paths: Paths) -> Any:
    """The text of which a path with ``[*]`` finds the pieces; anything else unchanged."""
    every = [paths] if isinstance(paths, str) else paths or ()
    if (
        isinstance(found, list)
        and any(EVERY in JsonPath.parse(one).steps for one in every)
        and all(isinstance(one, str) for one in found)
    ):
        return "".join(found)
    return found


def _written(paths: Paths) -> str:
    return paths if isinstance(paths, str) else ", ".join(paths or ())


def _filled_url(url: str, request: Request) -> str:
    """The URL with the request's parts in it, each in the form that a URL can hold."""
    return re.sub(r"\{\{.*?\}\}", lambda one: quote(str(filled(one[0], request)), safe=""), url)


def _flat(value: Any) -> str:
    """A parameter of a URL: a text, or JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def preset(name: str, **words: str) -> HttpMapping:
    """The mapping of a known API.

    Args:
        name: of a file in ``presets/``.
        **words: take the place of ``<NAME>`` in it.
    """
    import yaml

    text = (resources.files("ragassay.targets.http_api") / "presets" / f"{name}.yaml").read_text(
        "utf-8"
    )
    for key, value in words.items():
        text = text.replace(f"<{key}>", value)
    return HttpMapping.model_validate(yaml.safe_load(text))

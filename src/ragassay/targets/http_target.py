"""A system that is reached by HTTP: as a mapping file says, or by a known API."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from ragassay.scores import Reason
from ragassay.targets.http_mapping import (
    HttpMapping,
    Paths,
    filled,
    secrets_in,
    with_environment,
)
from ragassay.targets.json_paths import NOTHING, JsonPath, PathError
from ragassay.targets.reply_shapes import made_reply
from ragassay.targets.target import Request, Stopwatch, SystemReply, Target, foreign, shown
from ragassay.transport import NO_KEY, Price, Secret, from_environment
from ragassay.transport.endpoints import (
    EndpointError,
    http_client,
    needs_client,
    retry_after,
    unreached,
)

if TYPE_CHECKING:
    import httpx2

_OVERLOADED = frozenset({429, 503, 529})
_PASSING = frozenset({409, 425})


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
        needs_client()
        url = with_environment(mapping.url)
        variables = {one for value in mapping.headers.values() for one in secrets_in(value)}
        hidden = [from_environment([one], os.environ) for one in sorted(variables)]
        self._secrets = [one for one in (key, *hidden) if one]
        super().__init__(name, url.partition("?")[0], self._secrets[0] if self._secrets else NO_KEY)
        self.mapping, self._origin, self._price = mapping, origin, price
        self._url = url
        bearer = {"Authorization": f"Bearer {key.reveal()}"} if key else {}
        own = {one: with_environment(value) for one, value in mapping.headers.items()}
        self._headers = {**bearer, **own}
        self._client: httpx2.AsyncClient | None = None
        self._shared: dict[str, Any] | None = None

    @property
    def identity(self) -> Mapping[str, Any]:
        """The mapping as it is written, without the values of environment variables."""
        return {"kind": "http", "url": self._url, **self.mapping.model_dump(exclude={"name"})}

    @property
    def takes_passages(self) -> bool:
        """Whether the mapping has a place for them."""
        written = str([self.mapping.url, self.mapping.params, self.mapping.body])
        return any(f"{{{{{slot}}}}}" in written for slot in ("passages", "messages"))

    async def open(self) -> None:
        """Makes the client."""
        self._client = http_client(self.url, "target")
        self._client.headers.update(self._headers)
        if self.mapping.stream == "sse":
            self._client.headers["Accept"] = "text/event-stream"
        if not self.mapping.params and "{{" not in self._url:
            # Parts that all requests share: to make them anew is half of a request's time.
            import httpx2

            made = self._client.build_request(self.mapping.method, self._url)
            made.headers.pop("content-length", None)
            self._shared = {
                "url": httpx2.URL(self._url), "headers": made.headers.raw,
                "extensions": made.extensions,
            }  # fmt: skip

    async def close(self) -> None:
        """Ends the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def answer(self, request: Request, watch: Stopwatch) -> SystemReply:
        """Sends one request, and reads the reply as the mapping says."""
        import httpx2

        assert self._client is not None
        mapping = self.mapping
        body = None if mapping.body is None else orjson.dumps(filled(mapping.body, request))
        if self._shared is not None:
            sent = httpx2.Request(mapping.method, content=body, **self._shared)
        else:
            sent = self._client.build_request(
                mapping.method, _filled_url(self._url, request), content=body,
                params={one: _flat(filled(value, request)) for one, value in mapping.params.items()}
                or None,
            )  # fmt: skip
        try:
            response = await self._client.send(sent, stream=mapping.stream is not None)
            try:
                if response.is_error:
                    await response.aread()
                    raise self._status(response)
                if mapping.stream is None:
                    return self._read(self._json(self._hidden(response.content)))
                return await self._read_stream(response, watch)
            finally:
                await response.aclose()
        except (httpx2.HTTPError, UnicodeError) as error:
            raise unreached(error, self.url, self.key) from None

    def _read(self, value: Any) -> SystemReply:
        """The reply that a JSON value stands for."""
        self._refuse_failure(value)
        answer = self._found(value, "answer", self.mapping.answer)
        return self._made("" if answer is NOTHING else answer, [value])

    async def _read_stream(self, response: httpx2.Response, watch: Stopwatch) -> SystemReply:
        """The reply that the events of a stream stand for together."""
        events: list[Any] = []
        pieces: list[str] = []
        raw = b""
        async for text in _events(response, self.mapping.stream == "sse"):
            raw = raw or text.encode()
            value = self._json(self._hidden(text.encode()))
            self._refuse_failure(value)
            try:
                piece = _first(value, self.mapping.answer)
            except PathError:
                piece = NOTHING
            if isinstance(piece, str):
                if piece:
                    watch.words_came()
                pieces.append(piece)
            events.append(value)
        if not pieces:
            came = f"its first is {shown(raw.decode())!r}" if raw else "there are none"
            raise foreign(
                f"{self.url} sent no event with the path answer ({_written(self.mapping.answer)}): "
                f"{came}. Correct 'answer' or 'stream' in {self._origin}."
            )
        return self._made("".join(pieces), events)

    def _made(self, answer: Any, values: list[Any]) -> SystemReply:
        mapping = self.mapping
        passages = self._last(values, "passages", mapping.passages)
        if passages is not None and mapping.passage is not None:
            paths = {
                part: path for part in type(mapping.passage).model_fields
                if (path := getattr(mapping.passage, part)) is not None
            }  # fmt: skip
            passages = [
                {part: found for part, path in paths.items()
                 if (found := self._found(one, f"passage.{part}", path)) is not NOTHING}
                for one in passages
            ]  # fmt: skip
        usage = {
            part: self._last(values, f"usage.{part}", path, needed=False)
            for part in type(mapping.usage).model_fields
            if (path := getattr(mapping.usage, part)) is not None
        }
        citations = self._last(values, "citations", mapping.citations)
        version = self._last(values, "version", mapping.version, needed=False)
        for name, value in (("passages", passages), ("citations", citations)):
            if value is not None and not isinstance(value, list):
                raise foreign(
                    f"{self.url} has no list at the path {name}, but {shown(str(value))!r}. "
                    f"Correct '{name}' in {self._origin}."
                )
        try:
            reply = made_reply(
                answer, passages, citations=citations, usage=usage, version=str(version or "")
            )
        except EndpointError as error:
            error.detail = f"{self.url}: {error.detail}"
            raise
        if reply.cost is None and self._price is not None and reply.counted:
            cost = self._price.cost(reply.input_tokens, reply.output_tokens)
            reply = replace(reply, cost=cost)
        return reply

    def _last(self, values: list[Any], name: str, paths: Paths, *, needed: bool = True) -> Any:
        """What a path finds in the last value that has it; ``None`` where it is not to be found."""
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
        if problem is not None and needed:
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
        if self.mapping.error is None:
            return
        try:
            said = _first(value, self.mapping.error)
        except PathError:
            return
        if said is not NOTHING and said:
            raise EndpointError(Reason.SERVER_ERROR, f"{self.url} says: {shown(str(said))}")

    def _json(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except ValueError:
            text = content.decode("utf-8", "replace")
            what = "HTML" if re.match(r"\s*<(!doctype|html)", text, re.I) else "what is no JSON"
            said = shown(re.sub(r"<[^>]*>", " ", text)) if what == "HTML" else shown(text)
            raise foreign(
                f"{self.url} answered with {what}: {said!r}. Check 'url' in {self._origin}."
            ) from None

    def _status(self, response: httpx2.Response) -> EndpointError:
        status = response.status_code
        text = self._hidden(response.content).decode("utf-8", "replace")
        said = shown(re.sub(r"<[^>]*>", " ", text)) or "it gave no reason"
        if status in (401, 403, 407):
            advice = self.key.advice if self.key else f"Add 'headers' to {self._origin}."
            detail = f"{self.url} does not let us in ({status}): {said} {advice}"
            return EndpointError(Reason.AUTH, detail)
        overloaded = status in _OVERLOADED
        reason = Reason.RATE_LIMITED if status == 429 else Reason.SERVER_ERROR
        if status in (408, 504):
            reason = Reason.TIMEOUT
        hint = f" Check 'url' in {self._origin}." if status in (404, 405) else ""
        return EndpointError(
            reason,
            f"{self.url} answered with status {status}: {said}{hint}",
            again=status >= 500 or status in (408, 429) or status in _PASSING,
            overloaded=overloaded,
            retry_after=retry_after(response.headers, response.content) if overloaded else None,
        )

    def _hidden(self, content: bytes) -> bytes:
        """What came over the wire, without secrets."""
        for secret in self._secrets:
            content = secret.hidden_in_bytes(content)
        return content


async def _events(response: httpx2.Response, server_sent: bool) -> AsyncIterator[str]:
    """The texts of a stream's events, up to ``[DONE]``."""
    data: list[str] = []
    async for line in response.aiter_lines():
        if not server_sent:
            if line.strip():
                yield line
            continue
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line.strip() and data:
            text, data = "\n".join(data), []
            if text.strip() == "[DONE]":
                return
            yield text
        elif line.lstrip().startswith("<"):
            yield line  # a page of HTML
    if data and data != ["[DONE]"]:
        yield "\n".join(data)


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


def _written(paths: Paths) -> str:
    return paths if isinstance(paths, str) else ", ".join(paths or ())


def _filled_url(url: str, request: Request) -> str:
    """The URL with the request's parts in it, each in the form that a URL can hold."""
    return re.sub(r"\{\{.*?\}\}", lambda one: quote(str(filled(one[0], request)), safe=""), url)


def _flat(value: Any) -> Any:
    """A parameter of a URL: lists and mappings as JSON."""
    return orjson.dumps(value).decode() if isinstance(value, list | dict) else value


def preset(name: str, **words: str) -> HttpMapping:
    """The mapping of a known API.

    Args:
        name: of a file in ``presets/``.
        **words: take the place of ``<NAME>`` in it.
    """
    import yaml

    text = (resources.files("ragassay.targets") / "presets" / f"{name}.yaml").read_text("utf-8")
    for key, value in words.items():
        text = text.replace(f"<{key}>", value)
    return HttpMapping.model_validate(yaml.safe_load(text))

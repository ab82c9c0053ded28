"""An endpoint that takes JSON over HTTP: connections, redirects and errors are the same for all
protocols.

A client's pool looks at every connection for every request, twice. With 64 of them that is a third
of the time that a call takes: several small pools are used in turn, and a request is made of the
parts that all share."""

from __future__ import annotations

import json
import urllib.request
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from ragassay.base.errors import UsageError
from ragassay.base.score import Reason
from ragassay.transport.endpoints.endpoint import CONNECT_S, Completion, Endpoint, EndpointError
from ragassay.transport.endpoints.endpoint_errors import (
    foreign,
    from_status,
    redirected,
    unreached,
)

if TYPE_CHECKING:
    import httpx2

_POOLS = 16


class HttpEndpoint(Endpoint):
    """``POST {url}{path}``. The key goes to this origin only. ``payload`` is the key of a reply
    that holds what was asked for, ``expected`` what messages call a good reply."""

    path: ClassVar[str] = ""
    payload: ClassVar[str]
    expected: ClassVar[str]
    _client: httpx2.AsyncClient | None = None
    _shared: Mapping[str, Any]

    @abstractmethod
    def headers(self) -> Mapping[str, str]:
        """The headers of the protocol, with the key."""

    @abstractmethod
    def rejectable(self, body: Mapping[str, Any]) -> Iterable[str]:
        """What of a request may be rejected: its parameters, and the mode."""

    @abstractmethod
    def read(self, reply: Any, sent: bytes) -> Completion:
        """What a reply (parsed JSON) to the body of a request says. An error such as `KeyError`
        means that it is not of this protocol."""

    def wire(self, body: bytes) -> tuple[str, bytes]:
        """Path and content of the request for a body: as they are, unless a protocol has the
        model's name in its path."""
        return self.path, body

    async def open(self) -> None:
        """Loads and makes the client, which may take a moment."""
        if self._client is None:
            self._client = http_client(self.url, self.role, self.shown)
            request = self._client.build_request("POST", self.url, headers=self.headers())
            del request.headers["content-length"]
            self._shared = {"headers": request.headers.raw, "extensions": request.extensions}

    async def send(self, body: bytes) -> Completion:
        """One request."""
        import httpx2

        await self.open()
        assert self._client is not None
        path, content = self.wire(body)
        request = httpx2.Request("POST", self.url + path, content=content, **self._shared)
        try:
            response = await self._client.send(request)
        except (httpx2.HTTPError, UnicodeError) as error:
            raise unreached(error, self.shown, self.key) from None
        if response.is_error:
            raise self._status(response.status_code, response, body)
        return self._completion(response, body)

    async def close(self) -> None:
        """Ends the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _completion(self, response: httpx2.Response, sent: bytes) -> Completion:
        content = self.key.hidden_in_bytes(response.content)
        try:
            reply = parsed(content)
            if self.payload not in reply and reply.get("error"):
                # Some proxies pass a provider's error on with status 200.
                code = reply["error"].get("code")
                status = code if isinstance(code, int) and 400 <= code < 600 else 502
                raise self._status(status, response, sent)
            return self.read(reply, sent)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            why = str(error) if isinstance(error, Unsound) else ""
            raise foreign(content, self.shown, self.expected, why) from None

    def _status(self, status: int, response: httpx2.Response, sent: bytes) -> EndpointError:
        body: Mapping[str, Any] = orjson.loads(sent)
        error = from_status(
            status,
            self.key.hidden_in_bytes(response.content),
            headers=response.headers,
            url=self.shown,
            model=body["model"],
            key=self.key,
            sent=set(self.rejectable(body)),
            role=self.role,
        )
        # After the timeout of a gateway nobody knows whether the model did the work.
        error.free = error.reason is not Reason.TIMEOUT
        return error


class Unsound(ValueError):  # noqa: N818 - it says what is the case
    """A reply is JSON and not of the expected form; the message says what is wrong."""


def parsed(content: bytes) -> Any:
    """The value of a reply in JSON, or a `ValueError`."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return json.loads(content)  # some servers write NaN, which is no JSON


def http_client(url: str, role: str, shown: str) -> httpx2.AsyncClient:
    """A client with several pools of connections that take turns; a redirect to another origin is
    an `EndpointError`."""
    import httpx2

    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    own_origin = _origin(httpx2.URL(url))

    class Pools(httpx2.AsyncBaseTransport):
        def __init__(self) -> None:
            verify = httpx2.create_ssl_context()
            made = (httpx2.AsyncHTTPTransport(verify=verify, limits=limits) for _ in range(_POOLS))
            self._pools = list(made)

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            self._pools.append(self._pools.pop(0))
            return await self._pools[0].handle_async_request(request)

        async def aclose(self) -> None:
            for pool in self._pools:
                await pool.aclose()

    async def stay(request: httpx2.Request) -> None:
        other = _origin(request.url)
        if other != own_origin:
            there = httpx2.URL(scheme=other[0], host=other[1], port=other[2])
            raise redirected(shown, there, role)

    return httpx2.AsyncClient(
        # Only the client's own pool knows a configured proxy.
        transport=None if urllib.request.getproxies() else Pools(),
        limits=limits,
        # The caller has the deadline: a timer for each read and write is a twentieth of a call.
        timeout=httpx2.Timeout(None, connect=CONNECT_S),
        headers={"Content-Type": "application/json", "Accept": "application/json"},
        follow_redirects=True,
        event_hooks={"request": [stay]},
    )


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def usage_of(reply: Mapping[str, Any], name: str = "usage") -> Mapping[str, Any]:
    """What a reply says about tokens, under the name; empty where it says nothing."""
    usage = reply.get(name)
    return usage if isinstance(usage, Mapping) else {}


def needs_client() -> None:
    """Says at once, with a `UsageError`, that the package is not installed."""
    if find_spec("httpx2") is None:
        raise UsageError("An endpoint needs the httpx2 package: pip install 'ragassay[llm]'.")

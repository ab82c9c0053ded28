"""The page of reviews, served, and a browser that looks at it."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragassay.review.answer_labels import AnswerLabels
from ragassay.review.review_store import ReviewStore


class Served:
    """The page of a folder on a port of its own."""

    def __init__(self, folder: Path, reviewer: str = "",
                 labels: AnswerLabels | None = None) -> None:  # fmt: skip
        import uvicorn

        from ragassay.review.review_page import create_review_app

        self.store = ReviewStore(folder)
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        app = create_review_app(self.store, reviewer, labels)
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        self._thread = threading.Thread(target=self._server.run, args=([listener],))
        self._thread.start()
        while not self._server.started:
            time.sleep(0.02)

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join()


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    made: list[Served] = []

    def start(folder: Path, reviewer: str = "", labels: AnswerLabels | None = None) -> Served:
        made.append(Served(folder, reviewer, labels))
        return made[-1]

    yield start
    for one in made:
        one.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Opens pages; at the end none has asked another server, run what is foreign or met an error.

    A conflict and a refusal are statuses that the browser's console shows.
    """
    trouble: list[str] = []
    pages = []

    def opened(served: Served, path: str = "/") -> Any:
        page = chromium.new_page(viewport={"width": 1280, "height": 900}, base_url=served.url)
        page.set_default_timeout(15_000)
        page.on("request", lambda r: None if r.url.startswith(served.url)
                else trouble.append(r.url))  # fmt: skip
        page.on("console", lambda m: trouble.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        pages.append(page)
        page.goto(path)
        return page

    yield opened
    for page in pages:
        page.close()
    assert [one for one in trouble if not one.startswith("data:") and "(Conflict)" not in one] == []

from collections.abc import Iterator
from typing import Any

import pytest

from served_pages import Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("pages"))
    yield made
    made.close()


@pytest.fixture
def page(chromium: Any, served: Served) -> Iterator[Any]:
    """A page; at the end it may have asked no other server, run nothing foreign, met no error."""
    trouble: list[str] = []
    found = chromium.new_page(viewport={"width": 1280, "height": 900}, base_url=served.url)
    found.on("request", lambda r: None if r.url.startswith(served.url) else trouble.append(r.url))
    found.on("console", lambda m: trouble.append(m.text) if m.type == "error" else None)
    found.on("pageerror", lambda error: trouble.append(str(error)))
    found.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
    yield found
    found.close()
    assert [one for one in trouble if not one.startswith("data:")] == []

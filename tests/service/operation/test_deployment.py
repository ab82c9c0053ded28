"""The files that show how the service is deployed fit the service."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy.engine import make_url

from ragassay.cli.command import COMMANDS
from ragassay.cli.command_line import app
from ragassay.service.store.database import Store
from ragassay.service.store.tokens import create_token
from service_process import serving

ROOT = Path(__file__).resolve().parents[3]
COMPOSE = ROOT / "examples" / "service" / "compose.yaml"
PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
NAME = "rag.example.org"


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """The services of the example, with the values that variables have by default."""
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", COMPOSE.read_text(encoding="utf-8"))
    described = yaml.safe_load(text)
    volumes = {
        volume.partition(":")[0]
        for one in described["services"].values()
        for volume in one.get("volumes", ())
    }
    assert volumes == set(described["volumes"])
    return dict(described["services"])


def test_the_commands_of_the_compose_file_are_commands_of_ours(services: dict[str, Any]) -> None:
    ours = {name: one for name, one in services.items() if "build" in one}
    assert set(ours) == {"service", "worker"}
    for one in ours.values():
        COMMANDS[one["command"][0]].declare()
        function, bound, _ = app.parse_args(one["command"], exit_on_error=False, print_error=False)
        assert function.__name__ == one["command"][0]
        url = make_url(bound.arguments["store"])
        database = services[str(url.host)]
        variables = database["environment"]
        assert (url.username, url.database) == (
            variables["POSTGRES_USER"],
            variables["POSTGRES_DB"],
        )
        assert one["environment"]["PGPASSWORD"] == variables["POSTGRES_PASSWORD"]
        assert one["depends_on"] == {url.host: {"condition": "service_healthy"}}
        assert (COMPOSE.parent / one["build"] / "Dockerfile").is_file()
    published = ours["service"]["ports"][0].rpartition(":")[2]
    assert f"EXPOSE {published}" in (ROOT / "Dockerfile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory, forked_module: None) -> Iterator[Any]:
    """Asks a service that has a name as a proxy does that sets some headers."""
    folder = tmp_path_factory.mktemp("service") / "data"
    store = Store(folder)
    _, token = create_token(store, "me", "write")
    store.close()
    with serving(folder, "--no-worker", "--name", NAME, "--behind-proxy") as service:

        def ask(origin: str, headers: dict[str, str], name: str) -> int:
            url = f"http://127.0.0.1:{service.port}/api/v1/projects"
            sent = {"Authorization": f"Bearer {token}", "Origin": origin, **headers}
            sent["Content-Type"] = "application/json"
            body = json.dumps({"name": name}).encode()
            try:
                with urllib.request.urlopen(urllib.request.Request(url, body, sent)) as reply:
                    return int(reply.status)
            except urllib.error.HTTPError as error:
                return error.code

        yield ask


def test_a_page_behind_the_proxy_of_the_example_may_ask_and_no_other(behind: Any) -> None:
    (nginx,) = re.findall(r"^```nginx\n(.*?)^```", PAGE, re.M | re.S)
    values = {"$http_host": NAME, "$scheme": "https", "$remote_addr": "192.0.2.1"}
    headers = {
        name: values[value] for name, value in re.findall(r"proxy_set_header (\S+) (\S+);", nginx)
    }
    assert behind(f"https://{NAME}", headers, "a") == 201
    assert behind("https://elsewhere.example.org", headers, "b") == 403
    # What Caddy sends by itself.
    caddy = {"Host": NAME, "X-Forwarded-Host": NAME, "X-Forwarded-Proto": "https"}
    assert behind(f"https://{NAME}", caddy, "c") == 201
    # A proxy that keeps the browser's name for itself.
    assert behind(f"https://{NAME}", {}, "d") == 403

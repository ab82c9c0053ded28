"""The files that show how the service is deployed fit the service."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy.engine import make_url

from ragassay.cli.command import COMMANDS
from ragassay.cli.command_line import app

ROOT = Path(__file__).resolve().parents[3]
COMPOSE = ROOT / "examples" / "service" / "compose.yaml"


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

"""The files that show how the service is deployed fit it: compose file, image, sample."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy.engine import make_url

from ragassay.cli.command import COMMANDS
from ragassay.cli.command_line import app
from ragassay.service.sample_project import create_sample
from ragassay.service.store.database import Store
from ragassay.service.store.projects import create_project
from service_process import serving

ROOT = Path(__file__).resolve().parents[3]
COMPOSE = ROOT / "examples" / "service" / "compose.yaml"


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """The services of the example, with the values that variables have by default."""
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", COMPOSE.read_text(encoding="utf-8"))
    described = yaml.safe_load(text)
    mounted = [at for one in described["services"].values() for at in one.get("volumes", ())]
    assert {one.partition(":")[0] for one in mounted} == set(described["volumes"])
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
        names = [variables[f"POSTGRES_{name}"] for name in ("USER", "DB")]
        assert [url.username, url.database] == names
        assert one["environment"]["PGPASSWORD"] == variables["POSTGRES_PASSWORD"]
        assert one["depends_on"] == {url.host: {"condition": "service_healthy"}}
        assert (COMPOSE.parent / one["build"] / "Dockerfile").is_file()
    published = ours["service"]["ports"][0].rpartition(":")[2]
    assert f"EXPOSE {published}" in (ROOT / "Dockerfile").read_text(encoding="utf-8")


@pytest.mark.usefixtures("forked")
def test_the_service_begins_with_a_sample_and_finished_reports(here) -> None:
    folder = Path("data")  # relative, as the default is
    with serving(folder, "--sample", "--no-worker") as service:
        assert service.ask("GET", "health")["status"] == "ok"
        (project,) = service.ask("GET", "projects")
        assert project["name"] == "sample"
        (task,) = service.ask("GET", f"projects/{project['id']}/tasks")
        reports = service.ask("GET", f"tasks/{task['id']}/reports")[::-1]
        assert [one["name"] for one in reports] == ["hybrid", "keyword"]
        assert [one["status"] for one in reports] == ["completed", "completed"]
        assert reports[0]["headline"]["ndcg"]["n_scored"] > 10
        new, old = (one["id"] for one in reports)
        found = service.ask("GET", f"comparisons?new={new}&old={old}")
        assert found["differences"] and found["n_common"] == 72
    with serving(folder, "--sample", "--no-worker") as service:  # begins where it was
        assert service.ask("GET", "projects") == [project]


def test_other_projects_are_no_sample(store: Store) -> None:
    create_project(store, "mine")
    assert [len(create_sample(store)) for _ in range(2)] == [2, 0]


def test_the_image_runs_as_nobody_special_and_says_whether_it_is_well() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"\\\n\s*", "", re.sub(r"(?m)^#.*\n", "", text)).splitlines()
    found = [line.split(" ", 1) for line in lines if line]
    last = dict(found)  # what stands last counts
    known = "FROM WORKDIR RUN COPY ENV USER VOLUME EXPOSE HEALTHCHECK ENTRYPOINT CMD"
    assert last.keys() <= {*known.split()}
    assert last["USER"] == "10001" and "--uid 10001" in last["RUN"]
    assert last["FROM"] == "python:3.11-slim"
    assert json.loads(last["ENTRYPOINT"]) == ["ragassay"]
    assert json.loads(last["CMD"])[:2] == ["serve", last["VOLUME"]]
    check = json.loads(last["HEALTHCHECK"].partition("CMD ")[2])
    assert f"http://127.0.0.1:{last['EXPOSE']}/api/v1/health" in check[-1]
    compile(check[-1], "HEALTHCHECK", "exec")
    for name, words in found:
        if name == "COPY" and "--from" not in words:
            sources = words.split()[:-1]
            assert all((ROOT / one).exists() for one in sources)
            ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
            assert all(f"!{one}" in ignored for one in sources)

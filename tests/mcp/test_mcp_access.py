"""Who may use the tools at ``/mcp`` of the service, and which paths they reach."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="needs the extra 'mcp'")
pytest.importorskip("fastapi", reason="needs the extra 'service'")

from starlette.testclient import TestClient

from ragassay.base.errors import ArgumentError
from ragassay.cli.command_line import call
from ragassay.mcp.agent_tools import AllowedFolders
from ragassay.mcp.mcp_server import McpOptions
from ragassay.service.application import ServiceOptions, create_app
from ragassay.service.store.database import Store
from ragassay.service.store.projects import create_project
from ragassay.service.store.tokens import create_token

INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {},
               "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "store")
    yield made
    made.close()


def status(store: Store, folder: Path | None, **headers: str) -> int:
    app = create_app(store, ServiceOptions(mcp=McpOptions((folder,)) if folder else None))
    with TestClient(app, base_url="http://127.0.0.1:8765", client=("127.0.0.1", 1)) as client:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return client.post("/mcp", json=INITIALIZE, headers=ACCEPT | sent).status_code


def test_without_tokens_this_machine_may_and_no_page_of_another_site(store, tmp_path) -> None:
    assert status(store, tmp_path) == 200
    assert status(store, None) == 404, "there are no tools where no folder was named"
    assert status(store, tmp_path, Origin="https://evil.example") == 403
    assert status(store, tmp_path, Host="evil.example") == 403


def test_with_tokens_only_those_that_write_everywhere_may(store: Store, tmp_path: Path) -> None:
    project = create_project(store, "one")
    tokens = {
        "writes": create_token(store, "a", scope="write")[1],
        "reads": create_token(store, "b", scope="read")[1],
        "one project": create_token(store, "c", scope="write", project_id=project.id)[1],
    }
    found = {
        name: status(store, tmp_path, Authorization=f"Bearer {value}")
        for name, value in tokens.items()
    }
    assert found == {"writes": 200, "reads": 403, "one project": 403}
    assert status(store, tmp_path) == 401


def test_a_person_names_folders_judge_and_budget(here: Path, monkeypatch) -> None:
    taken: list[McpOptions | None] = []

    class Ended:
        def __init__(self, options: McpOptions) -> None:
            taken.append(options)

        def run(self, transport: str) -> None:
            assert transport == "stdio"

    app = "ragassay.service.application.create_app"
    monkeypatch.setattr(app, lambda store, options: taken.append(options.mcp))
    monkeypatch.setattr("ragassay.cli.serve_commands.run_server", lambda *_, **__: None)
    monkeypatch.setattr("ragassay.mcp.mcp_server.create_server", Ended)
    folders = here / "a", here / "b"
    for folder in folders:
        folder.mkdir()
    serve = ["serve", "store", "--port", "0", "--no-worker"]
    paid = ["--mcp-judge", "openai:gpt-4o", "--mcp-budget", "5.00"]
    for words in (
        ["mcp", *map(str, folders), "--judge", "openai:gpt-4o", "--budget", "5.00"],
        [*serve, "--mcp", str(folders[0]), "--mcp", str(folders[1]), *paid], serve, ["mcp"],
    ):  # fmt: skip
        assert call(words) == 0
    settings = {"judge": ["openai:gpt-4o"], "budget": "5.00"}
    named = McpOptions(folders, settings)
    assert taken == [named, named, None, McpOptions((here,))]
    assert [call([*serve, *paid[at : at + 2]]) for at in (0, 2)] == [2, 2]
    assert call(["mcp", "missing"]) == 2


@pytest.mark.parametrize("path", ["a\0b", "circle/a", "..", "/"])
def test_a_path_that_leads_nowhere_is_refused(path: str, tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(ArgumentError, match=r"data: .* (lies outside|there is no file)"):
        AllowedFolders([tmp_path]).existing(path, "data")


def test_a_relative_path_is_that_of_the_first_folder_that_has_it(tmp_path: Path) -> None:
    one, other = tmp_path / "a", tmp_path / "b"
    (other / "within").mkdir(parents=True)
    one.mkdir()
    folders = AllowedFolders([one, other])
    (other / "x").touch()
    assert folders.existing("x", "data") == other / "x"
    assert folders.writable("new", "output") == one / "new"
    (one / "x").touch()
    assert folders.existing("x", "data") == one / "x"
    (other / "within/link").symlink_to(one / "x")
    assert folders.existing("within", "data") == other / "within"
    (other / "within/out").symlink_to(tmp_path)
    with pytest.raises(ArgumentError, match="leads out of"):
        folders.existing("within", "data")

"""``ragassay token``: who may use a service."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated, Literal

from cyclopts import App, Parameter

from ragassay.cli.output import show
from ragassay.cli.serving.serve_commands import open_store
from ragassay.errors import UsageError

WITHOUT_TOKENS = "only this machine is served, and it needs no token"

token = App(
    name="token",
    help="Create, list and revoke the tokens of a service.",
    help_format="markdown",
)

At = Annotated[
    str | None, Parameter(help="Folder or database of the service. Default: ragassay-service.")
]


@token.command
def create(
    name: str,
    /,
    *,
    scope: Literal["read", "write"] = "write",
    project: str | None = None,
    store: At = None,
) -> None:
    """Make a token and print it, once: only its hash is kept.

    Args:
        name: Who has it, for people.
        scope: What it allows; write includes reading.
        project: Name of the only project that it is for (default: all).
    """
    # A service for others needs a token before it starts.
    with closing(open_store(store)) as opened:
        from ragassay.service.store import create_token, list_projects

        key = None
        if project is not None:
            key = next((one.id for one in list_projects(opened) if one.name == project), None)
            if key is None:
                raise UsageError(f"There is no project {project!r}.")
        made, value = create_token(opened, name, scope, key)
    show.lines(value)
    show.console(stderr=True).print(
        f"The token {made.id} of {name}. It is shown this once; send it as 'Authorization: Bearer "
        "TOKEN'.",
        markup=False,
    )


@token.command(name="list")
def listing(*, store: At = None) -> None:
    """List the tokens: id, name, what they allow. The tokens themselves are not kept."""
    with closing(open_store(store, must_exist=True)) as opened:
        from ragassay.service.store import list_projects, list_tokens

        names = {one.id: one.name for one in list_projects(opened)}
        tokens = list_tokens(opened)
    if not tokens:
        show.lines(f"There are no tokens: {WITHOUT_TOKENS}.")
    for one in tokens:
        where = "all projects" if one.project_id is None else names.get(one.project_id, "?")
        show.lines(f"{one.id}  {one.name}  {one.scope}  {where}")


@token.command
def revoke(key: str, /, *, store: At = None) -> None:
    """Revoke a token: from now on it allows nothing.

    Args:
        key: The id of the token, as 'ragassay token list' prints it.
    """
    with closing(open_store(store, must_exist=True)) as opened:
        from ragassay.service.store import has_tokens, revoke_token

        revoke_token(opened, key)
        is_last = not has_tokens(opened)
    show.lines(f"Revoked. No token is left: {WITHOUT_TOKENS}." if is_last else "Revoked.")

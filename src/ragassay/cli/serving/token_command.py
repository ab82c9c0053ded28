"""``ragassay token``: who may use a service."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Annotated, Literal

from cyclopts import App, Parameter, validators

from ragassay.base.errors import UsageError
from ragassay.cli.output import show
from ragassay.cli.serving.serve_commands import open_store

LEFT_CLOSED = (
    "No token is left, and every request needs one: make one ('ragassay token create NAME'), or "
    "serve this machine without ('ragassay serve --open')."
)

token = App(
    name="token",
    help="Create, list and revoke the tokens of a service.",
    help_format="markdown",
)

DAY_S = 86_400.0

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
    days: Annotated[float | None, Parameter(validator=validators.Number(gt=0))] = None,
    store: At = None,
) -> None:
    """Make a token and print it, once: only its hash is kept.

    Args:
        name: Who has it, for people.
        scope: What it allows; write includes reading.
        project: Name of the only project that it is for (default: all).
        days: Days until it expires (default: never).
    """
    # A service for others needs a token before it starts.
    with closing(open_store(store)) as opened:
        from ragassay.service.store.projects import list_projects
        from ragassay.service.store.tokens import create_token

        key, expires = None, None if days is None else time.time() + days * DAY_S
        if project is not None:
            key = next((one.id for one in list_projects(opened) if one.name == project), None)
            if key is None:
                raise UsageError(f"There is no project {project!r}.")
        made, value = create_token(opened, name, scope, key, expires)
    show.lines(value)
    show.console(stderr=True).print(
        f"The token {made.id} of {name}. It is shown this once; send it as 'Authorization: Bearer "
        "TOKEN'.",
        markup=False,
    )


@token.command(name="list")
def listing(*, store: At = None) -> None:
    """List the tokens: id, name, what they allow, until when, and when they were last used. The
    tokens themselves are not kept."""
    with closing(open_store(store, must_exist=True)) as opened:
        from ragassay.service.store.projects import list_projects
        from ragassay.service.store.report_files import shown_time
        from ragassay.service.store.tokens import is_closed, list_tokens

        names = {one.id: one.name for one in list_projects(opened)}
        tokens, closed = list_tokens(opened), is_closed(opened)
    if not tokens:
        show.lines(LEFT_CLOSED if closed else "There are no tokens: only this machine is served.")
    for one in tokens:
        where = "all projects" if one.project_id is None else names.get(one.project_id, "?")
        until = "" if one.expires is None else f", until {shown_time(round(one.expires))}"
        used = "never used" if one.used is None else f"last used {shown_time(round(one.used))}"
        expired = "  (expired)" if one.is_over else ""
        show.lines(f"{one.id}  {one.name}  {one.scope}  {where}{until}  {used}{expired}")


@token.command
def revoke(key: str, /, *, store: At = None) -> None:
    """Revoke a token: from now on it allows nothing.

    Args:
        key: The id of the token, as 'ragassay token list' prints it.
    """
    with closing(open_store(store, must_exist=True)) as opened:
        from ragassay.service.store.schema import tokens
        from ragassay.service.store.tokens import list_tokens

        opened.remove(tokens, key)
        is_last = not list_tokens(opened)
    show.lines(f"Revoked. {LEFT_CLOSED}" if is_last else "Revoked.")

"""Create, list and revoke the tokens of a service.

```sh
ragassay token create ann
```
"""

from __future__ import annotations

import time
from contextlib import closing

from ragassay.base.errors import UsageError
from ragassay.cli import show
from ragassay.cli.command import Given, command
from ragassay.cli.serve_commands import open_store
from ragassay.cli.show import console

LEFT_CLOSED = (
    "No token is left, and every request needs one: make one ('ragassay token create NAME'), or "
    "serve this machine without ('ragassay serve --open')."
)

DAY_S = 86_400.0


@command("token create")
def create(given: Given) -> None:
    """Make a token and print it, once: only its hash is kept.

    ```sh
    ragassay token create ann --scope read --days 90
    ```
    """
    # A service for others needs a token before it starts.
    with closing(open_store(given.store)) as opened:
        from ragassay.service.store.projects import list_projects
        from ragassay.service.store.tokens import create_token

        key, expires = None, None if given.days is None else time.time() + given.days * DAY_S
        if given.project is not None:
            key = next((p.id for p in list_projects(opened) if p.name == given.project), None)
            if key is None:
                raise UsageError(f"There is no project {given.project!r}.")
        made, value = create_token(opened, given.name, given.scope, key, expires)
    show.lines(value)
    console(stderr=True).print(
        f"The token {made.id} of {given.name}. It is shown only once; send it as "
        "'Authorization: Bearer TOKEN'.",
        markup=False,
    )


@command("token list")
def listing(given: Given) -> None:
    """List the tokens: id, name, what they allow, until when, and when they were last used.

    ```sh
    ragassay token list
    ```
    """
    with closing(open_store(given.store, must_exist=True)) as opened:
        from ragassay.service.store.projects import list_projects
        from ragassay.service.store.report_files import shown_time
        from ragassay.service.store.tokens import is_closed, list_tokens

        names = {project.id: project.name for project in list_projects(opened)}
        tokens, closed = list_tokens(opened), is_closed(opened)
    if not tokens:
        show.lines(LEFT_CLOSED if closed else "There are no tokens: only this machine is served.")
    for token in tokens:
        where = "all projects" if token.project_id is None else names.get(token.project_id, "?")
        until = "" if token.expires is None else f", until {shown_time(round(token.expires))}"
        used = "never used" if token.used is None else f"last used {shown_time(round(token.used))}"
        expired = "  (expired)" if token.is_over else ""
        show.lines(f"{token.id}  {token.name}  {token.scope}  {where}{until}  {used}{expired}")


@command("token revoke")
def revoke(given: Given) -> None:
    """Revoke a token.

    ```sh
    ragassay token revoke 3f2a
    ```
    """
    with closing(open_store(given.store, must_exist=True)) as opened:
        from ragassay.service.store.schema import tokens
        from ragassay.service.store.tokens import list_tokens

        opened.remove(tokens, given.key)
        is_last = not list_tokens(opened)
    show.lines(f"Revoked. {LEFT_CLOSED}" if is_last else "Revoked.")

"""``ragassay backup``: a copy of a service's store, made while it is served."""

from __future__ import annotations

from pathlib import Path

from ragassay.base.errors import UsageError
from ragassay.cli.output import show
from ragassay.cli.serving.serve_commands import needs_service


def backup(store: str, target: Path | None = None, /) -> None:
    """Copy the store of a service into a new folder, while it is served.

    The copy is a store itself: 'ragassay serve TARGET' serves it, and to restore it is to put it in
    the place of the folder that was lost (docs/operating.md). A PostgreSQL database is backed up by
    its own pg_dump.

    ```sh
    ragassay backup data
    ragassay backup data /backups/monday
    ```

    Args:
        store: The folder of 'ragassay serve'.
        target: A new folder (default: one beside the store, named by the time).
    """
    needs_service()
    if "://" in store:
        raise UsageError(
            "A PostgreSQL database is backed up by its own tool, also while it is served: "
            "pg_dump --format=custom --file=FILE postgresql://USER@HOST/DATABASE"
        )
    from ragassay.service.operation.backup import back_up

    show.lines(f"backup: {back_up(Path(store), target)}")

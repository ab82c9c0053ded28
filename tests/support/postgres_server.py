"""A PostgreSQL server of the tests' own, in a temporary folder."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def binaries() -> Path | None:
    """Where the programs of PostgreSQL are; ``None`` where they are not installed."""
    if BINARIES:
        return BINARIES[-1]
    found = shutil.which("initdb")
    return None if found is None else Path(found).parent


class PostgresServer:
    """A context manager: starts a server; ``new_database`` gives the address of an empty one, and
    ``emptied_database`` that of one for a test alone."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        # PostgreSQL does not run as root.
        self._user = {"user": "postgres"} if os.getuid() == 0 else {}
        self._count = 0
        self._emptied = ""

    def __enter__(self) -> "PostgresServer":
        self._folder = Path(tempfile.mkdtemp(prefix="ragassay-postgres-"))
        if self._user:
            shutil.chown(self._folder, "postgres")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._run("initdb", "-D", "data", "-U", "tester", "-A", "trust", "--no-sync")
        stop = f'"{self._programs / "pg_ctl"}" -D "{self._folder / "data"}" -m immediate stop'
        # It reads until this process closes the pipe, or is killed: then it ends the server.
        self._watcher = subprocess.Popen(
            ["sh", "-c", f'cat; cd "{self._folder}"; {stop}; cd /; rm -rf "{self._folder}"'],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, **self._user,  # type: ignore[call-overload]
        )  # fmt: skip
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._watcher.communicate()

    def start(self) -> None:
        """Starts the server, and waits for it."""
        options = f"-p {self.port} -k {self._folder} -c fsync=off -c listen_addresses=127.0.0.1"
        self._run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")

    def stop(self) -> None:
        """Stops it at once, as a crash would."""
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "stop")

    def new_database(self) -> str:
        """The address of a new, empty database."""
        self._count += 1
        name = f"test{self._count}"
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "tester", name)
        return f"postgresql://tester@127.0.0.1:{self.port}/{name}"

    def emptied_database(self) -> str:
        """The address of an empty database: always the same one, as making one takes as long as
        many a test. Who had it before is thrown out."""
        from psycopg import connect, sql

        if not self._emptied:
            self._emptied = self.new_database()
            return self._emptied
        with connect(self._emptied, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            found = connection.execute(
                "SELECT nspname FROM pg_namespace "
                "WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'"
            ).fetchall()
            for (name,) in found:
                drop = sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name))
                connection.execute(drop)
            connection.execute("CREATE SCHEMA public AUTHORIZATION pg_database_owner")
        return self._emptied

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [str(self._programs / program), *words],
            cwd=self._folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, check=False, **self._user,  # type: ignore[call-overload]
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

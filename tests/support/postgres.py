"""A PostgreSQL server of its own for tests: a cluster on a UNIX socket in a temporary directory."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import psycopg
import pytest

PLACES = ("/usr/lib/postgresql/15/bin", *os.environ.get("PATH", "").split(os.pathsep))
USER = "nobody"
"""The user that runs the server where root runs the tests, because it refuses root."""

SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",  # processes are killed here, never the machine
    "max_connections": "20",
    "log_min_messages": "warning",
}


def _program(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join(PLACES))


def installed() -> bool:
    """Whether there is a PostgreSQL to start."""
    return _program("initdb") is not None and (os.geteuid() != 0 or _program("setpriv") is not None)


needed = pytest.mark.skipif(
    not installed(),
    reason="no PostgreSQL: apt-get install postgresql-15, or put its initdb on the PATH",
)
"""Marks tests that need a server."""


class Server:
    """Runs from entering to leaving; the socket's directory has a path short enough for it."""

    def __init__(self) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="pg", dir="/tmp")
        self.directory = Path(self._place.name)
        self._data = self.directory / "data"
        self._databases = 0

    @property
    def running(self) -> bool:
        return (self._data / "postmaster.pid").exists()

    def database(self) -> str:
        """The URL of a new database."""
        self._databases += 1
        name = f"test{self._databases}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def url(self, name: str) -> str:
        return f"postgresql://{USER}@/{name}?host={self.directory}"

    def connect(self) -> socket.socket:
        """A connection to its socket, for a relay."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(self.directory / ".s.PGSQL.5432"))
        return connection

    def execute(self, sql: str, url: str | None = None) -> list[tuple[Any, ...]]:
        """Run a statement beside the daemons; the rows, if it has some."""
        with psycopg.connect(url or self.url("postgres"), autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def start(self) -> None:
        settings = " ".join(f"-c {name}={value!r}" for name, value in SETTINGS.items())
        options = f"-k {self.directory} {settings}"
        log = str(self.directory / "log")
        self._run("pg_ctl", "start", "-w", "-D", str(self._data), "-l", log, "-o", options)

    def stop(self, mode: str = "immediate") -> None:
        """End the server and all connections; ``immediate`` is a crash, ``fast`` an orderly end."""
        self._run("pg_ctl", "stop", "-w", "-D", str(self._data), "-m", mode)

    def __enter__(self) -> Self:
        try:
            if os.geteuid() == 0:
                owner = pwd.getpwnam(USER)
                os.chown(self.directory, owner.pw_uid, owner.pw_gid)
            self._run(
                "initdb", "-D", str(self._data), "-U", USER, "-A", "trust", "-E", "UTF8", "-N"
            )
            self.start()
        except BaseException:
            self._place.cleanup()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self.running:
                self.stop()
        finally:
            self._place.cleanup()

    def _run(self, program: str, *arguments: str) -> None:
        path = _program(program)
        assert path is not None
        done = subprocess.run(
            [*_unprivileged(), path, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            cwd=self.directory,
            env={"LC_ALL": "C.UTF-8", "PATH": os.environ.get("PATH", os.defpath)},
            timeout=60,
            check=False,
        )
        assert 0 == done.returncode, f"{program}: {(done.stdout or b'see its log').decode()}"


def _unprivileged() -> Sequence[str]:
    if os.geteuid() != 0:
        return ()
    owner = pwd.getpwnam(USER)
    ids = (f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups")
    return (_program("setpriv") or "setpriv", *ids)

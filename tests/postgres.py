"""A PostgreSQL server of the tests' own: started in a folder of its own, stopped when they are done.

The server refuses to run as root; where the tests do, it runs as the user of Debian's package.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

#: holds what has a meaning in a URL
PASSWORD: Final = "gr@de:5/9%?#"  # noqa: S105 - of a server that lives for seconds
ENCODED: Final = quote(PASSWORD, safe="")


@pytest.fixture(scope="session", name="postgres")
def a_server() -> Iterator[str]:
    """Yield the URL of a database, password included; skip where there is no PostgreSQL."""
    folder = _programs()
    if folder is None:
        pytest.skip(
            "no PostgreSQL: neither on PATH nor under /usr/lib/postgresql (`make test` installs it)"
        )
    with _running(folder) as port:
        yield f"postgresql://judge:{ENCODED}@127.0.0.1:{port}/postgres"


def tells_the_password(text: object) -> bool:
    """Say whether a text holds the password, as it is or as it stands in a URL."""
    return any(secret in str(text) for secret in (PASSWORD, ENCODED))


def _programs() -> Path | None:
    """Return the folder of the server's programs, the newest version's where there are several."""
    path = shutil.which("initdb")
    if path is not None:
        return Path(path).resolve().parent
    installed = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3])
    )
    return installed[-1].parent if installed else None


@contextmanager
def _running(programs: Path) -> Iterator[int]:
    place = Path(tempfile.mkdtemp(prefix="rankstone-postgres-"))
    password = place / "password"
    password.write_text(PASSWORD, encoding="utf-8")
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        for path in (place, password):
            os.chown(path, user.pw_uid, user.pw_gid)

    def run(program: str, *arguments: str) -> None:
        output = subprocess.run(
            [programs / program, "-D", str(place / "data"), *arguments],
            cwd=place,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **as_user,
        )
        assert output.returncode == 0, output.stdout

    port = _free_port()
    try:
        secret = (
            "--auth",
            "scram-sha-256",
            "--username",
            "judge",
            "--pwfile",
            str(password),
        )
        run("initdb", "--encoding", "UTF8", "--no-locale", "--no-sync", *secret)
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -k {place} -F"
        run(
            "pg_ctl",
            "start",
            "--wait",
            "--silent",
            "--log",
            str(place / "log"),
            "-o",
            settings,
        )
        try:
            yield port
        finally:
            run("pg_ctl", "stop", "--wait", "--silent", "--mode", "immediate")
    finally:
        shutil.rmtree(place)


def _free_port() -> int:
    with socket.socket() as result:
        result.bind(("127.0.0.1", 0))
        port: int = result.getsockname()[1]
        return port

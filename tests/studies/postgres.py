"""A throw-away PostgreSQL server: its own cluster, in its own folder, on its own port."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from tests.waiting import HANG

REASON = "PostgreSQL is not installed (make postgresql)"


def programs() -> Path | None:
    """Where initdb and pg_ctl are, if they are anywhere."""
    result = shutil.which("initdb")
    positions = [Path(result).resolve().parent] if result else []
    positions += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next(
        (
            position
            for position in positions
            if (position / "initdb").exists() and (position / "pg_ctl").exists()
        ),
        None,
    )


def missing_postgresql() -> str | None:
    """Why nothing can be tried on PostgreSQL here, if it cannot."""
    return REASON if programs() is None else None


class Postgres:
    """A cluster that is made, started, stopped, restarted and removed; as the user postgres where
    we are root.
    """

    def __init__(self) -> None:
        self._programs = programs()
        self.folder = Path(tempfile.mkdtemp(prefix="belman-postgres-"))
        self.port = free_port()
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        self._run(
            "initdb",
            "-D",
            self.data,
            "-A",
            "trust",
            "-U",
            "belman",
            "--no-sync",
            "-E",
            "UTF8",
            "--locale=C",
        )
        self.start()

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    @property
    def url(self) -> str:
        return f"postgresql://belman@127.0.0.1:{self.port}/postgres"

    def database(self, name: str) -> str:
        """The URL of a new database beside the first."""
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "belman", name)
        return f"postgresql://belman@127.0.0.1:{self.port}/{name}"

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._run(
            "pg_ctl",
            "-D",
            self.data,
            "-w",
            "-t",
            str(int(HANG)),
            "-l",
            str(self.folder / "log"),
            "-o",
            options,
            "start",
        )

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def _run(self, program: str, *arguments: str) -> None:
        assert self._programs is not None, REASON
        before = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        command = [*before, str(self._programs / program), *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=HANG, check=False, cwd=self.folder
        )
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"


def free_port() -> int:
    """A port on which nobody listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

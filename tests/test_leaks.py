"""Leaks are caught in the test that makes them."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading

import pytest

from tests import leaks


def test_each_kind_is_caught_and_named(tmp_path, monkeypatch):
    monkeypatch.setattr(leaks, "_PATIENCE", 0.0)
    enough, kept = threading.Event(), []

    def thread():
        kept.append(threading.Thread(target=enough.wait, name="waiting"))
        kept[-1].start()

    def process():
        command = [sys.executable, "-c", "input()"]
        kept.append(subprocess.Popen(command, stdin=subprocess.PIPE))

    def connection():
        kept.append(socket.create_server(("127.0.0.1", 0)))

    def file():
        kept.append((tmp_path / "open.txt").open("w"))

    def garbage():
        ring = [(tmp_path / "garbage.txt").open("w")]
        ring.append(ring)

    try:
        for leak, named in (
            (thread, "thread waiting"),
            (process, "process .*input"),
            (connection, "socket:"),
            (file, "open.txt"),
            (garbage, "unclosed file .*garbage.txt"),
        ):
            with (
                pytest.raises(AssertionError, match=f"left behind: .*{named}"),
                leaks.nothing_left_behind(),
            ):
                leak()
    finally:
        enough.set()
        kept[0].join()
        kept[1].communicate()
        kept[2].close()
        kept[3].close()


def test_what_is_closed_in_time_is_no_leak(tmp_path):
    with leaks.nothing_left_behind():
        subprocess.run([sys.executable, "-c", ""], check=True)
        (tmp_path / "file.txt").write_text("")
        socket.create_server(("127.0.0.1", 0)).close()

"""What another thread of a forked process finds while the first renews what was inherited."""

from __future__ import annotations

import os

from belman.assignment import Client
from belman.assignment.prefetched import Prefetched
from belman.assignment.remote_study import RemoteStudy
from belman.assignment.transport import Transport
from belman.studies.log.storage import Pool


def test_no_thread_takes_a_connection_of_the_parent_while_another_closes_them():
    transport = Transport("http://127.0.0.1:9", None, 1.0, 0)
    taken = []

    class Inherited:
        def close(self) -> None:  # which lets other threads run
            taken.append(transport._connection())

    transport._pool.extend([Inherited(), Inherited(), Inherited()])
    transport._process = -1  # of the parent
    taken.append(transport._connection())
    assert len(taken) == 4
    assert not any(isinstance(one, Inherited) for one in taken)


def test_a_pool_says_that_it_is_this_process_s_when_it_is():
    result = []

    class Watched(Pool):
        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, value)
            if name == "_pid":
                result.append(list(self._idle))

    class Driver:
        def connect(self) -> object:
            return object()

    pool = Watched(Driver())
    pool._idle.append("of the parent")
    vars(pool)["_pid"] = -1
    assert pool.take() != "of the parent"
    assert result == [[], []]
    assert pool._pid == os.getpid()


def test_tickets_of_the_parent_are_never_this_process_s():
    result = []

    class Watched(Prefetched):
        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, value)
            if name == "_process":
                result.append(list(self._stock))

    asks = Watched(RemoteStudy(Client("http://127.0.0.1:9"), "x"), 2, 1.0, None)
    asks._stock.append((1e9, "of the parent"))
    vars(asks)["_process"] = -1
    asks.close()
    assert result == [[], []]

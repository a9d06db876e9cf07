"""A client, and a storage, that were used before a fork: every answer is the process's own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

from tests.attack.harness import Attack, Trials
from tests.service.running import running
from tests.waiting import HANG

#: Opens both, forks, and lets every process ask for a study of its own, whose arms bear its number.
SCRIPT = """
import json, os, sys
import belman
from belman.studies import Storage, open_study
address, url, processes, asks = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
client, storage = belman.Client(address, timeout=300.0), Storage(url)
for process in range(processes):
    client.create(f"far {process}", [f"{process}-a", f"{process}-b"])
    open_study(f"near {process}", [f"{process}-a", f"{process}-b"], storage=storage).ask()
wrong, children = 0, []
for process in range(processes):
    read, write = os.pipe()
    if os.fork() == 0:
        answers = []
        far = belman.service.client.RemoteStudy(client, f"far {process}")
        near = open_study(f"near {process}", storage=storage)
        for _ in range(asks):
            for study in (far, near):
                try:
                    answers.append(str(study.ask().arm))
                except Exception as error:
                    answers.append(repr(error))
        strange = [answer for answer in answers if not answer.startswith(f"{process}-")]
        os.write(write, json.dumps(strange).encode()[:60_000])
        os._exit(0)
    os.close(write)
    children.append(read)
strange = []
for read in children:
    with os.fdopen(read) as pipe:
        strange += json.loads(pipe.read() or '["a process died"]')
    os.wait()
print(json.dumps([strange, client.study("far 0").status()["asked"]]))
client.close()
storage.close()
"""


def run(trials: Trials) -> None:
    """All asks at once: a trial is one of them, half over HTTP and half at the storage."""
    processes = 8
    asks = max(trials.count // (2 * processes), 1)
    with tempfile.TemporaryDirectory() as folder, running(folder) as service:
        url = f"sqlite:///{folder}/near.db?synchronous=normal"
        command = [sys.executable, "-c", SCRIPT, service.url, url, str(processes), str(asks)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    trials.expect(done.returncode == 0, done.stderr)
    strange, counted = json.loads(done.stdout) if done.stdout else ([], 0)
    trials.result += [f"an answer that is not its own: {one}" for one in strange]
    trials.expect(counted == asks, f"{counted} asks were counted, and {asks} were made")
    trials.done = 2 * processes * asks


ATTACK = Attack(
    "fork",
    "a client and a storage, both in use, are forked into 8 processes that ask at once",
    "every answer is the process's own, and every ask counts once",
    run,
    short=160,
    long=2_880,
)

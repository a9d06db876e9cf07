"""`belman serve`, `dashboard` and `demo`: a service on this machine; `key`: who may use it; `warm`:
compile ahead, so that it starts fast.
"""

from __future__ import annotations

import os
import tempfile
import time
import webbrowser
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import typer

from belman.cli.commands import app, command, option
from belman.cli.output import console, say, show
from belman.cli.study import DEFAULT_STORAGE
from belman.engine.cache import cache_directory
from belman.errors import FamilyError, unknown
from belman.families import FAMILIES
from belman.service.limits import Limits
from belman.table import Table

if TYPE_CHECKING:
    from belman.studies import Storage

_PORT = "The port to listen on; 0 takes any that is free."
_BROWSER = "Open the page in a browser."
_LIMITS = [
    option(
        one.name,
        type(one.default),
        one.default,
        envvar=f"BELMAN_{one.name.upper()}",
        help=one.metadata["help"],
    )
    for one in fields(Limits)
    if one.metadata
]

keys = typer.Typer(help="Make, list and revoke the keys of a service.", no_args_is_help=True)
app.add_typer(keys, name="key")


@command(
    app,
    None,
    *_LIMITS,
    host="The address to listen on: loopback by default; anything else needs keys.",
    port=_PORT,
    log=typer.Option(
        envvar="BELMAN_LOG", help="How the log on standard error is written: text or json."
    ),
    log_requests=typer.Option(
        "--log-requests", envvar="BELMAN_LOG_REQUESTS", help="Log every request, a line each."
    ),
    allow_origin=typer.Option(
        envvar="BELMAN_ALLOW_ORIGIN",
        help="A site whose pages may call the service (CORS), https://shop.example; may repeat.",
    ),
    proxy=typer.Option(
        envvar="BELMAN_PROXY",
        help="A proxy whose X-Forwarded-For is trusted: an address or a network; none by default.",
    ),
)
def serve(
    *,
    storage: str = DEFAULT_STORAGE,
    host: str = "127.0.0.1",
    port: int = 8000,
    proxy: list[str] | None = None,
    allow_origin: list[str] | None = None,
    log: str = "text",
    log_requests: bool = False,
    **limits: Any,
) -> None:
    """Serve studies over HTTP, with a page to watch them at /."""
    from belman.service import logs
    from belman.service.app import needs_keys
    from belman.studies import Storage

    logs.set_up(log, requests=log_requests)
    held = Limits(**limits, proxies=tuple(proxy or ()), origins=tuple(allow_origin or ()))
    opened = Storage(storage)
    _serve(opened, host, port, require_keys=needs_keys(host, opened), limits=held)


@command(
    app,
    url="A storage (sqlite:///studies.db) or the address of a service (http://…).",
    port=_PORT,
    browser=_BROWSER,
)
def dashboard(url: str, *, port: int = 0, browser: bool = True) -> None:
    """Watch the studies of a storage, or of a service that runs elsewhere."""
    if url.startswith(("http://", "https://")):
        from belman.service.client import Client

        Client(url, retries=1).call("GET", "/healthz")
        _show(url, browser)
        return
    from belman.studies import Storage

    _serve(Storage(url), "127.0.0.1", port, browser=browser)


@command(app, port=_PORT, browser=_BROWSER, seed="The same seed gives the same visitors.")
def demo(*, port: int = 0, browser: bool = True, seed: int | None = None) -> None:
    """Open the live page of a simulated study, which is deleted afterwards."""
    from belman.studies import Storage

    with tempfile.TemporaryDirectory(prefix="belman-demo-") as folder:
        storage = Storage(f"sqlite:///{folder}/studies.db")
        _serve(storage, "127.0.0.1", port, browser=browser, demo=True, seed=seed)


def _serve(
    storage: Storage,
    host: str,
    port: int,
    *,
    browser: bool = False,
    demo: bool = False,
    seed: int | None = None,
    **options: object,
) -> None:
    from belman.dashboard import application
    from belman.service.app import bind, serve

    app = application(storage, demo=demo, seed=seed, warm=True, **options)
    listening = bind(host, port)
    shown = f"[{host}]" if ":" in host else host
    path = "/#/study/demo" if demo else "/"
    address = f"http://{shown}:{listening.getsockname()[1]}{path}"
    serve(app, listening, quiet=True, ready=lambda: _show(address, browser))


def _show(address: str, browser: bool) -> None:
    console.print(f"[bold]{address}[/bold]", highlight=False, soft_wrap=True)
    if browser:
        webbrowser.open(address)


@command(
    keys,
    "add",
    name="A name for the key: who uses it.",
    role="read (look), play (ask and tell) or admin (create and change).",
)
def add_key(name: str, *, role: str = "play", storage: str = DEFAULT_STORAGE) -> None:
    """Make a key, shown only once; as soon as there is one, the service requires keys."""
    from belman.service.keys import Keys, role_named
    from belman.studies import Storage

    key = Keys(Storage(storage)).add(name, role_named(role))
    console.print(key, highlight=False, soft_wrap=True)


@command(keys, "list")
def list_keys(*, storage: str = DEFAULT_STORAGE) -> None:
    """List the keys: their ids, never the keys themselves."""
    from belman.service.keys import Keys
    from belman.studies import Storage

    result = Keys(Storage(storage, create=False)).all()
    show(
        Table(
            {
                "id": [key.id for key in result],
                "name": [key.name for key in result],
                "role": [key.role.word for key in result],
                "created": [_day(key.created) for key in result],
                "revoked": ["" if key.revoked is None else _day(key.revoked) for key in result],
            }
        )
    )


@command(keys, "revoke", id="The id, as `belman key list` shows it.")
def revoke_key(id: str, *, storage: str = DEFAULT_STORAGE) -> None:
    """Revoke a key; running services notice within seconds."""
    from belman.service.keys import Keys
    from belman.studies import Storage

    Keys(Storage(storage, create=False)).revoke(id)
    console.print(f"key {id} is revoked", highlight=False)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="minutes").removesuffix("+00:00")


@command(app, family="A family whose default policy is compiled; may be repeated.")
def warm(*, family: list[str] | None = None) -> None:
    """Compile the kernels of studies with the default policy into the cache, and say where it is.

    `$BELMAN_CACHE` says where; a container runs this while it is built.
    """
    names = family or ["bernoulli"]
    for name in names:
        if name not in FAMILIES:
            raise FamilyError(unknown("family", name, FAMILIES))
    from belman.service.warming import play

    os.environ["BELMAN_COMPILE"] = "first"
    for name in names:
        started = time.perf_counter()
        play(name)
        say(f"{name}: {time.perf_counter() - started:.1f} s")
    say(f"compiled code is in {cache_directory()}")

"""`belman serve`, `dashboard` and `demo`: a service on this machine; `key`: who may use it."""

from __future__ import annotations

import webbrowser
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from belman.cli.show import console, show
from belman.cli.study import DEFAULT_STORAGE, StorageOption
from belman.service.limits import Limits
from belman.table import Table

if TYPE_CHECKING:
    from belman.studies import Storage

PortOption = Annotated[int, typer.Option(help="The port to listen on; 0 takes any that is free.")]
BrowserOption = Annotated[bool, typer.Option(help="Open the page in a browser.")]

keys = typer.Typer(help="Make, list and revoke the keys of a service.", no_args_is_help=True)


def serve(
    storage: StorageOption = DEFAULT_STORAGE,
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen on: loopback by default; anything else needs keys."
        ),
    ] = "127.0.0.1",
    port: PortOption = 8000,
    max_body: Annotated[
        int, typer.Option(envvar="BELMAN_MAX_BODY", help="The most bytes in the body of a request.")
    ] = Limits.max_body,
    max_header: Annotated[
        int,
        typer.Option(envvar="BELMAN_MAX_HEADER", help="The most bytes in the header of a request."),
    ] = Limits.max_header,
    request_seconds: Annotated[
        float,
        typer.Option(
            envvar="BELMAN_REQUEST_SECONDS", help="Seconds within which a request has to arrive."
        ),
    ] = Limits.request_seconds,
    idle_seconds: Annotated[
        float,
        typer.Option(envvar="BELMAN_IDLE_SECONDS", help="Seconds that a connection may be idle."),
    ] = Limits.idle_seconds,
    stall_seconds: Annotated[
        float,
        typer.Option(
            envvar="BELMAN_STALL_SECONDS", help="Seconds that a response may stay unread."
        ),
    ] = Limits.stall_seconds,
    max_connections: Annotated[
        int, typer.Option(envvar="BELMAN_MAX_CONNECTIONS", help="The most open connections.")
    ] = Limits.max_connections,
    max_streams: Annotated[
        int,
        typer.Option(envvar="BELMAN_MAX_STREAMS", help="The most open live pages (event streams)."),
    ] = Limits.max_streams,
    max_streams_per_key: Annotated[
        int,
        typer.Option(
            envvar="BELMAN_MAX_STREAMS_PER_KEY",
            help="The most open live pages per key (or address).",
        ),
    ] = Limits.max_streams_per_key,
    rate: Annotated[
        float,
        typer.Option(
            envvar="BELMAN_RATE", help="The most requests per second and key (or address)."
        ),
    ] = Limits.rate,
    max_tickets: Annotated[
        int,
        typer.Option(
            envvar="BELMAN_MAX_TICKETS", help="The most tickets in one transaction of a study."
        ),
    ] = Limits.max_tickets,
    max_tickets_out: Annotated[
        int,
        typer.Option(envvar="BELMAN_MAX_TICKETS_OUT", help="The most open tickets of a study."),
    ] = Limits.max_tickets_out,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            envvar="BELMAN_PROXY",
            help="A proxy whose X-Forwarded-For is trusted: an address or a network; none by "
            "default.",
        ),
    ] = None,
) -> None:
    """Serve studies over HTTP, with a page to watch them at /."""
    from belman.service.app import needs_keys
    from belman.studies import Storage

    limits = Limits(
        max_body=max_body,
        max_header=max_header,
        request_seconds=request_seconds,
        idle_seconds=idle_seconds,
        stall_seconds=stall_seconds,
        max_connections=max_connections,
        max_streams=max_streams,
        max_streams_per_key=max_streams_per_key,
        rate=rate,
        max_tickets=max_tickets,
        max_tickets_out=max_tickets_out,
        proxies=tuple(proxy or ()),
    )
    opened = Storage(storage)
    _serve(opened, host, port, require_keys=needs_keys(host, opened), limits=limits)


def dashboard(
    url: Annotated[
        str,
        typer.Argument(
            help="A storage (sqlite:///studies.db) or the address of a service (http://…)."
        ),
    ],
    port: PortOption = 0,
    browser: BrowserOption = True,
) -> None:
    """Watch the studies of a storage, or of a service that runs elsewhere."""
    if url.startswith(("http://", "https://")):
        from belman.service.client import Client

        Client(url, retries=1).call("GET", "/healthz")
        _show(url, browser)
        return
    from belman.studies import Storage

    _serve(Storage(url), "127.0.0.1", port, browser=browser)


def demo(
    port: PortOption = 0,
    browser: BrowserOption = True,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same visitors.")] = None,
) -> None:
    """Open the live page of a simulated study, which is deleted afterwards."""
    import tempfile

    from belman.studies import Storage

    with tempfile.TemporaryDirectory(prefix="belman-demo-") as folder:
        _serve(
            Storage(f"sqlite:///{folder}/studies.db"),
            "127.0.0.1",
            port,
            browser=browser,
            demo=True,
            seed=seed,
        )


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

    app = application(storage, demo=demo, seed=seed, **options)
    listening = bind(host, port)
    shown = f"[{host}]" if ":" in host else host
    path = "/#/study/demo" if demo else "/"
    address = f"http://{shown}:{listening.getsockname()[1]}{path}"
    serve(app, listening, quiet=True, ready=lambda: _show(address, browser))


def _show(address: str, browser: bool) -> None:
    console.print(f"[bold]{address}[/bold]", highlight=False, soft_wrap=True)
    if browser:
        webbrowser.open(address)


@keys.command("add")
def add_key(
    name: Annotated[str, typer.Argument(help="A name for the key: who uses it.")],
    role: Annotated[
        str, typer.Option(help="read (look), play (ask and tell) or admin (create and change).")
    ] = "play",
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Make a key, shown only once; as soon as there is one, the service requires keys."""
    from belman.service.keys import Keys, role_named
    from belman.studies import Storage

    key = Keys(Storage(storage)).add(name, role_named(role))
    console.print(key, highlight=False, soft_wrap=True)


@keys.command("list")
def list_keys(storage: StorageOption = DEFAULT_STORAGE) -> None:
    """List the keys: their ids, never the keys themselves."""
    from belman.service.keys import Keys
    from belman.studies import Storage

    found = Keys(Storage(storage)).all()
    show(
        Table(
            {
                "id": [key.id for key in found],
                "name": [key.name for key in found],
                "role": [key.role.word for key in found],
                "created": [_day(key.created) for key in found],
                "revoked": ["" if key.revoked is None else _day(key.revoked) for key in found],
            }
        )
    )


@keys.command("revoke")
def revoke_key(
    id: Annotated[str, typer.Argument(help="The id, as `belman key list` shows it.")],
    storage: StorageOption = DEFAULT_STORAGE,
) -> None:
    """Revoke a key; running services notice within seconds."""
    from belman.service.keys import Keys
    from belman.studies import Storage

    Keys(Storage(storage)).revoke(id)
    console.print(f"key {id} is revoked", highlight=False)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="minutes").removesuffix("+00:00")

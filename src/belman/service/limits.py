"""What a service lets one caller, and all callers together, have of it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from belman.errors import SettingError

if TYPE_CHECKING:
    from belman.studies import Limits as StudyLimits


@dataclass(frozen=True)
class Limits:
    """Sizes, times and counts beyond which a request is refused.

    >>> Limits(max_body=500).max_body, Limits().max_header
    (500, 32768)
    """

    max_body: int = 1_000_000  # bytes of a request's body
    max_header: int = 32_768  # bytes of its first line and headers together
    request_seconds: float = 20.0  # from the first byte of a request to its last
    idle_seconds: float = 5.0  # that a connection may stay open after an answer
    stall_seconds: float = 60.0  # for so long a caller may leave an answer unread
    max_connections: int = 1_000  # open at once
    max_streams: int = 500  # pages that watch at once
    max_streams_per_key: int = 150  # with one key, or from one address where there are no keys
    rate: float = 2_000.0  # requests a second of one key, or address
    max_tickets: int = 100_000  # that one transaction of a study gives
    max_tickets_out: int = 1_000_000  # of one study at once
    proxies: tuple[str, ...] = ()  # whose X-Forwarded-For is believed

    @property
    def of_studies(self) -> StudyLimits:
        """What callers may have of a study, as `open_study` takes it."""
        from belman.studies import Limits as OfStudies  # which the command line does without

        return OfStudies(tickets=self.max_tickets, out=self.max_tickets_out)

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "proxies" and not 0 < value < float("inf"):
                raise SettingError(f"{field.name}={value!r}: give a number above 0")
        for proxy in self.proxies:
            _check_proxy(proxy)


def _check_proxy(proxy: str) -> None:
    try:
        ipaddress.ip_network(proxy)
    except ValueError:
        allowed = "give an address such as 10.0.0.7, or a network such as 10.0.0.0/8"
        raise SettingError(f"proxies={proxy!r} is not an address of a proxy: {allowed}") from None

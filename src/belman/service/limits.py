"""What a service lets one caller, and all callers together, have of it."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from belman.errors import SettingError

if TYPE_CHECKING:
    from belman.studies import Limits as StudyLimits


def _limit(default: Any, words: str) -> Any:
    return field(default=default, metadata={"help": words})


@dataclass(frozen=True)
class Limits:
    """Sizes, times and counts beyond which a request is refused; the command line says the same of
    each.

    >>> Limits(max_body=500).max_body, Limits().max_header
    (500, 32768)
    """

    max_body: int = _limit(1_000_000, "The most bytes in the body of a request.")
    max_header: int = _limit(32_768, "The most bytes in the header of a request.")
    request_seconds: float = _limit(20.0, "Seconds within which a request has to arrive.")
    idle_seconds: float = _limit(5.0, "Seconds that a connection may be idle.")
    stall_seconds: float = _limit(60.0, "Seconds that a response may stay unread.")
    max_connections: int = _limit(1_000, "The most open connections.")
    max_streams: int = _limit(500, "The most open live pages (event streams).")
    max_streams_per_key: int = _limit(150, "The most open live pages per key (or address).")
    rate: float = _limit(2_000.0, "The most requests per second and key (or address).")
    max_tickets: int = _limit(100_000, "The most tickets in one transaction of a study.")
    max_candidates: int = _limit(
        5_000, "The most candidates that one ask weighs, over all of its tickets."
    )
    max_event: int = _limit(4_000_000, "The most characters that one event of a log may have.")
    max_tickets_out: int = _limit(1_000_000, "The most open tickets of a study.")
    proxies: tuple[str, ...] = ()  # whose X-Forwarded-For is believed
    origins: tuple[str, ...] = ()  # sites whose pages may call the service

    @property
    def of_studies(self) -> StudyLimits:
        """What callers may have of a study, as `open_study` takes it."""
        from belman.studies import Limits as OfStudies  # which the command line does without

        return OfStudies(
            self.max_tickets, self.max_tickets_out, self.max_candidates, self.max_event
        )

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not isinstance(value, tuple) and not 0 < value < float("inf"):
                raise SettingError(f"{one.name}={value!r}: give a number above 0")
        for proxy in self.proxies:
            _check_proxy(proxy)
        for origin in self.origins:
            _check_origin(origin)


def _check_proxy(proxy: str) -> None:
    try:
        ipaddress.ip_network(proxy)
    except ValueError:
        allowed = "give an address such as 10.0.0.7, or a network such as 10.0.0.0/8"
        raise SettingError(f"proxies={proxy!r} is not an address of a proxy: {allowed}") from None


def _check_origin(origin: str) -> None:
    """Refuse what no browser sends, and '*', with which any page could read all of it."""
    if not re.fullmatch(r"https?://[^/*?#@\s]+", origin):
        allowed = "give scheme and host, such as https://shop.example"
        raise SettingError(f"origins={origin!r} is not a site: {allowed}")

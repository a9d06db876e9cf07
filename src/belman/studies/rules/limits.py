"""How much one caller may ask of a study, so that others are not kept waiting."""

from __future__ import annotations

from typing import NamedTuple

from belman.errors import SettingError, StudyError


class Limits(NamedTuple):
    """The most tickets that one transaction gives, and that may be out at once.

    >>> Limits(out=10).check(4, 7, "study")
    Traceback (most recent call last):
        ...
    belman.errors.StudyError: study 'study' has 7 tickets out, and 4 more would be over the limit \
of 10: tell some, let them expire, or open the study with limits=Limits(out=…)
    """

    tickets: int = 100_000
    out: int = 1_000_000

    def check(self, wanted: int, out: int, study: str, candidates: int = 1) -> None:
        """Refuse a request for more tickets than may be; the log keeps so many candidates with each
        of them, and each candidate counts as one.
        """
        for name, limit in self._asdict().items():
            if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
                raise SettingError(f"limits: {name}={limit!r} must be a whole number from 1 up")
        if wanted > self.tickets // candidates:
            among = f" among {candidates:,} candidates" if candidates > 1 else ""
            most = f"one ask gives at most {self.tickets // candidates:,}{among}"
            remedy = "ask for fewer, or open the study with limits=Limits(tickets=…)"
            raise SettingError(f"{wanted:,} tickets were asked for, and {most}: {remedy}")
        if out + wanted > self.out:
            over = f"{wanted:,} more would be over the limit of {self.out:,}"
            remedy = "tell some, let them expire, or open the study with limits=Limits(out=…)"
            raise StudyError(f"study {study!r} has {out:,} tickets out, and {over}: {remedy}")

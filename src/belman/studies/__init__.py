"""ask / tell that survives: a log of events in SQLite or PostgreSQL, and studies that are its fold."""

from belman.errors import needing

with needing("a study", "studies", "alembic", "sqlalchemy"):
    import sqlalchemy  # noqa: F401, I001 (alembic imports it)
    import alembic  # noqa: F401

from belman.studies.desk import Ask, Tell
from belman.studies.events import Draw, Event, Kind
from belman.studies.opening import open_study
from belman.studies.replay import Estimate
from belman.studies.settings import Settings
from belman.studies.storage import Storage, migrate
from belman.studies.study import Study
from belman.studies.tickets import Ticket

__all__ = [
    "Ask",
    "Draw",
    "Estimate",
    "Event",
    "Kind",
    "Settings",
    "Storage",
    "Study",
    "Tell",
    "Ticket",
    "migrate",
    "open_study",
]

"""ask / tell that survives: a log of events in SQLite or PostgreSQL; a study is the fold of one."""

from belman.deciders import Draw
from belman.studies.archive import archive, delete, restore
from belman.studies.log.event_log import Event, Kind
from belman.studies.log.storage import Storage, migrate
from belman.studies.open_or_create import open_study
from belman.studies.requests.activating import Activate
from belman.studies.requests.asking import Ask
from belman.studies.requests.slots import AskSlots, Slot, TellAll
from belman.studies.requests.telling import Tell
from belman.studies.settings import StudySettings
from belman.studies.study import Study
from belman.studies.ticket import Ticket
from belman.studies.unit_of_work import Limits
from belman.studies.views.replay import Estimate

__all__ = ["Activate", "AskSlots", "Slot", "TellAll"]
__all__ += ["Ask", "Draw", "Estimate", "Event", "Kind", "Limits", "Storage", "Study", "Tell"]
__all__ += ["StudySettings", "Ticket", "archive", "delete", "migrate", "open_study", "restore"]

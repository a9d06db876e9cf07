"""What the user chose when a study was created: one dataclass, its checks and its plain data."""

from belman.studies.settings.study_settings import StudySettings

__all__ = ["StudySettings"]

"""Run by Alembic: apply the steps on the connection that the storage hands over, inside its
transaction.
"""

from alembic import context

from belman.studies.schema import metadata
from belman.studies.versions import VERSION_TABLE

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, version_table=VERSION_TABLE)
context.run_migrations()

"""The history of the tables, in Alembic's form: `versions/` holds one step each."""

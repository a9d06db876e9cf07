"""Studies, events and snapshots."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "belman_studies",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
    )
    op.create_table(
        "belman_events",
        sa.Column("study", sa.Integer, sa.ForeignKey("belman_studies.id"), primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.SmallInteger, nullable=False),
        sa.Column("time", sa.Float(53), nullable=False),
        sa.Column("arm", sa.Integer),
        sa.Column("draw", sa.SmallInteger),
        sa.Column("probability", sa.Float(53)),
        sa.Column("ticket", sa.BigInteger),
        sa.Column("reward", sa.Float(53)),
        sa.Column("key", sa.Text),
        sa.Column("body", sa.Text),
        sqlite_with_rowid=False,
    )
    for name, column in (("settled", "ticket"), ("keyed", "key")):
        there = sa.text(f"{column} IS NOT NULL")
        op.create_index(
            f"belman_events_{name}",
            "belman_events",
            ["study", column],
            unique=True,
            sqlite_where=there,
            postgresql_where=there,
        )
    op.create_table(
        "belman_snapshots",
        sa.Column("study", sa.Integer, sa.ForeignKey("belman_studies.id"), primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("content", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    for table in ("belman_snapshots", "belman_events", "belman_studies"):
        op.drop_table(table)

"""The log of events, its chain, and where it is kept: SQLite or PostgreSQL behind one protocol."""

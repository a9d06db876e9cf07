"""One belief for all arms, in contexts, or for candidates."""

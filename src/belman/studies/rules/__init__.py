"""What a user sets for a study: windows, metrics, floors, guards, limits."""

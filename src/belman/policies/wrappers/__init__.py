"""Policies around other policies: forced exploration, forgetting, restarts, clipping, phases."""

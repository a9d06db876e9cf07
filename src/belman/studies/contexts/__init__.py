"""Deciding in contexts: along features, or in segments."""

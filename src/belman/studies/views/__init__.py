"""What one may see of a study: its report, its segments, replays, exports."""

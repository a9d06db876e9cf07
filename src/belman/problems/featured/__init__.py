"""Arms with features: directions, contexts and tables, whose rewards share a parameter."""

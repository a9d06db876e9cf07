"""ask / tell for machines: studies over HTTP, with keys, limits and metrics, and a small client."""

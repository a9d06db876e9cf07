"""What a release wrote: databases, what their studies knew, and how they went on."""

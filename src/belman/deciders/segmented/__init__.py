"""A belief an arm and segment, each borrowing from the others what it may."""

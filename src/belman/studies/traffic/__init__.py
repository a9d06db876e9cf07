"""Who gets the traffic, and who got it."""

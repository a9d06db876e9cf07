"""Arms without gaps between them: points of a box, under one smooth belief."""

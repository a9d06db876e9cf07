"""BelMan: evidence, pseudobelief and water-filling."""

"""What becomes of a ticket: open, told, told again, corrected, given back."""

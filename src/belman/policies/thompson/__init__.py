"""Policies that draw: from beliefs, by laws made for proofs, or by known chances."""

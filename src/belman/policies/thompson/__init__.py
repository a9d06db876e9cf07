"""Policies that draw: from beliefs, by distributions made for proofs, or by known chances."""

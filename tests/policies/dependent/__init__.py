"""Tests of policies for arms that share a belief."""

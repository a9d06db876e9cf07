"""Tests of shared beliefs."""

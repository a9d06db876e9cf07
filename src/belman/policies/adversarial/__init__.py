"""Policies for rewards of any origin: online mirror descent and exponential weights."""

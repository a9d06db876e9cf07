"""Bridges to what people already run; each is optional, and nothing else of belman imports one."""

"""Requests: what a study is asked, told and brought, each in one transaction."""

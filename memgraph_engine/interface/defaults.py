"""How many results a call returns where nobody says otherwise, on every surface."""

TOP_K = 20
"""Notes that a question finds, or considers for a context."""
NEWEST = 20
"""Decisions, or runs that looked for topics, that are listed: the newest."""

"""How many results a call returns, on every surface: where nobody says otherwise, and at most."""

TOP_K = 20
"""Notes that a question finds, or considers for a context."""
NEWEST = 20
"""Decisions, or runs that looked for topics, that are listed: the newest."""
BLOCKS = 10
"""Blocks that a question finds."""
CLAIMS = 20
"""Claims that are listed, or found."""
FACTS = 100
"""Facts that are listed."""
OUTLINE = 12
"""Blocks of an outline."""
MOST = 1000
"""The most of any that can be asked for."""

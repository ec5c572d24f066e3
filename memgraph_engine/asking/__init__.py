"""Asking a memory: recall finds hits, ties tell what contradicts them, the answer room makes a context of them."""

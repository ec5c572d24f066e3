"""Whose memory is meant, on every surface."""

from typing import TypedDict


class Whose(TypedDict):
    """The arguments by which each method of Memory knows whose memory is meant."""

    user_id: str | None
    shared: bool

"""The surfaces that other programs reach a memory by, one file each; the core imports none of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from memgraph_engine.errors import MissingExtra


@contextmanager
def needed(purpose: str, extra: str) -> Iterator[None]:
    """Say which extra is missing where a package can't be imported; raises MissingExtra."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra(purpose, extra) from error

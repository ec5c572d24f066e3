"""What a user may exchange: the embedder and the clock."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Clock = Callable[[], datetime]
"""Tells the time, aware of its zone."""


@runtime_checkable
class Embedder(Protocol):
    """Anything that turns texts into vectors of one length: the shape of LangChain's embeddings, with a name.

    `name` is recorded in the database, so that vectors of two models never mix.
    """

    name: str

    def embed_documents(self, texts: list[str]) -> "Sequence[Sequence[float]] | NDArray[np.float32]":
        """Return one vector for each text, in order."""

    def embed_query(self, text: str) -> "Sequence[float] | NDArray[np.float32]":
        """Return the vector of a question."""

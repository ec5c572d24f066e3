"""Fit the relevance of notes: a chat's questions asked of their own chat, and of others that hold nothing on them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from bench.chats import Ask, Chat
from memgraph_engine import Memory
from memgraph_engine.model.result import Hit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OTHERS = 5  # chats of which a question is asked that do not hold its answer
_RIDGE = 1e-5
_STEPS = 50


Best = tuple[float, float, bool]
"""Similarity and coverage of the best hit of a question, and whether the chat holds its answer."""


def best_hits(memory: Memory, chats: Sequence[Chat]) -> list[Best]:
    """Ask each question of its own chat, and of others in its language.

    Some of the others do hold an answer ("Where do I live?"), so a fit rather doubts too much than too little.
    """
    users = {chat.id: f"user-{uuid4().hex}" for chat in chats}
    for chat in chats:
        for session in chat.sessions:
            memory.add(session, user_id=users[chat.id])
    found: list[Best] = []
    for place, chat in enumerate(chats):
        others = [*chats[place + 1 :], *chats[:place]][:_OTHERS]
        for ask in chat.asks:
            found.append((*_best(memory, ask, users[chat.id]), not ask.nothing))
            found += [(*_best(memory, ask, users[other.id]), False) for other in others if not ask.as_of]
    return found


def fitted(found: Sequence[Best]) -> dict[str, float]:
    """Return the weights of a logistic regression in which both sides weigh the same."""
    import numpy as np

    every = np.array(found, dtype=float)
    bias, similarity, coverage = _regression(every[:, :2], every[:, 2]).round(3).tolist()
    return {"bias": bias, "similarity": similarity, "coverage": coverage}


def _best(memory: Memory, ask: Ask, user: str) -> tuple[float, float]:
    def near(hit: Hit) -> float:
        return hit.similarity + hit.coverage / 2

    best = max(memory.search(ask.question, user_id=user, as_of=ask.as_of), key=near, default=None)
    return (best.similarity, best.coverage) if best else (0.0, 0.0)


def _regression(rows: "NDArray[np.float64]", held: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return bias and weights, by Newton's method."""
    import numpy as np

    columns = np.column_stack([np.ones(len(rows)), rows])
    share = held.mean()
    each = np.where(held == 1, 0.5 / share, 0.5 / (1 - share))
    ridge = _RIDGE * len(rows) * np.diag([0.0, 1.0, 1.0])
    found = np.zeros(columns.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (each * (likely - held)) + ridge @ found
        curve = (columns * (each * likely * (1 - likely))[:, None]).T @ columns + ridge
        found -= np.linalg.solve(curve, slope)
    return found

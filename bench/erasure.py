"""What is left of what was erased, and how long it takes to erase a thousand sources."""

import time
from collections.abc import Sequence

from memgraph_engine import Memory
from memgraph_engine.evaluation.locomo import Conversation

_SOURCES = 1000


def erased(memory: Memory, some: Sequence[Conversation], user: str) -> dict[str, float]:
    """Erase the first thousand sources of a user's conversations; return the seconds, and the residue."""
    for number, one in enumerate(some):
        memory.add_many([{**turn, "id": f"{number}-{turn['id']}"} for turn in one.turns], user_id=user)
    every = [source.id for note in memory.get_all(user_id=user) for source in note.sources]
    plan = memory.forget(user_id=user, source=every[:_SOURCES])
    begun = time.perf_counter()
    receipt = memory.erase(plan)
    return {"erase_1k_s": time.perf_counter() - begun, "erasure_residue": float(receipt.residue)}

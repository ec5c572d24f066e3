"""What is left of what was erased, how long it takes to erase a thousand sources, and how planning that grows."""

import time
from collections.abc import Sequence

from memgraph_engine import Memory
from memgraph_engine.evaluation.locomo import Conversation

_SOURCES = 1000


def erased(memory: Memory, some: Sequence[Conversation], user: str) -> dict[str, float]:
    """Erase the first thousand sources of a user's conversations; return the seconds, and the residue.

    `plan_growth` is how much longer it takes to plan that than it takes for half of them: 2 where it is linear.
    """
    for number, one in enumerate(some):
        memory.add_many([{**turn, "id": f"{number}-{turn['id']}"} for turn in one.turns], user_id=user)
    every = [source.id for note in memory.get_all(user_id=user) for source in note.sources]
    half, whole = (min(_planned(memory, every[:some], user) for _ in range(3)) for some in (_SOURCES // 2, _SOURCES))
    plan = memory.forget(user_id=user, source=every[:_SOURCES])
    begun = time.perf_counter()
    receipt = memory.erase(plan)
    took = time.perf_counter() - begun
    return {
        "erase_1k_s": took,
        "plan_1k_s": whole,
        "plan_growth": whole / half,
        "erasure_residue": float(receipt.residue),
    }


def _planned(memory: Memory, ids: Sequence[str], user: str) -> float:
    begun = time.perf_counter()
    memory.forget(user_id=user, source=ids)
    return time.perf_counter() - begun

"""How many tokens a prompt takes, as a talk gets longer, and beside the whole talk.

The talk is a dialogue of the file, as one session: one speaker is the user, the other the assistant. Before each turn
of the user is stored it is asked as the question of a prompt. Then questions about the whole dialogue are asked,
outside any session. All tokens are counted by the same estimate (`llm.tokens.most_tokens`), which is rather too high.
Profiles are noted (`lifecycle.profile`).
"""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any
from uuid import uuid4

from bench.speed import percentile
from memgraph_engine import Memory
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.llm.tokens import most_tokens
from memgraph_engine.testing import purge

_TURNS = 100  # of the user, each with an answer
_WHEN = {"first": range(10, 20), "middle": range(40, 50), "last": range(90, 100)}
_NOTES = (20, 5)  # that are considered: the default, and the most of MemoryArchitect (section II.C.4)
_ASKED = 40  # questions of a dialogue, at most


def measured(memory: Memory, every: Sequence[Conversation]) -> dict[str, float]:
    """Return the figures, as means over conversations; the most that any prompt had of its room as well."""
    tokens, shares, most, taken = defaultdict[str, list[int]](list), list[float](), 0.0, list[float]()
    for conversation in every:
        settings = memory.engine.settings
        noting = settings.lifecycle.model_copy(update={"profile": "patterns"})
        settings = settings.model_copy(update={"tenant": f"bench-{uuid4().hex}", "lifecycle": noting})
        room = settings.prompt.window - settings.prompt.answer
        mine = Memory.connect(settings=settings, embedder=memory.engine.embedder)
        try:
            for name, took, some in _talked(mine, conversation):
                tokens[name].append(some)
                taken.append(took)
            mine.add_many(conversation.turns, user_id="whole")
            whole = sum(most_tokens(f"{turn['speaker']}: {turn['text']}") + 1 for turn in conversation.turns)
            step = max(1, len(conversation.questions) // _ASKED)
            prompts = [mine.prompt(one.text, user_id="whole").tokens for one in conversation.questions[::step]]
            shares.append(fmean(prompts) / whole)
            most = max(most, *(one / room for some in (*tokens.values(), prompts) for one in some))
        finally:
            mine.close()
            purge(settings.tenant, settings=settings)
    means = {f"prompt_tokens_{name}": fmean(some) for name, some in tokens.items()}
    return {
        **means,
        **{
            f"prompt_tokens_last_over_{when}{of}": means[f"prompt_tokens_last{of}"] / means[f"prompt_tokens_{when}{of}"]
            for when in ("first", "middle")
            for of in map(_of, _NOTES)
        },
        "tokens_over_full_context": fmean(shares),
        "prompt_tokens_over_room": most,
        "prompt_p50_ms": percentile(sorted(taken), 0.5),
    }


def _talked(memory: Memory, conversation: Conversation) -> Iterator[tuple[str, float, int]]:
    """Yield of each turn that is measured when it was, the milliseconds that its prompt took, and its tokens."""
    owner: dict[str, Any] = {"user_id": "ana"}
    for place, (asked, answered) in enumerate(_talk(conversation)):
        for when in (name for name, places in _WHEN.items() if place in places):
            for notes in _NOTES:
                start = time.perf_counter()
                made = memory.prompt(asked, session="talk", top_k=notes, **owner)
                yield f"{when}{_of(notes)}", 1000 * (time.perf_counter() - start), made.tokens
        said = [{"role": "user", "text": asked}, {"role": "assistant", "text": answered}]
        memory.add_many([{**turn, "session": "talk"} for turn in said], **owner)


def _of(notes: int) -> str:
    return "" if notes == _NOTES[0] else f"_of_{notes}"


def _talk(conversation: Conversation) -> list[tuple[str, str]]:
    """Return a dialogue in turns of the user, each with what the other speaker says until the next."""
    user, found = conversation.turns[0]["speaker"], list[tuple[str, str]]()
    for turn in conversation.turns:
        text = str(turn["text"])
        if turn["speaker"] == user:
            found.append((text, ""))
        else:
            found[-1] = found[-1][0], f"{found[-1][1]} {text}".strip()
    return [(asked, answered) for asked, answered in found if asked and answered][:_TURNS]

"""How many tokens a prompt takes, as a talk gets longer, and beside the whole talk.

The talk is a dialogue of the file, as one session: one speaker is the user, the other the assistant. Before each turn
of the user is stored it is asked as the question of a prompt. Then questions about the whole dialogue are asked,
outside any session. All tokens are counted by the same estimate (`llm.tokens.most_tokens`), which is rather too high.
Profiles are noted (`lifecycle.profile`).
"""

import time
from collections.abc import Sequence
from statistics import fmean
from typing import Any
from uuid import uuid4

from bench.speed import percentile
from memgraph_engine import Memory
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.llm.tokens import most_tokens
from memgraph_engine.testing import purge

_TURNS = 100  # of the user, each with an answer
_FIRST, _LAST = slice(10, 20), slice(90, 100)
_ASKED = 40  # questions of a dialogue, at most


def measured(memory: Memory, every: Sequence[Conversation]) -> dict[str, float]:
    """Return the figures, as means over conversations; the most that any prompt had of its window as well."""
    firsts, lasts, shares, most, taken = list[float](), list[float](), list[float](), 0.0, list[float]()
    owner: dict[str, Any] = {"user_id": "ana"}
    for conversation in every:
        settings = memory.engine.settings
        noting = settings.lifecycle.model_copy(update={"profile": True})
        settings = settings.model_copy(update={"tenant": f"bench-{uuid4().hex}", "lifecycle": noting})
        room = settings.prompt.window - settings.prompt.answer
        mine = Memory.connect(settings=settings, embedder=memory.engine.embedder)
        try:
            tokens = list[float]()
            for asked, answered in _talk(conversation):
                start = time.perf_counter()
                made = mine.prompt(asked, session="talk", **owner)
                taken.append(1000 * (time.perf_counter() - start))
                tokens.append(made.tokens)
                mine.add({"role": "user", "text": asked}, session="talk", **owner)
                mine.add({"role": "assistant", "text": answered}, session="talk", **owner)
            firsts.append(fmean(tokens[_FIRST]))
            lasts.append(fmean(tokens[_LAST]))
            mine.add_many(conversation.turns, user_id="whole")
            whole = sum(most_tokens(f"{turn['speaker']}: {turn['text']}") + 1 for turn in conversation.turns)
            step = max(1, len(conversation.questions) // _ASKED)
            prompts = [mine.prompt(one.text, user_id="whole").tokens for one in conversation.questions[::step]]
            shares.append(fmean(prompts) / whole)
            most = max(most, *(one / room for one in (*tokens, *prompts)))
        finally:
            mine.close()
            purge(settings.tenant, settings=settings)
    return {
        "prompt_tokens_first": fmean(firsts),
        "prompt_tokens_last": fmean(lasts),
        "prompt_tokens_last_over_first": fmean(lasts) / fmean(firsts),
        "tokens_over_full_context": fmean(shares),
        "prompt_tokens_over_room": most,
        "prompt_p50_ms": percentile(sorted(taken), 0.5),
    }


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

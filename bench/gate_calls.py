"""How many calls of chat models a turn takes, with a model that answers as LoCoMo's own observations do."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.conversations import locomo_file
from bench.gate_memory import kept, of
from bench.observations import LANGUAGE, Observation, observations
from memgraph_engine import Memory
from memgraph_engine.cost import Cost
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.evaluation.report import table
from memgraph_engine.gate.correction import correction
from memgraph_engine.gate.difference import Pair
from memgraph_engine.gate.known import Known, Line
from memgraph_engine.gate.score import repeated
from memgraph_engine.language.terms import tokenize
from memgraph_engine.llm.roles import Roles
from memgraph_engine.llm.tokens import tokens
from memgraph_engine.model.memory import Source
from memgraph_engine.model.ports import Message, Reply

_ROLES = {"turns": "extractor", "pairs": "gate", "merges": "writer"}
_SAME = 0.7  # share of words by which two observations state the same


class Recorded:
    """A chat model that answers as a good one would, from a conversation's observations.

    As extractor it keeps the turns that an observation cites, in the observations' words; as gate it goes by the
    words in common and the contradiction rule; as writer it puts texts in a row. It counts by role: `calls`, turns
    or pairs `asked` about, and tokens of the `longest` answer.
    """

    name = "recorded"

    def __init__(self, conversation: Conversation, observed: Sequence[Observation]) -> None:
        self.calls: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.longest: Counter[str] = Counter()
        cited = defaultdict(list)
        for one in observed:
            for turn in one.evidence:
                cited[turn].append(one.message["text"])
        self._known = {(turn["speaker"], _written(turn)): cited[turn["id"]] for turn in conversation.turns}

    def chat(
        self,
        messages: Sequence[Message],
        *,
        temperature: float,  # noqa: ARG002  the port's own names
        max_tokens: int,  # noqa: ARG002
        timeout: float,  # noqa: ARG002
        json_schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Answer every line of the data."""
        kind = (json_schema or {})["required"][0]
        data = re.findall(r"^\{.*\}$", messages[-1]["content"], re.MULTILINE)
        answers = [answer for line in data for answer in getattr(self, f"_{kind}")(json.loads(line))]
        text = json.dumps({kind: answers}, ensure_ascii=False)
        role = _ROLES[kind]
        self.calls[role] += 1
        self.asked[role] += len(answers)
        self.longest[role] = max(self.longest[role], tokens(text))
        return Reply(text, Cost(calls=1))

    def _turns(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        if given["turn"] == "earlier":
            return []
        told = self._known[given["speaker"], given["text"]]
        none = {"event_from": None, "event_to": None}
        words = list(dict.fromkeys(word for text in told for word in re.findall(r"\b[a-z]{6,}\b", text)))[:8]
        return [{"turn": given["turn"], "keep": bool(told), "context": " ".join(told), "keywords": words, **none}]

    def _pairs(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"note": given["note"], "candidate": one["candidate"], **_judged(given["text"], one["text"])}
            for one in given["candidates"]
        ]

    def _merges(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"merge": given["merge"], "context": " ".join(dict.fromkeys(given["texts"]))}]


def _written(turn: dict[str, Any]) -> str:
    caption = turn.get("caption")
    return f"{turn['text']} [image: {caption}]" if caption else str(turn["text"])


def _judged(new: str, old: str) -> dict[str, Any]:
    one, other = (frozenset(tokenize(text, LANGUAGE)) for text in (new, old))
    share = repeated(len(one & other), len(one), len(other)) if one and other else 0.0
    told, before = (Line(Source("", text, ""), LANGUAGE) for text in (new, old))
    notes = Known("new", new, (told,), frozenset(), None), Known("old", old, (before,), frozenset(), None)
    corrects = correction(told, [before])
    finding, evidence = Pair(told, before, notes).finding
    relation = "same" if share > _SAME else "related" if share > _SAME / 3 else "none"
    if share > _SAME and (corrects or finding == "conflict"):
        relation = "update" if corrects else "conflict"
    return {"redundancy": share, "complementarity": 1 - share if relation == "related" else 0.0} | {
        "relation": relation,
        "evidence": corrects or evidence if relation != "none" else "",
    }


def measure(file: Path | None, model: str) -> tuple[dict[str, float], str]:
    """Ingest each conversation with the recorded model; return calls a turn by role, and a report."""
    calls: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    longest: Counter[str] = Counter()
    with kept(model) as memory:
        for conversation, observed in observations(locomo_file(file), dated=True):
            chat = Recorded(conversation, observed)
            with of(memory, discard=True) as mine:
                roles = Roles(mine.engine.settings.llm, llm=chat)
                asking = Memory(replace(mine.engine, roles=roles))
                receipt = asking.add_many(conversation.turns, user_id=conversation.id)
            if receipt.fallbacks:
                raise RuntimeError(f"The recorded model was not understood: {receipt.fallbacks}")
            calls += chat.calls
            sums.update({f"asked.{role}": number for role, number in chat.asked.items()})
            longest |= chat.longest
            sums.update(f"turns.{entry.kind}" for entry in receipt.entries)
            sums["turns"] += len(conversation.turns)
    figures = {f"llm_calls_per_turn.{role}": calls[role] / sums["turns"] for role in _ROLES.values()}
    figures["llm_calls_per_turn"] = figures["llm_calls_per_turn.extractor"] + figures["llm_calls_per_turn.gate"]
    figures |= {f"llm.{name}_per_turn": number / sums["turns"] for name, number in sorted(sums.items())}
    figures |= {f"llm.longest_answer.{role}": number for role, number in longest.items()}
    rows = [(name, f"{value:.4f}") for name, value in figures.items()]
    return figures, f"### Calls of a chat model, {model}\n\n{table(('', 'a turn'), rows)}"

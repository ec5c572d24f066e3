"""Claims: how many of planted statements are found and how many of these are right, and what becomes of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import fmean

from bench.server import bench_settings, connected, of_its_own
from memgraph_engine import Memory
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.evaluation.ranking import recall_at
from memgraph_engine.evaluation.run import after
from memgraph_engine.language.terms import tokenize
from memgraph_engine.model.claim import Claim
from memgraph_engine.model.ports import utc_now
from memgraph_engine.testing import purge

FILE = Path(__file__).with_name("planted_claims.jsonl")
_AGED = 2  # days until notes may be evicted
_CYCLES = 10  # runs without new evidence
_BUDGET = 1000  # tokens of a context
_ENOUGH = 3  # users who make a claim
_EVERY = 5  # of so many questions one is asked


def measure(model: str, conversation: Conversation) -> dict[str, float]:
    """Plant statements in memories of their languages, and beside a conversation; return flat figures."""
    planted = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    figures: dict[str, float] = {}
    found = right = 0
    with connected(bench_settings(model)) as memory:
        for language in sorted({line["language"] for line in planted}):
            with of_its_own(memory, language) as mine:
                lines = [line for line in planted if line["language"] == language]
                claims = _planted(mine, lines)
                found += len(claims)
                right += sum(_right(claim, line, language) for claim, line in claims)
                figures |= _asked(mine, claims) if language == "english" else {}
                figures[f"claims_left_after_{_CYCLES}_runs.{language}"] = _left(mine)
        with of_its_own(memory) as mine:
            _planted(mine, [line for line in planted if line["language"] == "english"])
            figures["claims_after_eviction"] = _evicted(mine)
        with of_its_own(memory) as mine:
            figures["personal_to_notes"] = _personal(mine, conversation, planted)
            purge(mine.engine.settings.tenant, settings=mine.engine.settings)
            figures["claims_residue"] = len(mine.claims(user_id="ana", top_k=1000))
        with of_its_own(memory) as mine:
            figures |= _shared(mine, [line["text"] for line in planted if line["language"] == "english"])
    general = sum(line["general"] for line in planted)
    return figures | {
        "claims_planted": general,
        "claims_found": right / general,
        "claims_precision": right / max(found, 1),
    }


def _planted(memory: Memory, lines: Sequence[Mapping[str, str]]) -> list[tuple[Claim, Mapping[str, str]]]:
    """Return the claims that are found, each with the line that it was found in."""
    said = [{"role": "user", "text": line["text"], "session": f"s{at}", "id": str(at)} for at, line in enumerate(lines)]
    memory.add_many(said, user_id="ana")
    memory.consolidate(user_id="ana")
    claims = memory.claims(user_id="ana", top_k=1000)
    notes = {note.id: [int(source.id) for source in note.sources] for note in memory.get_all(user_id="ana")}
    return [(claim, lines[at]) for claim in claims for note in claim.notes for at in notes[note]]


def _right(claim: Claim, line: Mapping[str, str], language: str) -> bool:
    """Tell whether a claim is the one that a line holds: of the same kind, and of the same ends."""
    pairs = ((claim.subject, line["subject"]), (claim.object, line["object"]))
    ends = [tuple(set(tokenize(text, language)) for text in pair) for pair in pairs]
    return line["kind"] == claim.kind and all(mine <= theirs or theirs <= mine for mine, theirs in ends if theirs)


def _asked(memory: Memory, claims: Sequence[tuple[Claim, Mapping[str, str]]]) -> dict[str, float]:
    """Ask what each claim tells of."""
    first = [memory.claims(f"What do I know about {claim.subject}?", user_id="ana", top_k=1) for claim, _ in claims]
    hits = [bool(one) and one[0].subject == claim.subject for one, (claim, _) in zip(first, claims, strict=True)]
    return {"general_by_claims": fmean(hits) if hits else 0.0}


def _evicted(memory: Memory) -> float:
    """Return the share of claims that are told after a cap took all but the tenth part of the notes, and a run."""
    before = {claim.id for claim in memory.claims(user_id="ana", top_k=1000)}
    aged = Memory(replace(memory.engine, clock=lambda: utc_now() + timedelta(days=_AGED)))
    aged.limit(len(list(aged.get_all(user_id="ana"))) // 10, user_id="ana")
    aged.evict(user_id="ana")
    aged.limit(None, user_id="ana")
    aged.consolidate(user_id="ana")
    return len(before & {claim.id for claim in aged.claims(user_id="ana", top_k=1000)}) / len(before)


def _left(memory: Memory) -> int:
    """Count the claims of one note after some runs that read new notes without evidence for them."""
    for number in range(_CYCLES):
        memory.add(f"On day {number} I fed the cat.", user_id="ana")
        memory.consolidate(user_id="ana")
    return sum(len(claim.notes) == 1 for claim in memory.claims(user_id="ana", top_k=1000))


def _shared(memory: Memory, texts: Sequence[str]) -> dict[str, float]:
    """Let users of a tenant that shares claims say the same, and count what another user is told by any of the ways."""
    memory.share_claims(on=True, shared=True)
    memory.add("I saw whales, engines and databases.", user_id="reader")
    told = {}
    for number in range(1, _ENOUGH + 1):
        said = [{"role": "user", "text": text, "session": f"s{at}"} for at, text in enumerate(texts)]
        memory.add_many(said, user_id=f"user-{number}")
        memory.consolidate(user_id=f"user-{number}")
        told[number] = _told_to_another(memory, texts)
    own = {claim.text for claim in memory.claims(user_id="user-1", top_k=1000)}
    below = set().union(*(told[number] for number in range(1, _ENOUGH)))
    return {"shared_below_three": len(below), "shared_of_three": len(told[_ENOUGH]) / max(len(own), 1)}


def _told_to_another(memory: Memory, texts: Sequence[str]) -> set[str]:
    """Return what users share of which a user is told who said none of it: in lists, for questions, and in contexts."""
    claims = [*memory.claims(user_id="reader", top_k=1000), *memory.claims(shared=True, top_k=1000)]
    claims += [claim for text in texts[::_EVERY] for claim in memory.claims(text, user_id="reader")]
    lines = (line for text in texts for line in memory.context(text, user_id="reader", claims=True).general)
    return {claim.text for claim in claims} | {line.partition(": ")[2] for line in lines}


def _personal(memory: Memory, conversation: Conversation, planted: Sequence[Mapping[str, str]]) -> float:
    """Return the share of a conversation's evidence that contexts keep when they hold claims too."""
    memory.add_many(conversation.turns, user_id="ana")
    general = [line["text"] for line in planted if line["general"] and line["language"] == "english"]
    memory.add_many([{"role": "user", "text": text, "session": "general"} for text in general], user_id="ana")
    memory.consolidate(user_id="ana")
    ended = after(conversation, memory)
    shares = {True: 0.0, False: 0.0}
    for question in conversation.questions[::_EVERY]:
        for claims in shares:
            context = ended.context(question.text, user_id="ana", budget=_BUDGET, claims=claims)
            found = [source.id for entry in context.entries for source in entry.sources]
            shares[claims] += recall_at(len(found), found, question.evidence)
    return shares[True] / max(shares[False], 1e-9)

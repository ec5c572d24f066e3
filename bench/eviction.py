"""What a cap costs: how much of the evidence is found in a memory that holds fewer notes, and how long it takes.

Each conversation of the file is told within a year. After each session a look of the worker follows. Questions of even
number are asked as soon as what answers them was told, and what a context shows for them counts as shown; those of odd
number are asked at the end, and scored. Evidence counts as found only if it is among the first 10 sources of the hits,
in order, as everywhere (R@10). A summary has the sources of all that it sums, so most of those 10 may be its own.
Beside it, `_by_hits` counts evidence that any of the first 10 hits has among its sources.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from unittest.mock import patch
from uuid import uuid4

from bench import fillers
from bench.scores import mean
from memgraph_engine import Memory
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.evaluation.kept import KeptEmbedder
from memgraph_engine.evaluation.locomo import Conversation, Question
from memgraph_engine.evaluation.ranking import recall_at
from memgraph_engine.evaluation.run import after
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import Settings
from memgraph_engine.testing import purge

SHARES = (0.9, 0.8, 0.7, 0.5)
CAPACITIES = (0.75, 0.5, 0.25)
_BY_AGE = {"access_weight": 0.0, "age_weight": 1.0, "information_weight": 0.0}
ORDERS: Mapping[str, tuple[Mapping[str, float], bool]] = {
    "coldest": ({}, False),
    "oldest": (_BY_AGE, False),
    "random": ({}, True),
}
"""By which settings of the lifecycle notes leave, and whether any may instead."""
_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
_YEAR = timedelta(days=365)
_LATER = timedelta(days=2)


@dataclass
class Clock:
    """A clock that stands until it is set."""

    now: datetime = _BEGIN

    def __call__(self) -> datetime:
        """Return its time."""
        return self.now


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a conversation under a cap: notes at the end, notes over the cap at most, and the scores."""

    notes: int
    over: int
    evicted: int
    scores: Sequence[dict[str, float]]


def capped(memory: Memory, every: Sequence[Conversation]) -> dict[str, float]:
    """Return R@10 without a cap, and what share of it is left with one."""
    settings = memory.engine.settings
    kept = CheckedEmbedder(KeptEmbedder(memory.engine.embedder))
    whole = [_told(settings, kept, one, 0) for one in every]
    figures = {f"uncapped_{name}": value for name, value in _mean(whole).items()}
    for share in SHARES:
        some = [_told(settings, kept, one, int(share * was.notes)) for one, was in zip(every, whole, strict=True)]
        found, percent = _mean(some), round(100 * share)
        figures |= {f"capped_{percent}_{name}": value for name, value in found.items()}
        for name, value in found.items():
            figures[f"capped_over_uncapped_{name}_at_{percent}"] = value / figures[f"uncapped_{name}"]
        figures[f"evicted_at_{percent}"] = float(sum(one.evicted for one in some))
        figures[f"notes_over_cap_at_{percent}"] = float(max(one.over for one in some))
        print(f"{percent} %: {found}", file=sys.stderr)
    figures["capped_over_uncapped_R@10"] = figures["capped_over_uncapped_R@10_at_70"]
    figures["notes_over_cap"] = max(value for name, value in figures.items() if name.startswith("notes_over_cap_at_"))
    return figures


def by_order(memory: Memory, every: Sequence[Conversation]) -> dict[str, float]:
    """Return R@10 where the coldest leave a capped memory first, as the engine has it, the oldest, and any.

    Each memory has the same cap, and summaries stand for what leaves, whatever order it leaves in.
    """
    settings = memory.engine.settings
    kept = CheckedEmbedder(KeptEmbedder(memory.engine.embedder))
    whole = [_told(settings, kept, one, 0) for one in every]
    figures = {"capacity_100_R@10": _mean(whole)["R@10"]}
    for share in CAPACITIES:
        percent = round(100 * share)
        for name, (weights, at_random) in ORDERS.items():
            lifecycle = settings.lifecycle.model_copy(update=weights)
            ordered = settings.model_copy(update={"lifecycle": lifecycle})
            with _shuffled() if at_random else nullcontext():
                some = [
                    _told(ordered, kept, one, int(share * was.notes)) for one, was in zip(every, whole, strict=True)
                ]
            figures[f"capacity_{percent}_{name}_R@10"] = _mean(some)["R@10"]
            print(f"{percent} %, {name}: {_mean(some)}", file=sys.stderr)
    for other in ("oldest", "random"):
        figures[f"capacity_over_{other}"] = min(
            figures[f"capacity_{round(100 * share)}_coldest_R@10"]
            - figures[f"capacity_{round(100 * share)}_{other}_R@10"]
            for share in CAPACITIES
        )
    return figures


@contextmanager
def _shuffled() -> Iterator[None]:
    """Let any notes leave, drawn by a seed."""
    import numpy as np

    chance = np.random.default_rng(0)
    with patch("memgraph_engine.writing.eviction.temperatures", lambda accesses, *_: chance.random(len(accesses))):
        yield


def _mean(some: Sequence[Told]) -> dict[str, float]:
    return mean([score for one in some for score in one.scores])


@contextmanager
def _own(settings: Settings, embedder: CheckedEmbedder, clock: Clock) -> Iterator[Memory]:
    tenant = f"bench-{uuid4().hex}"
    own = settings.model_copy(update={"tenant": tenant})
    mine = Memory.connect(settings=own, embedder=embedder, clock=clock)
    try:
        yield mine
    finally:
        mine.close()
        purge(tenant, settings=own)


def _told(settings: Settings, embedder: CheckedEmbedder, conversation: Conversation, cap: int) -> Told:
    clock, asked, shown, over = Clock(), set[int](), Counter[str](), 0
    told = set[str]()
    with _own(settings, embedder, clock) as memory:
        sessions = [list(some) for _, some in groupby(conversation.turns, lambda turn: turn["session"])]
        for number, turns in enumerate(sessions, 1):
            memory.add_many(turns, user_id="ana")
            memory.limit(cap, user_id="ana")
            told |= {turn["id"] for turn in turns}
            clock.now = _BEGIN + _YEAR * number / len(sessions)
            _warm(memory, conversation.questions, told, asked, shown)
            memory.evict(user_id="ana")
            notes = memory.stats(user_id="ana").notes
            over = max(over, sum(notes.get(status, 0) for status in ("active", "pending")) - cap)
        notes = memory.stats(user_id="ana").notes
        ended = after(conversation, memory)
        scores = [_score(ended, one) for one in conversation.questions[1::2]]
        assert not memory.verify(user_id="ana")
    return Told(notes["active"], max(over, 0) if cap else 0, notes.get("archived", 0), scores)


def _warm(memory: Memory, questions: Sequence[Question], told: set[str], asked: set[int], shown: Counter[str]) -> None:
    """Ask the even questions that can be answered by now, each once, and count what contexts show."""
    scope = f"{memory.engine.settings.tenant}/ana"
    for number in range(0, len(questions), 2):
        if number in asked or not told.issuperset(questions[number].evidence):
            continue
        asked.add(number)
        shown.update(entry.note.id for entry in memory.context(questions[number].text, user_id="ana").entries)
    with memory.engine.db._session() as session:
        rows = [{"id": note, "shown": times} for note, times in shown.items()]
        session.run(
            "UNWIND $rows AS row MERGE (u:Usage {scope: $scope, id: row.id}) SET u.shown = row.shown",
            rows=rows,
            scope=scope,
        ).consume()


def _score(memory: Memory, question: Question) -> dict[str, float]:
    hits = memory.search(question.text, user_id="ana", top_k=20)
    evidence = set(question.evidence)
    by_hits = evidence & {source.id for hit in hits[:10] for source in hit.sources}
    return {
        "R@10": recall_at(10, [source.id for hit in hits for source in hit.sources], question.evidence),
        "R@10_by_hits": 100 * len(by_hits) / len(evidence),
    }


# ---- what an eviction takes, and whether it is undone -------------------------------------------


def timed(memory: Memory, every: Sequence[Conversation], most: int) -> dict[str, float]:
    """Evict half of `most` notes; return the seconds, and the bytes of notes afterwards over those before."""
    clock = Clock()
    with _own(memory.engine.settings, memory.engine.embedder, clock) as mine:
        scope = Scope(mine.engine.settings.tenant, "ana")
        fillers.fill_one(mine, scope, fillers.originals(mine, every), most, seed=0)
        clock.now += _YEAR
        before = _bytes(mine, scope.name)
        settings = mine.engine.settings.lifecycle
        left = most - most / 2 * (1 - 1 / settings.cluster)
        mine.limit(round(left / settings.target), user_id="ana")
        begun = time.perf_counter()
        done = mine.evict(user_id="ana")
        seconds = time.perf_counter() - begun
        assert not mine.verify(user_id="ana")
        return {
            "evicted": float(done.notes),
            "summaries": float(done.summaries),
            "evict_s": seconds,
            "bytes_after_evict": _bytes(mine, scope.name) / before,
        }


def _bytes(memory: Memory, scope: str) -> int:
    """Return the bytes of the texts and vectors of a scope's notes, former versions included."""
    with memory.engine.db._session() as session:
        row = session.run(
            "MATCH (n:Note|Past {scope: $scope}) "
            "RETURN sum(size(n.context) + size(n.raw_terms) + size(n.context_terms) + size(n.raw_scoped) "
            "+ size(n.context_scoped) + reduce(length = 0, line IN n.raw | length + size(line)) "
            "+ 4 * (coalesce(size(n.raw_embedding), 0) + coalesce(size(n.context_embedding), 0))) AS bytes",
            scope=scope,
        ).single(strict=True)
    return int(row["bytes"])


def restored(memory: Memory, conversation: Conversation) -> dict[str, float]:
    """Undo an eviction of a conversation whole; return the share of nodes and ties that are what they were before."""
    clock = Clock()
    with _own(memory.engine.settings, memory.engine.embedder, clock) as mine:
        mine.add_many(conversation.turns, user_id="ana")
        clock.now += _YEAR
        before = _snapshot(mine)
        mine.limit(int(0.7 * mine.stats(user_id="ana").notes["active"]), user_id="ana")
        done = mine.evict(user_id="ana")
        for decision in done.decisions:
            mine.undo(decision.id, user_id="ana")
        after_it = _snapshot(mine)
        same = sum(sum((was & now).values()) for was, now in zip(before, after_it, strict=True))
        most = sum(max(was.total(), now.total()) for was, now in zip(before, after_it, strict=True))
        return {"restored_exact": same / most, "undone": float(done.notes)}


_OTHERS = {"recorded_at", "revision", "stamp", "version", "changed_since", "notes_since", "lock", "cap", "next_expiry"}


def _snapshot(memory: Memory) -> tuple[Counter[object], Counter[object]]:
    """Return all nodes of now and the ties between them, vectors to three digits."""
    scope = f"{memory.engine.settings.tenant}/ana"
    with memory.engine.db._session() as session:
        nodes = session.run(
            "MATCH (n:Note|Source|Keyword|Scope {scope: $scope}) RETURN labels(n) AS labels, properties(n) AS given",
            scope=scope,
        ).data()
        ties = session.run(
            "MATCH (a:Note|Source|Keyword {scope: $scope})-[r]->(b:Note|Source|Keyword) "
            "RETURN type(r) AS kind, coalesce(a.id, a.name) AS a, coalesce(b.id, b.name) AS b, properties(r) AS given",
            scope=scope,
        ).data()
    return (
        Counter((tuple(node["labels"]), _plain(node["given"])) for node in nodes),
        Counter((tie["kind"], tie["a"], tie["b"], _plain(tie["given"])) for tie in ties),
    )


def _plain(given: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    return tuple(
        sorted(
            (
                name,
                str([round(one, 3) + 0.0 for one in value] if isinstance(value, list) and _numbers(value) else value),
            )
            for name, value in given.items()
            if name not in _OTHERS and not (name == "constructed_by" and not value)
        )
    )


def _numbers(values: Sequence[object]) -> bool:
    return bool(values) and all(isinstance(one, float) for one in values)

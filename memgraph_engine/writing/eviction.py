"""Bring a memory down to its cap: the coldest notes are archived, and summaries stand for them (MLA-ARC, Algorithm 1).

Each summary is a decision of its own, with what it sums: so one undo brings that back whole. What is archived keeps its
words, and its sources; a summary tells of these.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import groupby, islice
from math import ceil
from operator import attrgetter

from memgraph_engine.arrays import np
from memgraph_engine.cost import NOTHING
from memgraph_engine.engine.passes import Pass, Progress
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, NotFound
from memgraph_engine.graph import erasures, notes, scopes
from memgraph_engine.graph.notes import Evictable, NewSummary, Part, Revision, Summed
from memgraph_engine.graph.scopes import ScopeState
from memgraph_engine.lifecycle.eviction import Cold, clusters, information, temperatures
from memgraph_engine.model.memory import Note, note_id
from memgraph_engine.model.result import Decision, Evicted
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing import contexts, summaries
from memgraph_engine.writing.commit import until_current
from memgraph_engine.writing.summaries import Consolidator
from memgraph_engine.writing.transaction import Transaction

_SOME = 50  # summaries of one transaction
_WIDER = 4  # times as many notes are looked at where nothing can be summed of the coldest
_YOUNG = timedelta(days=1)
_DAY = 86400.0  # seconds
_OF_ASSISTANTS = 0.5  # what an assistant's words count beside a user's, which only the user knows

Cluster = Sequence[Summed]
"""Notes that one summary stands for, in the order of time."""


def limit(engine: Engine, scope: Scope, cap: int | None) -> None:
    """Give a memory a cap of its own; raises InvalidInput, or NotFound for one that was never written to."""
    if cap is not None and (type(cap) is not int or cap < 0):
        raise InvalidInput(f"cap must be a whole number of notes, 0 for any number, or None, not {cap!r}.")
    if not engine.db.commit("scopes/limit", scope=scope.name, cap=cap):
        raise NotFound(f"The memory of {scope} is empty: there is nothing to limit.")


class Eviction(Pass[Evicted]):
    """Sums up the coldest notes of a scope that has more than its cap, until no more than the target are left."""

    name, when = "evict", "where a memory has more notes than its cap"
    sign, why = "crowded", "more notes than the cap"
    tells = "archived=notes summaries"

    def __init__(self, engine: Engine, scope: Scope, tell: Progress | None = None, *, dry_run: bool = False) -> None:
        super().__init__(engine, scope, tell)
        self.dry_run, self.notes, self.planned = dry_run, 0, 0
        self.decisions: list[Decision] = []

    def work(self) -> Evicted:
        """Evict until no more notes than the target are left, or until no others can be."""
        while until_current(self.db, self.scope.name, self._some) and not self.dry_run:
            pass
        state = scopes.state(self.db, self.scope.name)
        left = (state.notes if state else 0) - self.dry_run * (self.notes - self.planned)
        cap, made = self._cap(state), self.planned if self.dry_run else len(self.decisions)
        return Evicted(self.notes, made, left, cap, tuple(self.decisions), self.spent.cost, self.spent.fallbacks)

    def _cap(self, state: ScopeState | None) -> int:
        settings = self.engine.settings.lifecycle
        return settings.cap if state is None or state.cap is None else state.cap

    def _some(self) -> bool:
        """Evict what is over the target, as far as it is found at once; return whether there was any."""
        state = scopes.state(self.engine.db, self.scope.name)
        cap = self._cap(state)
        over = (state.notes if state else 0) - int(cap * self.engine.settings.lifecycle.target)
        begun = self.notes > 0  # below the cap, and not yet at the target
        if not state or not cap or over <= 0 or not (begun or state.notes > cap):
            return False
        chosen = list(_enough(self._clusters(over), over))
        if self.dry_run:
            self.notes, self.planned = sum(map(len, chosen)), len(chosen)
            return False
        self._write(state, chosen)
        return bool(chosen)

    # ---- what leaves ------------------------------------------------------------------------

    def _clusters(self, over: int) -> list[Cluster]:
        """Return what can be summed of the coldest notes, so many that `over` fewer notes may be left."""
        settings = self.engine.settings.lifecycle
        cold = self._coldest()
        number = over + ceil(over / (settings.cluster - 1))
        while True:
            found = self._summable(cold[:number])
            if found or number >= len(cold):
                return found
            number *= _WIDER

    def _coldest(self) -> list[Evictable]:
        """Return all notes that may leave and have others like them, the coldest first.

        A summary is as warm as that many notes. So single notes are summed up before summaries are, and small summaries
        before large ones: each stands for about as much, and none becomes a heap that no question finds.
        """
        engine, scope, settings = self.engine, self.scope.name, self.engine.settings.lifecycle
        held = erasures.held(engine.db, scope)
        if any(not (one.session or one.source) for one in held):
            return []
        now = engine.now()
        sources, sessions = ([value for one in held if (value := getattr(one, of))] for of in ("source", "session"))
        every = notes.evictable(engine.db, scope, now - _YOUNG, engine.policies.staying, sources, sessions)
        others = Counter(one.alike for one in every)
        found = [one for one in every if others[one.alike] > 1]
        # who may have been shown the notes: of a shared memory all users of the tenant
        readers = [scope] if self.scope.user else scopes.of_tenant(engine.db, self.scope.tenant)
        rows = engine.db.run("usage/shown", scopes=readers) if found else []
        shown = {row["id"]: row["shown"] for row in rows}
        days = [max((now - one.created_at).total_seconds(), 0.0) / _DAY for one in found]
        told = [
            each * _OF_ASSISTANTS if one.role == "assistant" else each
            for one, each in zip(found, information([one.terms for one in found]), strict=True)
        ]
        warm = np.array([max(one.sums, 1) for one in found], dtype=np.float64) * temperatures(
            np.array([shown.get(one.id, 0) for one in found], dtype=np.float64),
            np.array(days, dtype=np.float64),
            np.array(told, dtype=np.float64),
            settings.access_weight,
            settings.age_weight,
            settings.information_weight,
        )
        return [found[row] for row in np.argsort(warm, kind="stable").tolist()]

    def _summable(self, cold: Sequence[Evictable]) -> list[Cluster]:
        settings, dimensions = self.engine.settings.lifecycle, self.engine.embedder.dimensions
        alike = {one.id: one.alike for one in cold}
        every = notes.summed(self.engine.db, self.scope.name, list(alike), dimensions)
        found = [one for one in every if one.vector]  # else it was changed meanwhile
        if not found:
            return []
        of = [one.found.note for one in found]
        some = [Cold(alike[one.id], one.session, (one.said_at.timestamp(), one.seq)) for one in of]
        raw = b"".join(one.vector.raw() for one in found if one.vector)
        given = np.frombuffer(raw, dtype=">f4").astype(np.float32).reshape(len(found), -1)
        unit = given / np.linalg.norm(given, axis=1, keepdims=True)
        groups = clusters(some, unit, settings.similar, settings.cluster)
        return [[found[row] for row in group] for group in groups]

    # ---- what stands for it -----------------------------------------------------------------

    def _write(self, state: ScopeState, chosen: Sequence[Cluster]) -> None:
        """Write summaries, some in a transaction; raises Stale where another write comes between."""
        rare = summaries.rare((part for some in chosen for one in some for part in one.parts), state.language)
        asking = Consolidator(self.engine.roles, self.spent, state.language)
        rest = iter(chosen)
        while some := list(islice(rest, _SOME)):
            stored = {name for cluster in some for one in cluster for name in one.found.note.keywords}
            transaction = Transaction(self.engine, self.scope, state, stored)
            made = self._sum_up(transaction, some, rare, asking)
            transaction.commit()
            self.decisions += made
            self.notes += sum(map(len, some))
            state = replace(state, version=state.version + 1)

    def _sum_up(
        self,
        transaction: Transaction,
        some: Sequence[Cluster],
        rare: Mapping[str, float],
        asking: Consolidator,
    ) -> list[Decision]:
        """Plan a summary of each cluster; return the decisions."""
        order = attrgetter("said_at", "session", "seq", "note")
        parts = [sorted((part for one in cluster for part in one.parts), key=order) for cluster in some]
        seen = self.engine.policies.seen_by_models
        written = [
            one
            for note, group in _of_one_life(some, parts)
            for one in (asking.written(group) if seen(note) else [None] * len(group))
        ]
        decisions = []
        for place, (cluster, own, by) in enumerate(zip(some, parts, written, strict=True)):
            told = summaries.told(transaction, own, rare)
            if by:
                told |= {**contexts.terms_of(by.text, (), transaction.language), "constructed_by": by.model}
            ids = sorted({*(part.note for part in own), *(one.found.note.id for one in cluster)})
            decision = transaction.decide(
                "consolidate",
                note_id(self.scope.name, " ".join(ids)),
                evidence=f"It sums up {len(cluster)} notes.",
                model=by.model if by else "",
                cost=by.cost if by else NOTHING,
            )
            first, names = cluster[0].found.note, Counter(name for one in cluster for name in one.found.note.keywords)
            lives = {name: getattr(first, name) for name in ("speaker", "role", "policy", "apart")}  # as what it sums
            transaction.sum_up(
                NewSummary(
                    decision.note,
                    decision.id,
                    {**told, **lives, "policy_as": first.policy_as or None},
                    tuple(sorted(names, key=lambda name: (-names[name], name))[: self.engine.settings.max_keywords]),
                    tuple(ids),
                    # a millisecond apart, so that listing by time keeps their order
                    transaction.now + timedelta(milliseconds=place),
                    (first.expires_at, first.erase_at),
                )
            )
            for one in cluster:
                transaction.revise(one.found, Revision.archived(one.found.note.id, decision.id))
            decisions.append(decision)
        return decisions


def _enough(found: Sequence[Cluster], over: int) -> Iterator[Cluster]:
    """Yield the coldest clusters until so many fewer notes are left."""
    for cluster in found:
        if over <= 0:
            return
        over -= len(cluster) - 1
        yield cluster


def _of_one_life(some: Sequence[Cluster], parts: Sequence[list[Part]]) -> Iterator[tuple[Note, list[list[Part]]]]:
    """Yield side by side what ends, and is kept apart, together, with one of the notes.

    A model may put words of one group into the summary of another.
    """
    firsts, life = [cluster[0].found.note for cluster in some], attrgetter("expires_at", "erase_at", "apart")
    for _, group in groupby(zip(firsts, parts, strict=True), key=lambda pair: life(pair[0])):
        (note, own), *rest = group
        yield note, [own, *(other for _, other in rest)]

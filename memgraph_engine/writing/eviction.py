"""Bring a memory down to its cap: the coldest notes are archived, and summaries stand for them (MLA-ARC, Algorithm 1).

The coldest are those of the least temperature, or of the least utility (MemoryArchitect, section II.F).

Each summary is a decision of its own, with what it sums: so one undo brings that back whole. What is archived keeps its
words, and its sources; a summary tells of these.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby, islice
from math import ceil
from operator import attrgetter

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.engine.passes import Pass, Progress
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, NotFound
from memgraph_engine.graph import erasures, notes, scopes, usage
from memgraph_engine.graph.notes import Evictable, Part, Summed
from memgraph_engine.graph.scopes import ScopeState
from memgraph_engine.graph.waiting import Waiting
from memgraph_engine.lifecycle import utility
from memgraph_engine.lifecycle.eviction import Cold, clusters, information, temperatures
from memgraph_engine.model.memory import Note
from memgraph_engine.model.result import Decision, Evicted
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.usage import Usage
from memgraph_engine.writing import summaries
from memgraph_engine.writing.commit import until_current
from memgraph_engine.writing.summaries import Consolidator
from memgraph_engine.writing.transaction import Transaction

_SOME = 50  # summaries of one transaction
_WIDER = 4  # times as many notes are looked at where nothing can be summed of the coldest
_YOUNG = timedelta(days=1)
_DAY = 86400.0  # seconds
_NEVER = 2.0  # no cosine is as great
_OF_ASSISTANTS = 0.5  # what an assistant's words count beside a user's, which only the user knows

Cluster = Sequence[Summed]
"""Notes that one summary stands for, in the order of time."""


def limit(engine: Engine, scope: Scope, cap: int | None) -> None:
    """Give a memory a cap of its own; raises InvalidInput, or NotFound for one that was never written to."""
    if cap is not None and (type(cap) is not int or cap < 0):
        raise InvalidInput(f"cap must be a whole number of notes, 0 for any number, or None, not {cap!r}.")
    if not engine.db.commit("scopes/limit", scope=scope.name, cap=cap):
        raise NotFound(f"The memory of {scope} is empty: there is nothing to limit.")


def _shortens(engine: Engine) -> bool:
    """Tell whether long sessions are summed up: by a model alone, since all of it is to be told."""
    return engine.settings.lifecycle.session_cap > 0 and engine.roles.has("consolidation")


class Eviction(Pass[Evicted]):
    """Sums up the coldest notes of a scope that has more than its cap, until no more than the target are left."""

    name, when = "evict", "where a memory is above its cap"
    sign, why = "crowded", "above the cap"
    tells = "archived=notes summaries"

    def __init__(self, engine: Engine, scope: Scope, tell: Progress | None = None, *, dry_run: bool = False) -> None:
        super().__init__(engine, scope, tell)
        self.dry_run, self.begun, self.notes, self.planned = dry_run, False, 0, 0
        self.decisions: list[Decision] = []

    def work(self) -> Evicted:
        """Evict until no more notes than the target are left, or until no others can be."""
        if _shortens(self.engine) and not self.dry_run:
            until_current(self.db, self.scope.name, self._shorten)
        while until_current(self.db, self.scope.name, self._some) and not self.dry_run:
            pass
        state = scopes.state(self.db, self.scope.name)
        left = (state.notes if state else 0) - self.dry_run * (self.notes - self.planned)
        cap, made = self._cap(state), self.planned if self.dry_run else len(self.decisions)
        size = (state.size(self.engine.embedder.dimensions) if state else 0) / 1_000_000
        done = tuple(self.decisions), self.spent.cost, self.spent.fallbacks
        return Evicted(self.notes, made, left, cap, *done, size, self.engine.settings.lifecycle.cap_mb)

    @classmethod
    def due(cls, engine: Engine, waiting: Waiting, now: datetime) -> str:
        """Say why it is due; where long sessions are summed up, also after new interactions."""
        return super().due(engine, waiting, now) or (
            "new interactions" if waiting.evolving and _shortens(engine) else ""
        )

    def _cap(self, state: ScopeState | None) -> int:
        settings = self.engine.settings.lifecycle
        return settings.cap if state is None or state.cap is None else state.cap

    def _some(self) -> bool:
        """Evict what is over the target, as far as it is found at once; return whether there was any."""
        state = scopes.state(self.engine.db, self.scope.name)
        over = self._over(state) if state and state.notes else 0
        if not state or over <= 0:
            return False
        chosen = list(_enough(self._clusters(over), over))
        if self.dry_run:
            self.notes, self.planned = sum(map(len, chosen)), len(chosen)
            return False
        self._write(state, chosen)
        self.begun = True
        return bool(chosen)

    def _shorten(self) -> None:
        """Let a model sum up the earliest notes of long sessions, down to half (MLA-ARC, section 3.8.2)."""
        state = scopes.state(self.engine.db, self.scope.name)
        most, sessions = self.engine.settings.lifecycle.session_cap, defaultdict[str, list[Evictable]](list)
        for one in self._evictable():
            if one.session and not one.sums:
                sessions[one.session].append(one)
        early = [one for some in sessions.values() if len(some) > most for one in some[: len(some) - most // 2]]
        if state and early:
            self._write(state, self._summable(early, near=False), modelled=True)

    def _over(self, state: ScopeState) -> int:
        """Return how many notes are above the target of the caps, as large as they are on average."""
        settings, size = self.engine.settings.lifecycle, state.size(self.engine.embedder.dimensions)
        caps = [(state.notes, self._cap(state), 1.0), (size, settings.cap_bytes, size / state.notes)]
        begun = self.begun  # below the cap, and not yet at the target
        over = ((held - int(cap * settings.target)) / each for held, cap, each in caps if cap and (begun or held > cap))
        return ceil(max(over, default=0))

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
        now, every = engine.now(), self._evictable()
        others = Counter(one.alike for one in every)
        found = [one for one in every if others[one.alike] > 1]
        # who may have been shown the notes: of a shared memory all users of the tenant
        readers = [scope] if self.scope.user else scopes.of_tenant(engine.db, self.scope.tenant)
        used = usage.of_readers(engine.db, readers) if found else {}
        warmth = self._utilities if settings.order == "utility" else self._temperatures
        warm = np.array([max(one.sums, 1) for one in found], dtype=np.float64) * warmth(found, used, now)
        return [found[row] for row in np.argsort(warm, kind="stable").tolist()]

    def _evictable(self) -> list[Evictable]:
        """Return all notes that may leave, in the order in which they were said."""
        db, scope = self.engine.db, self.scope.name
        held = erasures.held(db, scope)
        if any(not (one.session or one.source) for one in held):
            return []
        sources, sessions = ([value for one in held if (value := getattr(one, of))] for of in ("source", "session"))
        return notes.evictable(db, scope, self.engine.now() - _YOUNG, self.engine.policies.staying, sources, sessions)

    def _utilities(
        self, found: Sequence[Evictable], used: Mapping[str, Sequence[Usage]], now: datetime
    ) -> "NDArray[np.float64]":
        """Return what notes are worth to the reader to whom each is worth most."""
        classes = self.engine.policies
        fresh = (utility.started(classes.known(one.policy), one.created_at, message=one.message) for one in found)
        worth = [
            max(utility.current(each, now) for each in used.get(one.id) or [new])
            for one, new in zip(found, fresh, strict=True)
        ]
        return np.array(worth, dtype=np.float64)

    def _temperatures(
        self, found: Sequence[Evictable], used: Mapping[str, Sequence[Usage]], now: datetime
    ) -> "NDArray[np.float64]":
        settings, again = self.engine.settings.lifecycle, self.engine.settings.recall.restated
        accesses = [sum(each.shown for each in used.get(one.id, ())) + again * max(one.restated, 0) for one in found]
        days = [max((now - one.created_at).total_seconds(), 0.0) / _DAY for one in found]
        told = [
            each * _OF_ASSISTANTS if one.role == "assistant" else each
            for one, each in zip(found, information([one.terms for one in found]), strict=True)
        ]
        return temperatures(
            np.array(accesses, dtype=np.float64),
            np.array(days, dtype=np.float64),
            np.array(told, dtype=np.float64),
            settings.access_weight,
            settings.age_weight,
            settings.information_weight,
        )

    def _summable(self, cold: Sequence[Evictable], *, near: bool = True) -> list[Cluster]:
        """Return what can be summed together: what is near to each other, and else turn by turn."""
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
        groups = clusters(some, unit, settings.similar if near else _NEVER, settings.cluster)
        return [[found[row] for row in group] for group in groups]

    # ---- what stands for it -----------------------------------------------------------------

    def _write(self, state: ScopeState, chosen: Sequence[Cluster], *, modelled: bool = False) -> None:
        """Write summaries, some in a transaction; raises Stale where another write comes between.

        If they are to be `modelled`, what no model tells faithfully stays.
        """
        rare = summaries.rare((part for some in chosen for one in some for part in one.parts), state.language)
        asking = Consolidator(self.engine.roles, self.spent, state.language)
        rest = iter(chosen)
        while some := list(islice(rest, _SOME)):
            stored = {name for cluster in some for one in cluster for name in one.found.note.keywords}
            transaction = Transaction(self.engine, self.scope, state, stored)
            made = self._sum_up(transaction, some, rare, asking, modelled=modelled)
            transaction.commit()
            self.decisions += [decision for decision, _ in made]
            self.notes += sum(number for _, number in made)
            state = replace(state, version=state.version + bool(made))

    def _sum_up(
        self,
        transaction: Transaction,
        some: Sequence[Cluster],
        rare: Mapping[str, float],
        asking: Consolidator,
        *,
        modelled: bool,
    ) -> list[tuple[Decision, int]]:
        """Plan a summary of each cluster; return the decisions, each with how many notes it sums."""
        parts = [summaries.parts_of(cluster) for cluster in some]
        seen = self.engine.policies.seen_by_models
        written = [
            one
            for note, group in _of_one_life(some, parts)
            for one in (asking.written(group) if seen(note) else [None] * len(group))
        ]
        decisions = []
        for cluster, own, by in zip(some, parts, written, strict=True):
            if modelled and not by:
                continue
            told = summaries.told(transaction, own, rare)
            why = f"It sums up {len(cluster)} notes."
            made = summaries.sum_up(transaction, "consolidate", cluster, own, told, by, evidence=why)
            decisions.append((made, len(cluster)))
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

"""Ask again where what is found does not answer the question: iterative evidence refinement (MemFly, section 3.4.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memgraph_engine.arrays import np
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.note_cache import CachedNote, NoteCache
from memgraph_engine.language.terms import tokenize
from memgraph_engine.llm.role import Request, role
from memgraph_engine.llm.roles import Roles
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.result import Hits, QueryPlan, Round
from memgraph_engine.recall.fusion import counted
from memgraph_engine.recall.plan import Reading, read_by_model
from memgraph_engine.recall.question import terms
from memgraph_engine.recall.search import Found, Query, best_hits, first_found, ranked, retrieve
from memgraph_engine.settings import RecallSettings

_FOLLOWED, _ALIKE = 0.5, 0.25  # what a round counts of the one before: asked for by a model, or made of the best note
_LEANING = 0.5  # share of the best note's vector in what is asked next
_JUDGED = 5  # notes in which the question's terms are looked for
_SHOWN = 20  # notes that a model is shown (MemFly's K_final)
_UNAIDED = 2  # rounds without a model: a third found no more (docs/benchmarks-appendix.md)


@dataclass(frozen=True, slots=True)
class Refiner:
    """Plans a question, judges what is found, says what to ask next: by `planning` and `sufficiency`, or without.

    A single round asks none: whoever allows for more has the time.

    Without a model the confidence is the share of the question's terms, names and dates among them, that the best
    notes hold; the next question has the rarest term of the best one, and leans towards its vector.
    """

    settings: RecallSettings
    embedder: CheckedEmbedder
    roles: Roles
    spent: Spent
    routed: bool = False
    """Whether queries that ask what holds in general are left to claims."""

    def search(self, db: Database, cache: NoteCache, query: Query, language: str, rounds: int) -> Hits:
        """Return the best notes for a question after at most so many rounds, each of one round trip.

        A note's score is the mean of what it scored in each round, of which each counts less than the one before.
        """
        query = replace(query, reading=query.reading or self._planned(query)) if rounds > 1 else query
        plan = query.reading.plan if query.reading and query.reading.plan.model else None
        query, meant, whole = self._split(query) if self.settings.split else query, self._meant(query), query.filters
        own = replace(whole, policy=meant["policies"] or whole.policy, kind=meant["kind"] or whole.kind)
        later = query = replace(query, filters=own)
        found, told, languages, shares = list[Found](), list[Round](), [language], [1.0]
        while True:
            found.append(retrieve(db, cache, later, languages, self.settings))
            if not found[-1].notes and query.filters != whole:
                meant["dropped"] = True
                query, later = replace(query, filters=whole), replace(later, filters=whole)
                found[-1] = retrieve(db, cache, later, languages, self.settings)
            languages = list(found[-1].languages)
            scores, first = _mean([one.scores for one in found], shares), first_found(found)
            best = [one.notes[row] for one, row in map(first.__getitem__, ranked(scores)[:_SHOWN])]
            cache.complete(db, query.scope_names, best)
            best = [note for note in best if note.whole]  # others were removed meanwhile
            last = len(found) == rounds or not best
            judged, follow_up = self._judged(query, later.text, best, languages, told, last=last)
            pool = found[-1].pool
            judged = replace(
                judged,
                plan=replace(found[-1].reading.plan, **meant),
                pool=len(pool.notes),
                fetched=pool.fetched,
                pathways=found[-1].followed,
            )
            told.append(judged)
            if judged.sufficient or last or (not follow_up and len(found) == _UNAIDED):
                hits = best_hits(db, cache, query, found, scores, told)
                return Hits(hits, among=hits.among, plan=plan and replace(plan, **meant))
            later = self._next(query, follow_up, best[0], found[0])
            shares.append(shares[-1] * (_FOLLOWED if follow_up else _ALIKE))

    def _planned(self, query: Query) -> Reading | None:
        """Let the role read the question; None where it has no model, or that fails."""
        if not self.roles.has("planning"):
            return None
        given = query.text, query.moment, query.turns, self.roles, self.embedder, self.spent
        classes = query.policies.open if self.settings.intent else ()
        return read_by_model(*given, routed=self.routed, classes=classes)

    def _meant(self, query: Query) -> dict[str, Any]:
        """Return what a question is about, by a model or rules: nothing where its asker names classes or a kind."""
        asked, plan = query.filters, query.reading.plan if query.reading else QueryPlan()
        named = any(query.policies.known(one).asked for one in asked.shown)
        if not self.settings.intent or named or asked.policy or asked.not_policy or asked.kind:
            return {"policies": (), "kind": "", "dropped": False}
        classes = plan.policies if plan.model else query.policies.wanted(query.text)
        return {"policies": tuple(one for one in classes if one in asked.shown), "kind": plan.kind, "dropped": False}

    def _split(self, query: Query) -> Query:
        """Return a question as the first of its queries, with the others beside it (LightMem, section 3.4)."""
        reading = query.reading
        if reading is None or not reading.plan.model or not reading.queries:
            return query
        first, *rest = reading.plan.queries
        own, *others = reading.queries
        plan = replace(reading.plan, queries=tuple(rest))
        return replace(query, text=first, vector=own, reading=replace(reading, plan=plan, queries=others))

    def _judged(
        self,
        query: Query,
        asked: str,
        best: Sequence[CachedNote],
        languages: Sequence[str],
        told: Sequence[Round],
        *,
        last: bool,
    ) -> tuple[Round, str]:
        """Return the round with its confidence, and what the model wants to know next; '' to go by the best notes."""
        if last and told and told[-1].model:
            return Round(asked, None, sufficient=False), ""
        if not last and all(one.model for one in told):  # one that failed is not asked again
            by_model = self._by_model(query, asked, best)
            if by_model:
                return by_model
        return self._by_terms(query, asked, best, languages), ""

    def _by_model(self, query: Query, asked: str, best: Sequence[CachedNote]) -> tuple[Round, str] | None:
        """Ask the role; None where it has no model, or may see none of the notes, or that fails."""
        notes = [note for one in best if query.policies.seen_by_models(note := one.note())]
        if not notes or not self.roles.has("sufficiency"):
            return None
        request = sufficiency(query.text, [note.context for note in notes])
        answer = self.roles.asked(request, self.spent, "Judging the evidence")
        if answer is None:
            return None
        (one,) = answer.items
        sufficient = one.confidence >= self.settings.sufficient or not one.next
        return Round(asked, one.confidence, sufficient, model=answer.model), one.next

    def _by_terms(self, query: Query, asked: str, best: Sequence[CachedNote], languages: Sequence[str]) -> Round:
        """Look for the question's terms in the best notes."""
        wanted = terms(query.text, languages)
        held = counted(best[:_JUDGED], wanted).max(axis=(0, 2), initial=0)
        missing = tuple(term for term, most in zip(wanted, held.tolist(), strict=True) if not most)
        confidence = 1 - len(missing) / max(len(wanted), 1) if best else 0.0
        return Round(asked, confidence, bool(best) and confidence >= self.settings.sufficient, missing)

    def _next(self, query: Query, follow_up: str, best: CachedNote, first: Found) -> Query:
        """Return what is asked in the next round: what a model wants to know, else more like the best note."""
        if follow_up:
            vector = self.embedder.embed_query(follow_up)
            later = replace(query, text=follow_up, vector=vector, reading=None, asked=query.vector)
            return replace(later, reading=self._planned(later)) if self.settings.planning == "each" else later
        (near,) = self.embedder.embed_documents(["\n".join(best.note().raw)])
        leaning = query.vector / np.linalg.norm(query.vector) + _LEANING * near / np.linalg.norm(near)
        rarest = _rarest(best, first.notes, terms(query.text, first.languages), first.languages)
        text = " ".join([query.text, *rarest])  # of the same time, though a term may be spelt like a month
        return replace(query, text=text, vector=leaning, reading=first.reading, asked=query.vector)


def sufficiency(question: str, notes: Sequence[str]) -> Request:
    """Ask whether notes, best first, answer a question, and what to ask the memory next where they don't."""
    return role("sufficiency").request([{"text": question, "notes": list(notes)}])


def _mean(rounds: Sequence[Mapping[str, float]], shares: Sequence[float]) -> dict[str, float]:
    return {
        note: sum(share * scores.get(note, 0.0) for share, scores in zip(shares, rounds, strict=True)) / sum(shares)
        for note in dict.fromkeys(note for scores in rounds for note in scores)
    }


def _rarest(best: CachedNote, pool: Sequence[CachedNote], known: Sequence[str], languages: Sequence[str]) -> list[str]:
    """Return the new term of the best note that the fewest others have, if there is any."""
    lines = "\n".join(best.note().raw)
    some = sorted({term for language in languages for term in tokenize(lines, language)}.difference(known))
    said = counted([best], some)[0, :, 0] > 0  # dates and speakers stand in its lines, and are none of its terms
    new = [term for term, own in zip(some, said, strict=True) if own]
    carried = (counted(pool, new)[:, :, 0] > 0).sum(axis=0).tolist()
    return [term for _, term in sorted(zip(carried, new, strict=True))][:1]

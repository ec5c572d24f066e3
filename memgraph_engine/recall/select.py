"""The second stage of a search: the best notes are read beside the question, and the best of these are left.

LightMem (section 3.4) keeps K of 2K notes so. Its first stage goes by vectors alone; here the fused score has put the
notes in order already, and that order stands wherever nothing reads them, or what does fails.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from memgraph_engine.cost import NOTHING
from memgraph_engine.errors import ModelError, ModelUnavailable, Unusable
from memgraph_engine.llm.role import Request, role
from memgraph_engine.llm.roles import Roles
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.memory import Note
from memgraph_engine.model.ports import Reranker
from memgraph_engine.model.result import Hit, Hits, Reranked
from memgraph_engine.recall.search import Query, newest_first

MOST_READ = 100
"""Notes that are read: of more, a chat model loses track, and a cross-encoder takes seconds."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What was made of the notes that were read: `order` has those that are left, by their places before, best first.

    `scores` are the reranker's, by the places too, and `why` says what became of a note that is not among the hits.
    """

    by: str
    order: Sequence[int]
    scores: Mapping[int, float]
    why: str


@dataclass(frozen=True, slots=True)
class Selector:
    """Puts notes in the order of a reranker; without one, the role `selecting` says which are left.

    `times` as many notes are read as are asked for, 100 at most. Those behind them, and what a policy keeps from chat
    models where one reads or a provider's reranker does, keep their places.
    """

    reranker: Reranker | None
    roles: Roles
    spent: Spent
    times: int

    def widened(self, query: Query) -> Query:
        """Return a query that finds as many notes as are read."""
        return replace(query, candidates=min(self.times * query.top_k, MOST_READ))

    def select(self, query: Query, found: Hits) -> Hits:
        """Return at most `top_k` of what a widened query found: the best as they are, if reading them fails."""
        local = self.reranker is not None and not getattr(self.reranker, "remote", False)
        places = [place for place, hit in enumerate(found) if local or query.policies.seen_by_models(hit.note)]
        places = places[: query.candidates]
        stay = set(range(min(query.top_k, len(found)))).difference(places)
        read = self._read(query, found, places, query.top_k - len(stay))
        if read is None:
            return Hits(newest_first(found[: query.top_k]), among=found.among, plan=found.plan)
        left = _among(read.order, stay, query.top_k)
        hits = [_placed(found, place, rank, read) for rank, place in enumerate(left)]
        dropped = {found[place].note.id: read.why for place in sorted(set(places).difference(left))}
        return Hits(newest_first(hits), among=found.among, dropped=dropped, plan=found.plan)

    def _read(self, query: Query, found: Hits, places: Sequence[int], most: int) -> _Read | None:
        """Let the notes at these places be read, of which so many can be left; None if nothing comes of it."""
        if not places or not most:
            return None
        some = [found[place].note for place in places]
        texts = [note.context for note in some]
        if self.reranker is not None:
            try:
                return _reranked(self.reranker, query.text, texts, places, most)
            except ModelError as error:
                self.spent.failed("Reranking the notes", error)
                return None
        queries = found.plan.queries if found.plan else ()
        shown = [_shown(note) for note in some]
        answer = self.roles.asked(selecting(query.text, shown, most, queries), self.spent, "Selecting the notes")
        if answer is None:
            return None
        order = [places[number - 1] for number in answer.items[:most]]
        return _Read(answer.model, order, {}, f"{answer.model} read it, and kept {len(order)} of {len(texts)} notes")


def selecting(question: str, notes: Sequence[Mapping[str, str]], most: int, queries: Sequence[str] = ()) -> Request:
    """Ask which of notes, likeliest first, answer a question, or one of the queries made of it: at most so many."""
    asked = {"question": question} | ({"queries": list(queries)} if queries else {})
    return role("selecting").request(notes, question=[asked], most=most)


def _shown(note: Note) -> dict[str, str]:
    """Return what a model is shown of a note: its text, and who said it when, as far as that is known."""
    told = {"text": note.context, "said": f"{note.said_at:%Y-%m-%d}", "by": note.speaker or note.role}
    return {name: value for name, value in told.items() if value}


def _reranked(reranker: Reranker, question: str, texts: Sequence[str], places: Sequence[int], most: int) -> _Read:
    """Put texts in a reranker's order; what it scores alike stays in the order of their places."""
    name = reranker.name
    try:
        scores = [float(score) for score in reranker.rerank(question, texts)]
    except ModelError as error:
        error.cost = NOTHING  # as of an embedder, what it costs is not counted
        raise
    except Exception as error:  # a stranger's code: whatever it raises, the notes are there
        raise ModelUnavailable(f"The reranker {name} failed on {len(texts)} texts: {error!r}", NOTHING) from error
    if len(scores) != len(texts) or not all(map(isfinite, scores)):
        wrong = f"{len(scores)} scores" if len(scores) != len(texts) else "a score that is no finite number"
        raise Unusable(f"The reranker {name} gave {wrong} for {len(texts)} texts; each needs a finite number.", NOTHING)
    by = dict(zip(places, scores, strict=True))
    return _Read(name, sorted(places, key=lambda place: -by[place]), by, f"{name} put it below the best {most}")


def _among(order: Sequence[int], stay: set[int], most: int) -> list[int]:
    """Return at most so many of what is ordered, with what stays at its place.

    >>> _among([3, 0, 2], {1}, 3), _among([3], {0, 2}, 4)
    ([3, 1, 0], [0, 3, 2])
    """
    rest = iter(order)
    filled = (place if place in stay else next(rest, None) for place in range(most))
    return [place for place in filled if place is not None]


def _placed(found: Sequence[Hit], place: int, rank: int, read: _Read) -> Hit:
    """Return a hit at its new rank, with the score that belongs to that."""
    hit, by = found[place], "" if place not in read.order else read.by
    told = Reranked(place + 1, hit.score, by, read.scores.get(place))
    explanation = hit.explanation and replace(hit.explanation, reranked=told)
    return replace(hit, score=found[rank].score, explanation=explanation)

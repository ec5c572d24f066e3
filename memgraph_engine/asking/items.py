"""Find items: by their keys, in their order, and by what they say."""

from collections.abc import Iterator, Sequence

from memgraph_engine.engine.wiring import Engine, followed, following
from memgraph_engine.graph import items as item_graph
from memgraph_engine.graph.items import Holding
from memgraph_engine.ingest.messages import check_text, local
from memgraph_engine.model.item import ITEMS, Item, item_of
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.pool import PATHWAYS
from memgraph_engine.recall.question import Filters
from memgraph_engine.recall.search import Found, Query, retrieve

_SCOPES = 16  # that one statement reads: full text takes so many words, times scopes
_MOST_WORDS = 1_000_000  # characters of a query

Ranked = list[tuple[Item, float | None]]
"""Items, the best first, each with its score; None for one that was not compared."""


class ItemReader:
    """Reads the items of one database that stand on a shelf."""

    def __init__(self, engine: Engine, shelf: str = ITEMS) -> None:
        self.engine, self._shelf = engine, shelf

    def _follow(self) -> None:
        """Take the embedder that the database has by now."""
        self.engine = followed(self.engine)

    def find(self, scope: Scope, keys: Sequence[str]) -> dict[str, Item]:
        """Return the items of these keys that can be read, by key."""
        return item_graph.find(self.engine.db, scope.name, self._shelf, keys)

    def every(self, held: Sequence[Holding]) -> Iterator[Item]:
        """Yield the items of scopes, those that changed last first."""
        return item_graph.every(self.engine.db, [one.scope.name for one in held], self._shelf)

    def begun(self, scope: Scope, key: str) -> Iterator[Item]:
        """Yield the items of a scope whose keys begin so, those that changed last first."""
        return item_graph.every(self.engine.db, [scope.name], self._shelf, key)

    def holding(self, user: str, below: str) -> list[Holding]:
        """Return the scopes with items of a user, and of those whose ids begin with `below`."""
        return item_graph.holding(self.engine.db, self.engine.settings.tenant, self._shelf, user, below)

    @following
    def ranked(self, held: Sequence[Holding], question: str, most: int, *, similar: bool) -> tuple[Ranked, bool]:
        """Return at least so many items as a question finds them, and whether these are all that have texts.

        The score is that of recall. If `similar` items are ranked by the cosine of their own words alone.
        """
        engine = self.engine
        check_text(question, "query", _MOST_WORDS)
        with engine.load.read() as busy:
            recall = engine.settings.recall
            recall = recall.switched(**dict.fromkeys(PATHWAYS, False)) if busy else recall
            vector = engine.embedder.embed_query(question)
            best, whole = dict[tuple[str, str], tuple[float, Item]](), True
            for start in range(0, len(held), _SCOPES):
                some = held[start : start + _SCOPES]
                query = Query(
                    question,
                    vector,
                    [one.scope for one in some],
                    Filters(kind="item", shown=engine.policies.shown()),
                    most,
                    local(engine.now(), engine.settings.timezone),
                    policies=engine.policies,
                )
                found = retrieve(engine.db, engine.notes, query, sorted({one.language for one in some}), recall)
                whole = whole and len(found.notes) < most
                for item, score in _scored(found, similar=similar):
                    meant = item.shelf == self._shelf
                    if meant and (item.place not in best or score > best[item.place][0]):
                        best[item.place] = score, item
        order = sorted(best.values(), key=lambda one: (-one[0], one[1].place))
        return [(item, score) for score, item in order], whole


def _scored(found: Found, *, similar: bool) -> Iterator[tuple[Item, float]]:
    """Yield the items of a pool, once for each of their notes, with its score."""
    for row, note in enumerate(found.notes):
        if note.whole:
            source = next(one for one in note.note().sources if one.kind == "item")
            score = found.cosines[row][0] if similar else found.total[row]
            yield item_of(note.scope, source), float(score)

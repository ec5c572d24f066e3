"""Answer a question with notes: one round trip to the graph, one more for notes not in the cache, then the ranking.

Where nothing that vectors and words found is relevant, the pathways are asked as well.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from itertools import accumulate, chain
from math import fsum, isqrt
from typing import Any

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.graph.blocks import SPARE
from memgraph_engine.graph.database import Database, Row
from memgraph_engine.graph.note_cache import CachedNote, NoteCache
from memgraph_engine.graph.notes import words_query
from memgraph_engine.graph.rows import milliseconds, moment, packed
from memgraph_engine.language.questions import asks_again
from memgraph_engine.language.terms import tokenize
from memgraph_engine.lifecycle.policies import Policies
from memgraph_engine.model.block import LONGEST
from memgraph_engine.model.item import UNFOUND
from memgraph_engine.model.memory import NEVER, TRUE_ONCE, Note, Source, outdated
from memgraph_engine.model.result import Anchor, ChannelScore, Explanation, Hit, Hits, Round, steps_behind
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.fusion import CHANNELS, Fused, Places, Statistics, channel_scores, cosines, counted, fuse
from memgraph_engine.recall.plan import Reading, read
from memgraph_engine.recall.pool import ANCHORED, PATHWAYS, Pool, anchor_scores, anchors_of, proposals, stamps_of
from memgraph_engine.recall.question import Filters, names, terms
from memgraph_engine.recall.ranking import FEATURES, Ranking, features, rankings, whose
from memgraph_engine.recall.relevance import Weights, covered, supposed
from memgraph_engine.recall.use import Use, weigh, weighs
from memgraph_engine.settings import RecallSettings

_DAY = 86_400_000  # milliseconds
_GROWTH = 4
_LARGEST_POOL = 20_000
_APART = -1  # the stamp of what is kept apart

_MANY = 100  # notes of a keyword, from which on the newest are looked for
# by which vectors propose: the first that is on, since a context tells all that the note's own words do
_DENSE = ("dense_context", "dense_raw")
_BACK = ("as_of", "known_at")  # what a look back is to, which no pathway has
_BLOCK_NOTES = 100  # that blocks propose


@dataclass(frozen=True, slots=True)
class Query:
    """A question as the graph is asked it.

    `turns` are those before it, each its role and its text, for a model that reads it.
    `candidates` of the best are what a second stage reads, before the best `top_k` are left; 0 without one.
    `moment` is its present, in the zone whose days it means. `reading` is what a model read in it, None to read it
    without one. In a later round `asked` is the vector of the first.
    `weights` tell how relevant what is found is, None for an embedder that has none. `policies` are the
    classes of notes. What has a role that is `unheard`, or no words of its own, is found only by that role.
    """

    text: str
    vector: "NDArray[np.float32]"
    scopes: Sequence[Scope]
    filters: Filters
    top_k: int
    moment: datetime
    min_similarity: float | None = None
    explain: bool = False
    reading: Reading | None = None
    asked: "NDArray[np.float32] | None" = None
    weights: Weights | None = None
    policies: Policies = field(default_factory=Policies)
    candidates: int = 0
    turns: Sequence[tuple[str, str]] = ()
    unheard: Collection[str] = ()

    @property
    def scope_names(self) -> list[str]:
        """The scopes as statements name them."""
        return [scope.name for scope in self.scopes]

    def read(self, languages: Sequence[str]) -> Reading:
        """Return how it is read in the languages of the scopes."""
        return self.reading or read(self.text, languages, self.moment)


@dataclass(frozen=True, slots=True)
class Found:
    """What one round found: the pool, its fused scores, and how the question was read.

    `total` is what notes are ranked by: the scores that a learned `ranking` makes of `features`; without one, the fused
    scores. Where use or policies have a weight, they are in it, and `use` tells how.
    `cosines` are those of each note's vectors, raw and context, to the first question; `coverage` is the share of its
    words that a note holds.
    `versions` are those of the scopes then, and `among` is how many notes they held. `followed` tells whether the
    pathways were asked.
    """

    pool: Pool
    fused: Fused
    ranking: Ranking | None
    features: "NDArray[np.float64] | None"
    total: "NDArray[np.float64]"
    cosines: "NDArray[np.float64]"
    coverage: "NDArray[np.float64]"
    languages: Sequence[str]
    reading: Reading
    versions: Mapping[str, int]
    among: int
    use: Use | None = None
    followed: bool = False

    @property
    def notes(self) -> Sequence[CachedNote]:
        """The notes of the pool."""
        return self.pool.notes

    @property
    def scores(self) -> dict[str, float]:
        """The score of each note, by id."""
        return dict(zip((note.id for note in self.notes), self.total.tolist(), strict=True))


def retrieve(db: Database, cache: NoteCache, query: Query, languages: Sequence[str], settings: RecallSettings) -> Found:
    """Fetch the pool for a question and score it.

    `languages` are what the scopes' are expected to be; where they are others, the question is asked again.
    What no index can look into is applied afterwards, to a pool that grows until enough are left.
    """
    factor = max(1, -(-query.top_k // settings.pool))
    while True:
        answer, languages, reading = propose(db, query, languages, settings, factor)
        pool, unknown = _admitted(db, cache, query, answer, settings)
        enough = len(pool.notes) >= query.top_k or _exhausted(query, answer, unknown, settings, factor)
        if enough and not _crowded(query, answer, settings, factor):
            break
        factor *= _GROWTH
    if settings.split:
        near = cosines(pool.notes, query.vector, *reading.queries).max(axis=2)
        pool = pool.only(shared_out(near, max(query.top_k, query.candidates)))
    found = scored(query, pool, answer, languages, reading, settings)
    if _follows(query, found, settings):
        answer = _expanded(db, query, found, answer, settings)
        pool, _ = _admitted(db, cache, query, answer, settings)
        found = replace(scored(query, pool, answer, languages, reading, settings), followed=True)
    if not weighs(settings):
        return found
    # how the reader, who is the first of the scopes, has used the notes, and their classes
    reader, near = query.scope_names[0], found.fused.raw[:, 2:4]
    given = found.notes, found.total, near, query.policies, query.moment, settings
    use = weigh(db, reader, query.scope_names, *given)
    return replace(found, total=use.weighted.sum(axis=1), use=use)


def shared_out(near: "NDArray[np.float64]", most: int) -> list[int]:
    """Return the rows of the notes nearest to each question, as many of each, together at most `most`.

    `near` are the cosines of notes to questions, shape (questions, notes). What two questions share leaves room for one
    more (LightMem, equations 3 and 4).

    >>> shared_out(np.array([[0.9, 0.8, 0.7, 0.1], [0.9, 0.2, 0.1, 0.8]]), 3)
    [0, 1, 3]
    """
    order = np.argsort(-near, axis=1, kind="stable").T.ravel().tolist()
    return sorted([*dict.fromkeys(order)][:most])


def _admitted(db: Database, cache: NoteCache, query: Query, answer: Row, settings: RecallSettings) -> tuple[Pool, int]:
    """Read the pool of an answer; return what the filters admit of it which no index can look into.

    And how many notes were looked at for that.
    """
    by = proposals(answer, settings)
    stored, fetched = cache.read(db, query.scope_names, stamps_of(by), len(query.vector))
    pool = Pool.of(answer, by, stored, fetched)
    unheard = {UNFOUND, *query.unheard} - {query.filters.role}  # those roles are found where they are asked for
    admitted = [row for row, note in enumerate(pool.notes) if note.role not in unheard]
    narrowed, read = query.filters.beyond_index or len(admitted) < len(pool.notes), list[CachedNote]()
    if query.filters.any:
        read = [note for note in pool.notes if query.filters.reads(several=note.several)]
        cache.complete(db, query.scope_names, read)
        admitted = [row for row in admitted if query.filters.admits(pool.notes[row])]
    looked_at = len(pool.notes if narrowed else read)
    return pool.only(admitted) if len(admitted) < len(pool.notes) else pool, looked_at


def _follows(query: Query, found: Found, settings: RecallSettings) -> bool:
    """Tell whether pathways are asked: they find what no word and no vector of a question says.

    They lead over what is there now, so a look back has none.
    """
    back = any(getattr(query.filters, one) for one in _BACK)
    if not found.among or back or not settings.has(*PATHWAYS):
        return False
    return settings.pathways == "always" or not any(
        (_relevance(found, row, float(share), query.weights) or 0.0) >= settings.sure
        for row, share in enumerate(found.coverage)
    )


def propose(
    db: Database, query: Query, languages: Sequence[str], settings: RecallSettings, factor: int = 1
) -> tuple[Row, Sequence[str], Reading]:
    """Ask the graph which notes may answer; return that, the languages of the scopes, and how the question was read.

    It is asked again where the languages are others than expected. `factor` widens the pool. What is kept apart takes
    no places in it: where it would, more is asked for.
    """
    reading, spare = query.read(languages), 1
    while True:
        given = parameters(replace(query, reading=reading), languages, settings, factor, spare)
        answer = db.run("notes/propose", **given)[0]
        db.fits(*answer["store"])
        recorded = sorted({scope["language"] for scope in answer["sums"]})
        if recorded and recorded != sorted(languages):
            languages, reading = recorded, query.read(recorded)
        elif not any(scope["apart"] for scope in answer["sums"]):
            return answer, languages, reading
        elif _taken(answer, _sizes(query, settings, factor), spare) and factor * spare * settings.pool < _LARGEST_POOL:
            spare *= _GROWTH
        else:
            return _others(answer, _sizes(query, settings, factor)), languages, reading


def _sizes(query: Query, settings: RecallSettings, factor: int) -> dict[str, int]:
    """Return how many notes each channel is to propose whose index does not know what is kept apart."""
    pool = settings.pool * factor
    lexical = _lexical_pool(query, settings, factor)
    return {**dict.fromkeys(_DENSE, pool), "lexical": lexical, "time": settings.anchored}


def _taken(answer: Row, sizes: Mapping[str, int], spare: int) -> bool:
    """Tell whether what is kept apart took places that others would have, of so many times the sizes."""
    for channel, stamps, *_ in answer["proposed"]:
        size = sizes.get(channel, 0)
        apart = stamps.count(_APART) if size else 0
        if apart and len(stamps) - apart < size and len(stamps) >= size * spare:
            return True
    return False


def _others(answer: Row, sizes: Mapping[str, int]) -> Row:
    """Return an answer as if what is kept apart were not there."""
    proposed = []
    for channel, stamps, closed, *rest in answer["proposed"]:
        kept = [at for at, stamp in enumerate(stamps) if stamp != _APART][: sizes.get(channel)]
        ends = None if closed is None else [closed[at] for at in kept]
        proposed.append([channel, [stamps[at] for at in kept], ends, *rest])
    return {**answer, "proposed": proposed}


def followed(
    db: Database, query: Query, answer: Row, reading: Reading, settings: RecallSettings, *, traced: bool = False
) -> Row:
    """Add what keywords, topics and blocks lead to; where `traced`, with the names of the first two."""
    found = db.run("notes/pathways", **_pathways(query, answer, reading, settings), traced=traced)[0]
    return {**answer, "proposed": [*answer["proposed"], *found["proposed"]]}


def _expanded(db: Database, query: Query, found: Found, answer: Row, settings: RecallSettings) -> Row:
    """Add what the pathways of a question propose.

    Ties are those of the notes nearest to it; or of all that keywords and topics lead to (MemFly, section 3.4.1).
    """
    if settings.has("keywords", "topics", "blocks"):
        answer = followed(db, query, answer, found.reading, settings)
    nearest = settings.expansion == "nearest"
    scores = _nearest(found, settings.related_from) if nearest else anchor_scores(answer, settings.anchored)
    if not scores or not settings.has("related"):
        return answer
    tied, led = dict[int, float](), set[int]()
    for _ in range(settings.depth):
        if not scores:
            break
        (step,) = db.run(
            "notes/tied",
            scopes=query.scope_names,
            stamps=list(scores),
            scores=list(scores.values()),
            tied=settings.anchored,
            **query.filters.parameters(),
        )
        reached = zip(step["stamps"], step["scores"], strict=True)
        # of a later step what none before led to, nor began with
        led, scores = led | scores.keys(), {stamp: score for stamp, score in reached if stamp not in led | tied.keys()}
        tied |= scores
    related = ["related", [*tied], None, [*tied.values()], None, None]
    return {**answer, "proposed": [*answer["proposed"], related]}


def _nearest(found: Found, most: int) -> dict[int, float]:
    """Return the stamps of the notes nearest to a question by their own words, with their cosines."""
    own = found.cosines[:, 0].tolist()
    best = sorted(range(len(own)), key=lambda row: -own[row])[:most]
    return {found.notes[row].stamp: own[row] for row in best if own[row] > 0}


def scored(
    query: Query, pool: Pool, answer: Row, languages: Sequence[str], reading: Reading, settings: RecallSettings
) -> Found:
    """Score a pool; where a model made queries of the question, each note for that which it answers best."""
    sums, notes = statistics(answer["sums"]), pool.notes
    places = Places.of(notes)
    versions = {scope["scope"]: scope["version"] for scope in answer["sums"]}
    models = rankings(settings.ranking) if notes else None
    model = models[whose(notes)] if models else None

    texts = query.text, *reading.plan.queries
    words = [terms(text, languages) for text in texts]
    column = {word: at for at, word in enumerate(dict.fromkeys(chain.from_iterable(words)))}
    asked = [[column[word] for word in some] for some in words]
    counts = counted(notes, list(column))
    near = cosines(notes, query.vector, *reading.queries)
    raw = channel_scores(pool, near, counts, asked, sums, reading.plan.times)
    coverage = covered(list(column), counts, asked, notes, sums.notes, query.scopes[0], languages)
    fused = fuse(places, raw, settings, summed=model is None or query.explain)
    known, total = None, fused.total
    if model is not None:
        scale = query.weights or supposed(near[..., 0])
        known = features(notes, places, raw, coverage, texts, words, languages, scale, settings)
        total = model.scores(known)  # what answers a query best is as good as what answers the question best
        total *= total.max() / total.max(axis=1, keepdims=True)
    total[:, [note.id in reading.answers for note in notes]] = np.nextafter(total.max(initial=0.0), np.inf)
    own = near if query.asked is None else cosines(notes, query.asked)

    best = np.argmax(total, axis=0), np.arange(len(notes))  # of each note the question that it answers best
    return Found(
        pool,
        Fused(**{one.name: getattr(fused, one.name)[best] for one in fields(Fused)}),
        model,
        None if known is None else known[best],
        total[best],
        own[best] if query.asked is None else own[0],
        coverage[..., 0][best],
        languages,
        reading,
        versions,
        sums.notes,
    )


def _exhausted(query: Query, answer: Row, unknown: int, settings: RecallSettings, factor: int) -> bool:
    """Tell whether a wider pool would hold no other note that the filters admit; of so many no index knew that.

    Where ranges narrow, the vector indexes look into these; but a pending note is found by its words alone, and of
    those full text proposes only so many before they are narrowed.
    """
    if factor * settings.pool >= _LARGEST_POOL:
        return True
    waiting = any(scope["waiting"] for scope in answer["sums"])
    if waiting and _lexical_pool(query, settings, factor) < sum(scope["notes"] for scope in answer["sums"]):
        return False
    return unknown < settings.pool * factor


def _crowded(query: Query, answer: Row, settings: RecallSettings, factor: int) -> bool:
    """Tell whether what has expired, and no sweep has taken out yet, took the places of other notes in full text.

    The vector indexes look at ends themselves; full text can't.
    """
    if factor * settings.pool >= _LARGEST_POOL or not any(scope["expiring"] for scope in answer["sums"]):
        return False
    stamps: list[int | None] = next((entry[1] for entry in answer["proposed"] if entry[0] == "lexical"), [])
    alive = sum(stamp is not None for stamp in stamps)
    return alive < min(settings.lexical_pool, len(stamps)) and len(stamps) >= _lexical_pool(query, settings, factor)


def _lexical_pool(query: Query, settings: RecallSettings, factor: int) -> int:
    # what full text proposes is filtered afterwards, so a narrow question asks it for more
    return settings.lexical_pool * factor * (_GROWTH if query.filters.any else 1)


def best_hits(
    db: Database,
    cache: NoteCache,
    query: Query,
    found: Sequence[Found],
    scores: Mapping[str, float],
    rounds: Sequence[Round] = (),
) -> Hits:
    """Return the best by their scores, each as the first round that found it did, at most `top_k`.

    For a second stage they are as many as it reads, if that is more, and as the scores have them.
    """
    first = first_found(found)
    least = -2.0 if query.min_similarity is None else query.min_similarity
    most = max(query.top_k, query.candidates)
    similar = {id(one): one.cosines.max(axis=1).tolist() for one in found}
    near = ((note, *first[note]) for note in ranked(scores))
    order = [one for one in near if similar[id(one[1])][one[2]] >= least]
    # which are the best does not depend on how many are wanted: what only asks gives place to others
    answers = accumulate(not one.notes[row].only_asks for _, one, row in order)
    end = most if query.candidates else next((at for at, count in enumerate(answers, 1) if count == most), len(order))
    best, new = order[:end], order[:end]
    while new:
        cache.complete(db, query.scope_names, [one.notes[row] for _, one, row in new], found[-1].versions)
        newer = {taken.note for _, one, row in new for taken in one.notes[row].replaced} - {note for note, *_ in best}
        new = [] if query.candidates else [one for one in order[end:] if one[0] in newer]  # it comes before the older
        best += new
    alive = milliseconds(query.filters.known_at or db.alive())
    some = [
        Hit(
            _nearest_first(
                _outdated(one.notes[row], one.pool.closed.get(row), query.filters, alive),
                query.text,
                found[0].languages,
            ),
            scores[note],
            similar[id(one)][row],
            _explanation(one, row, rounds) if query.explain else None,
            share,
            _relevance(one, row, share, query.weights),
        )
        for note, one, row in best
        if one.notes[row].whole  # else it was removed meanwhile
        for share in (float(one.coverage[row]),)
    ]
    if not query.candidates:
        some = _questions_last(newest_first(some), query.text, found[0].languages)[:most]
    left = {hit.note.id for hit in some}
    came_later = later([one.notes[row] for note, one, row in best if note in left], query.moment)
    some = [replace(hit, later=came_later[hit.note.id]) if hit.note.id in came_later else hit for hit in some]
    return Hits(some, among=found[-1].among)


def _nearest_first(note: Note, question: str, languages: Sequence[str]) -> Note:
    """Put the sources of a summary first that share most words with the question, rare ones among them above all."""
    if not note.sums:
        return note
    asked = frozenset(terms(question, languages))
    held = {
        source.key: asked & {term for language in languages for term in tokenize(source.text, language)}
        for source in note.sources
    }
    counts = Counter(term for some in held.values() for term in some)

    def shared(source: Source) -> float:
        return fsum(1 / counts[term] for term in held[source.key])

    return replace(note, sources=tuple(sorted(note.sources, key=shared, reverse=True)))


def newest_first(some: Sequence[Hit]) -> list[Hit]:
    """Put what took the place of another hit before it, with its score: what is true now answers where both would."""
    places = {hit.note.id: place for place, hit in enumerate(some)}
    taken = [(hit.replaced_by, hit.note.id) for hit in some if hit.replaced_by in places]
    if not taken:
        return list(some)
    for _ in taken:  # a third may have taken the place of the second
        for new, old in taken:
            places[new] = min(places[new], places[old])
    behind = steps_behind(taken, places)
    order = sorted(some, key=lambda hit: (places[hit.note.id], behind[hit.note.id], -hit.note.said_at.timestamp()))
    best = list(accumulate((hit.score for hit in reversed(order)), max))
    return [replace(hit, score=score) for hit, score in zip(order, reversed(best), strict=True)]


def _relevance(found: Found, row: int, share: float, weights: Weights | None) -> float | None:
    """Return the relevance of a note that holds such a share of the question's words; None without weights.

    An assistant's note is relevant by its own words alone: the turn before, which its context holds, asks for them. One
    that waits for its vectors is as relevant as its words are.
    """
    note = found.notes[row]
    if weights is None:
        return None
    if note.vectors is None:
        return share
    own, context = found.cosines[row].tolist()
    return weights.relevance(own if note.role == "assistant" else max(own, context), share)


def _outdated(note: CachedNote, closed: int | None, filters: Filters, alive: int) -> Note:
    """Return a note that says until when it was true, and what took its place.

    All is as it was known, and had been said, at the times of the filters; what ended by `alive` (ms) replaces nothing.
    """
    read = note.note(closed)
    corrected = note.status == "superseded"  # a note says so itself, whenever it is asked
    if not note.replaced and not corrected:
        return read
    said = milliseconds(filters.as_of or NEVER)
    known = milliseconds(filters.known_at or NEVER)
    came = (one for one in note.replaced if one.status in TRUE_ONCE and one.created <= known and one.ends > alive)
    return outdated(read, [(one.note, moment(one.said), one.former) for one in came if corrected or one.said <= said])


def first_found(found: Sequence[Found]) -> dict[str, tuple[Found, int]]:
    """Return for each note, by id, the first round that found it, and its row there."""
    return {note.id: (one, row) for one in reversed(found) for row, note in enumerate(one.notes)}


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Return the ids of notes, the best first."""
    return sorted(scores, key=lambda note: (-scores[note], note))


def parameters(
    query: Query, languages: Sequence[str], settings: RecallSettings, factor: int = 1, spare: int = 1
) -> dict[str, Any]:
    """Return what the recall statement takes; `spare` is how many times as much is asked for, for what is left out."""
    reading, narrow = query.read(languages), query.filters.narrow
    pool = (max(query.top_k, query.candidates) if settings.split else settings.pool) * factor * spare
    # two queries may propose the same notes, so what is shared out is chosen of as many as all have together
    others = pool if settings.split else -(-pool // (len(reading.queries) + 1))
    words = terms("\n".join((query.text, *reading.plan.queries)), languages)
    return {
        "scopes": query.scope_names,
        "dense": [channel for channel in _DENSE if settings.has(channel)][:1],
        "vector": packed(query.vector),
        "words": words_query(words, query.scopes, query.filters.indexed_statuses),
        "pool": 0 if narrow else pool,
        "narrowed_pool": pool if narrow else 0,
        "others": [packed(vector) for vector in reading.queries],
        "others_pool": others,
        "lexical_pool": _lexical_pool(query, settings, factor * spare),
        "times": [list(time) for time in reading.plan.times] if settings.has("time") else [],
        **query.filters.parameters(),
        **({} if narrow else {"ways": [], "as_of": None, "known_at": None}),  # times take long to pack
        "timely": settings.anchored * spare,
        "shown": sorted(query.filters.shown),
    }


def _pathways(query: Query, answer: Row, reading: Reading, settings: RecallSettings) -> dict[str, Any]:
    """Return what the statement of the pathways takes, for scopes of which an answer tells."""
    sums, named = answer["sums"], [packed(vector) for vector in reading.keywords]
    languages = sorted({scope["language"] for scope in sums})
    return {
        "scopes": query.scope_names,
        "vector": packed(query.vector),
        "names": names((query.text, *reading.plan.keywords), languages) if settings.has("keywords") else [],
        "named": named or None,
        "topic": packed(reading.topic),
        "keywords": settings.keyword_anchors if settings.has("keywords") else 0,
        "topics": settings.topic_anchors if settings.has("topics") else 0,
        "spread": settings.spread,
        "ordered": settings.spread >= _MANY,
        "blocks": settings.block_anchors if settings.has("blocks") else 0,
        "block_candidates": SPARE * settings.block_anchors,
        "block_notes": _BLOCK_NOTES,
        "widest": isqrt(max([LONGEST**2, *(scope["notes"] for scope in sums)])),
        "narrow": query.filters.narrow,
        "expiring": any(scope["expiring"] for scope in sums),
        "apart": any(scope["apart"] for scope in sums),
        "shown": sorted(query.filters.shown),
        **{name: value for name, value in query.filters.parameters().items() if name not in _BACK},
    }


def statistics(sums: Sequence[dict[str, Any]]) -> Statistics:
    """Add up what the scopes read keep as sums."""
    notes = sum(scope["notes"] for scope in sums)
    each = max(notes, 1)
    return Statistics(
        notes, sum(scope["raw_length"] for scope in sums) / each, sum(scope["context_length"] for scope in sums) / each
    )


def _explanation(found: Found, row: int, rounds: Sequence[Round]) -> Explanation:
    fused = found.fused
    scores = {
        channel: ChannelScore(float(fused.raw[row, c]), float(fused.normalised[row, c]), float(fused.weighted[row, c]))
        for c, channel in enumerate(CHANNELS)
    }
    stamp = found.notes[row].stamp
    proposed = tuple(sorted(channel for channel, stamps in found.pool.proposed.items() if stamp in stamps))
    parts = {}
    if found.ranking is not None and found.features is not None:
        added = found.ranking.parts(found.features[row]).tolist()
        parts = {"bias": found.ranking.bias, **dict(zip(FEATURES, added, strict=True))}
    around = float(fused.neighbours[row]), float(fused.session[row])
    use = found.use.explained(row) if found.use else {}
    return Explanation(proposed, scores, *around, parts, tuple(rounds), use)


def _questions_last(hits: Sequence[Hit], question: str, languages: Sequence[str]) -> list[Hit]:
    """Put what only asks what is asked behind all other hits, with the least score of them: it answers nothing.

    Who chats asks the same again, and what is asked is remembered as all else is. No note is nearer to a question than
    the same question.
    """
    said = [[source.text for source in hit.note.sources] for hit in hits]
    asks = [any(asks_again(one, question, language) for language in languages) for one in said]
    answers = [hit for hit, one in zip(hits, asks, strict=True) if not one]
    if len(answers) in (0, len(hits)):
        return list(hits)
    least = answers[-1].score
    return [*answers, *(replace(hit, score=min(hit.score, least)) for hit, one in zip(hits, asks, strict=True) if one)]


def anchors(db: Database, cache: NoteCache, query: Query, language: str, settings: RecallSettings) -> list[Anchor]:
    """Return the keywords that the pathways of a question lead over, those of each channel best first."""
    answer, _, reading = propose(db, query, [language], settings)
    answer = followed(db, query, answer, reading, settings, traced=True)
    stamps = [stamp for entry in answer["proposed"] if entry[0] in ANCHORED for stamp in entry[1]]
    notes, _ = cache.read(db, query.scope_names, list(dict.fromkeys(stamps)), len(query.vector))
    return anchors_of(answer, notes)


def later(notes: Sequence[CachedNote], moment: datetime) -> dict[str, str]:
    """Return for notes, by id, the one that its speaker said on a later day and that is perhaps on the same matter.

    Of all these notes each of the two is nearest in meaning to the other, among those of later days and of earlier
    ones. So most changes stand beside what they change, however they are worded; and much that is true all the same,
    so this tells of order and of nothing else. An assistant's notes, and those without vectors, have none. Days are
    those of the zone of `moment`.
    """
    own = [note for note in notes if note.role != "assistant" and note.vectors is not None]
    if len(own) < 2:
        return {}
    zone = moment.utcoffset()
    days = np.array([note.said_at for note in own]) + (zone.total_seconds() * 1000 if zone else 0)
    days //= _DAY
    speakers = np.unique(
        [f"{note.scope}\0{note.speaker}\0{note.role}\0{note.trust}" for note in own], return_inverse=True
    )[1]
    vectors = [note.vectors for note in own if note.vectors is not None]
    raw = np.stack(vectors).reshape(len(own), 2, -1)[:, 0]
    follows = (speakers[:, None] == speakers) & (days[:, None] < days)  # from an earlier note to a later one
    near = np.where(follows, raw @ raw.T, -np.inf)
    behind, before = near.argmax(axis=1), near.argmax(axis=0)
    return {
        note.id: own[at].id
        for row, (note, at) in enumerate(zip(own, behind.tolist(), strict=True))
        if follows[row, at] and before[at] == row
    }

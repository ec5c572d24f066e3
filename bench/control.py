"""The controller and the selector: questions that refer back, two stages, how long a context is; claims; capacity."""

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from bench import beside, claims, eviction, fillers
from bench.conversations import conversations, locomo_file
from bench.server import bench_settings, connected, of_its_own
from bench.speed import milliseconds, percentile
from memgraph_engine import Memory
from memgraph_engine.evaluation.locomo import Conversation, Question
from memgraph_engine.evaluation.ranking import recall_at
from memgraph_engine.evaluation.report import table
from memgraph_engine.evaluation.run import after
from memgraph_engine.model.result import QueryPlan
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.plan import Reading
from memgraph_engine.recall.question import Filters
from memgraph_engine.recall.search import Query, best_hits, retrieve

if TYPE_CHECKING:
    from memgraph_engine.ingest.messages import Message

PARTS = ("quality", "claims", "speed", "job", "capacity")
KS = (5, 10, 20)
_K = 10
_WAYS = ("as asked", "with a pronoun", "with a pronoun and the turns before", "as asked, and the turns before")
_STAGES = ("dense", "selected", "oracle")
_CONTEXTS = 5  # of so many questions one is asked for a context
_LARGE, _SCOPES, _ROUNDS = 100_000, 200, 150
_BUDGET = 4000  # tokens: room for all of them


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--model", default="bge-small", help="the embedder")
    parser.add_argument("--conversations", type=int, help="of how many conversations capacity is measured (all)")
    parser.add_argument("--parts", default=",".join(PARTS), help="what is measured, with commas between")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure; return flat figures and a report."""
    figures, pages, parts = dict[str, float](), list[str](), given.parts.split(",")
    if unknown := [part for part in parts if part not in PARTS]:
        raise SystemExit(f"There is no part {unknown[0]}; there are {', '.join(PARTS)}.")
    if "quality" in parts:
        figures, page = _quality(given)
        pages.append(page)
    measured: tuple[tuple[str, str, Callable[[], dict[str, float]]], ...] = (
        ("claims", "Claims", lambda: claims.measure(given.model, next(conversations(locomo_file(given.file))))),
        ("speed", f"{_LARGE:,} notes over {_SCOPES} scopes, {given.model}", lambda: _speed(given)),
        ("job", "Beside the claims job", lambda: beside.measured(given.model, _conversations(given))),
        ("capacity", "Capacity", lambda: _capacity(given)),
    )
    for part, title, measure in measured:
        if part in parts:
            told = measure()
            figures |= told
            rows = [(name, f"{value:.2f}") for name, value in told.items()]
            pages.append(f"### {title}\n\n{table(('figure', 'value'), rows)}")
    return figures, "\n\n".join(pages)


def _conversations(given: argparse.Namespace) -> list[Conversation]:
    return list(conversations(locomo_file(given.file)))


def _capacity(given: argparse.Namespace) -> dict[str, float]:
    with connected(bench_settings(given.model)) as memory:
        return eviction.by_order(memory, _conversations(given)[: given.conversations])


def _quality(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    asked: dict[str, list[dict[int, float]]] = {way: [] for way in _WAYS}
    staged: dict[str, list[dict[int, float]]] = {stage: [] for stage in _STAGES}
    tokens: list[int] = []
    with connected(bench_settings(given.model)) as memory, of_its_own(memory) as mine:
        for conversation in conversations(locomo_file(given.file)):
            mine.add_many(conversation.turns, user_id=conversation.id)
            ended = after(conversation, mine)
            for question, pronoun, history in follow_ups(conversation):
                _follow_up(ended, conversation.id, question, pronoun, history, asked)
            for number, question in enumerate(conversation.questions):
                for stage, found in _stages(ended, conversation.id, question).items():
                    staged[stage].append(found)
                if number % _CONTEXTS == 0:
                    context = ended.context(question.text, user_id=conversation.id, top_k=_K, budget=_BUDGET)
                    tokens.append(context.tokens)
    return _figures(asked, staged, tokens), _page(given.model, asked, staged)


def _speed(given: argparse.Namespace) -> dict[str, float]:
    """Time a question alone, and with the next one or three as queries beside it, every vector known before."""
    every = _conversations(given)
    settings = bench_settings(given.model)
    settings = settings.model_copy(update={"home": settings.home.with_name(f"{given.model}-{_LARGE}-{_SCOPES}")})
    with connected(settings) as memory:
        tenant = fillers.fill(memory, every, notes=_LARGE, scopes=_SCOPES)
        users = [f"user-{number}" for number in range(_SCOPES)]
        engine = fillers.complete(memory, tenant, users).engine
        texts = [one.text for conversation in every for one in conversation.questions][:: 997 // _ROUNDS][:_ROUNDS]
        vectors = [engine.embedder.embed_query(text) for text in texts]

        def ask(place: int, others: int) -> object:
            scopes = [Scope(tenant, users[place % _SCOPES]), Scope(tenant)]
            beside = [(place + step) % len(texts) for step in range(1, others + 1)]
            plan = QueryPlan(queries=tuple(texts[one] for one in beside))
            reading = Reading(plan, queries=[vectors[one] for one in beside])
            query = Query(texts[place], vectors[place], scopes, Filters(), _K, engine.now(), reading=reading)
            found = retrieve(engine.db, engine.notes, query, ["english"], engine.settings.recall)
            return best_hits(engine.db, engine.notes, query, [found], found.scores)

        for others in (0, 1, 3):  # to warm up
            milliseconds(partial(ask, others=others), range(len(texts)))
        # in turns, so that what the machine does meanwhile is not in the ratios; each question's notes are in the cache
        taken: dict[int, list[float]] = {1: [], 2: [], 4: []}
        for place in range(len(texts)):
            ask(place, 3)
            for queries in sorted(taken, reverse=bool(place % 2)):
                taken[queries] += milliseconds(partial(ask, others=queries - 1), [place])
    one = percentile(taken[1], 0.5)
    return {
        "two_queries_over_one": percentile(taken[2], 0.5) / one,
        "four_queries_over_one": percentile(taken[4], 0.5) / one,
        "one_query_ms": one,
        "four_queries_p95_ms": percentile(taken[4], 0.95),
    }


def follow_ups(conversation: Conversation) -> Iterator[tuple[Question, str, "Sequence[Message]"]]:
    """Yield the questions that name one speaker, each also with a pronoun, and the turns before it.

    These are the question that named him last, as the user asked it, and its answer, as an assistant gave it.
    """
    names = {str(turn["speaker"]).split()[0] for turn in conversation.turns}
    last: dict[str, Question] = {}
    for question in conversation.questions:
        named = [name for name in names if re.search(rf"\b{name}\b", question.text)]
        if len(named) != 1:
            continue
        (name,) = named
        before, last[name] = last.get(name), question
        if before:
            text = re.sub(rf"\b{name}\b", "she", re.sub(rf"\b{name}'s\b", "her", question.text))
            said = (("user", before.text), ("assistant", before.answer))
            yield question, text, [{"role": role, "content": words} for role, words in said]


def _follow_up(
    memory: Memory,
    user: str,
    question: Question,
    pronoun: str,
    history: "Sequence[Message]",
    asked: Mapping[str, list[dict[int, float]]],
) -> None:
    ways = ((question.text, ()), (pronoun, ()), (pronoun, history), (question.text, history))
    for way, (text, turns) in zip(_WAYS, ways, strict=True):
        hits = memory.search(text, user_id=user, top_k=max(KS), history=turns)
        found = [source.id for hit in hits for source in hit.sources]
        asked[way].append({k: recall_at(k, found, question.evidence) for k in KS})


def _stages(memory: Memory, user: str, question: Question) -> dict[str, dict[int, float]]:
    """Return the evidence among K notes by their cosines, among K that the score selects of 2K, and among these 2K."""
    engine = memory.engine
    scopes = [Scope(engine.settings.tenant, user), Scope(engine.settings.tenant)]
    vector = engine.embedder.embed_query(question.text)
    query = Query(question.text, vector, scopes, Filters(), max(KS), engine.now())
    found = retrieve(engine.db, engine.notes, query, ["english"], engine.settings.recall)
    engine.notes.complete(engine.db, query.scope_names, found.notes)
    ids = [[source.id for source in note.note().sources] for note in found.notes]
    near, total = found.cosines.max(axis=1), found.total
    dense = sorted(range(len(ids)), key=lambda row: -near[row])

    def evidence(rows: Sequence[int]) -> float:
        chosen = [source for row in rows for source in ids[row]]
        return recall_at(len(chosen), chosen, question.evidence)

    best = {k: sorted(dense[: 2 * k], key=lambda row: -total[row])[:k] for k in KS}
    return {
        "dense": {k: evidence(dense[:k]) for k in KS},
        "selected": {k: evidence(best[k]) for k in KS},
        "oracle": {k: evidence(dense[: 2 * k]) for k in KS},
    }


def _mean(rows: Sequence[Mapping[int, float]], k: int) -> float:
    return fmean(row[k] for row in rows)


def _figures(
    asked: Mapping[str, Sequence[Mapping[int, float]]],
    staged: Mapping[str, Sequence[Mapping[int, float]]],
    tokens: Sequence[int],
) -> dict[str, float]:
    figures = {}
    for k in KS:
        named, lost, regained, same = (_mean(asked[way], k) for way in _WAYS)
        figures[f"pronouns_lost@{k}"] = named - lost
        figures[f"pronouns_regained@{k}"] = (regained - lost) / max(named - lost, 1e-9)
        figures[f"pronouns_unchanged@{k}"] = same - named
        dense, selected, oracle = (_mean(staged[stage], k) for stage in _STAGES)
        figures[f"gap_closed@{k}"] = (selected - dense) / max(oracle - dense, 1e-9)
    figures["pronouns_regained"] = figures[f"pronouns_regained@{_K}"]
    figures["context_tokens"] = fmean(tokens)
    return figures


def _page(
    model: str,
    asked: Mapping[str, Sequence[Mapping[int, float]]],
    staged: Mapping[str, Sequence[Mapping[int, float]]],
) -> str:
    head = ("", *(f"evidence among {k}" for k in KS))
    said = [(way, *(_mean(rows, k) for k in KS)) for way, rows in asked.items()]
    found = [(stage, *(_mean(rows, k) for k in KS)) for stage, rows in staged.items()]
    first, second = len(asked[_WAYS[0]]), len(staged[_STAGES[0]])
    return (
        f"### Control, {model}\n\n{first} questions that name one speaker, of whom another was asked before:\n\n"
        f"{table(head, said)}\n\nTwo stages, {second} questions: the K nearest notes, the K that the score selects "
        f"of the 2K nearest, and all of these:\n\n{table(head, found)}"
    )

"""Ask chat models what the local scores leave in doubt: whether notes repeat each other, and how to merge them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from memgraph_engine.errors import ModelError
from memgraph_engine.gate.judge import Compared, Opinion
from memgraph_engine.gate.verdict import Verdict
from memgraph_engine.llm import NewNote, Roles, Spent, batches, gating, merging
from memgraph_engine.model.candidate import Candidate

_DOUBT = 0.2  # redundancy from which a model is asked; below it, it hardly ever finds a repeat
_MOST = 3  # notes that one new note is held against


def opinions(
    roles: Roles, batch_tokens: int, spent: Spent, contexts: Sequence[str], rows: Sequence[Sequence[Compared]]
) -> Mapping[tuple[int, str], Opinion]:
    """Ask the gate role about the pairs in doubt; a pair without an answer is left to the local scores."""
    doubtful = [
        (place, [one for one in row if one.scores.redundancy >= _DOUBT][:_MOST]) for place, row in enumerate(rows)
    ]
    asked = [(place, some) for place, some in doubtful if some]
    notes = [NewNote(contexts[place], tuple(one.known.text for one in some)) for place, some in asked]
    groups = list(batches(notes, batch_tokens))
    found: dict[tuple[int, str], Opinion] = {}
    start = 0
    for group, answer in zip(groups, roles.ask_many(list(map(gating, groups)), meters=spent.meters), strict=True):
        own, start = asked[start : start + len(group)], start + len(group)
        if isinstance(answer, ModelError):
            spent.failed("Gating", answer)
            continue
        spent.cost += answer.cost
        share = answer.cost.share(len(answer.response.pairs))
        for pair in answer.response.pairs:
            place, some = own[pair.note - 1]
            found[place, some[pair.candidate - 1].known.id] = Opinion(
                pair.redundancy, pair.complementarity, pair.relation, pair.evidence, answer.model, share
            )
    return found


def asking(roles: Roles, batch_tokens: int, spent: Spent) -> "partial[Mapping[tuple[int, str], Opinion]]":
    """Return how a Judge asks."""
    return partial(opinions, roles, batch_tokens, spent)


def write_merges(
    roles: Roles,
    candidates: Sequence[Candidate],
    verdicts: Sequence[Verdict],
    contexts: Mapping[str, str],
    spent: Spent,
) -> list[Verdict]:
    """Let the writer unify the contexts of merged notes; `contexts` are those of the targets, by note.

    Several that join one note are written together, with the last of them.
    """
    joined: dict[str, list[int]] = {}
    for place, verdict in enumerate(verdicts):
        if verdict.kind == "merge" and verdict.target in contexts:
            joined.setdefault(verdict.target, []).append(place)
    if not joined or not roles.has("writer"):
        return list(verdicts)
    texts = [[contexts[target], *(candidates[place].context for place in places)] for target, places in joined.items()]
    done = list(verdicts)
    try:
        answer = roles.ask(merging(texts), meters=spent.meters)
    except ModelError as error:
        spent.failed("Merging", error)
        return done
    spent.cost += answer.cost
    targets = list(joined)
    share = answer.cost.share(len(targets))
    for merged in answer.response.merges:
        last = joined[targets[merged.merge - 1]][-1]
        done[last] = replace(done[last], context=merged.context, model=answer.model, cost=done[last].cost + share)
    return done

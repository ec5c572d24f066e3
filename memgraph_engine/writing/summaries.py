"""Summaries: made of the notes that they stand for, and made anew where one of these comes back or is erased.

A summary has no source of its own. Its lines are those of what it sums, shortened; a chat model may write its context.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.graph import notes
from memgraph_engine.graph.notes import SUMMARY, USER, NewSummary, Part, Revision, Summed
from memgraph_engine.lifecycle.summaries import extract, rarity, unfaithful
from memgraph_engine.llm.roles import Roles
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.memory import READABLE, Note, Source, note_id, parted
from memgraph_engine.model.result import Decision, DecisionKind
from memgraph_engine.rendering.context import render
from memgraph_engine.writing import contexts
from memgraph_engine.writing.transaction import Transaction

_Lines = tuple[str, ...]
"""What one summary is made of."""


@dataclass(frozen=True, slots=True)
class Written:
    """The summary that a model wrote; `cost` is its share of the request."""

    text: str
    model: str
    cost: Cost


class Consolidator:
    """Asks the role `consolidation`, about several groups of lines at once, and about each once."""

    def __init__(self, roles: Roles, spent: Spent, language: str) -> None:
        self._roles, self.spent, self._language = roles, spent, language
        self._known: dict[_Lines, Written | None] = {}

    def written(self, groups: Sequence[Sequence[Part]]) -> list[Written | None]:
        """Return what a model made of groups of one life; None for what it failed at, or told unfaithfully."""
        if not self._roles.has("consolidation"):
            return [None] * len(groups)
        asked = [tuple(line for part in some for line in part.raw) for some in groups]
        self._ask([lines for lines in dict.fromkeys(asked) if lines not in self._known])
        said = [[source.text for source in _said(parts)] for parts in groups]
        return [
            one if (one := self._known[lines]) and not unfaithful(one.text, lines, own, self._language) else None
            for lines, own in zip(asked, said, strict=True)
        ]

    def _ask(self, groups: Sequence[_Lines]) -> None:
        self._known |= dict.fromkeys(groups)
        for some, answer in self._roles.about("consolidation", groups, lambda lines: {"lines": lines}, self.spent):
            for one in answer.items:
                self._known[some[one.group - 1]] = Written(one.summary, answer.model, answer.cost.share(len(some)))


def rare(parts: Iterable[Part], language: str) -> dict[str, float]:
    """Return how rare words are among all that is summed."""
    return rarity((source.text for source in _said(parts)), language)


def _said(parts: Iterable[Part]) -> list[Source]:
    """Return each line as a source that says just that; what a user wrote is nobody's."""
    return [line for part in parts for line in _lines(part.note, part.raw, part.sources, part.said_at)]


def _lines(note: str, raw: Sequence[str], sources: Sequence[Source], said_at: datetime) -> list[Source]:
    found = []
    for place, one in enumerate(raw):
        _, words, _, source = parted(one, sources)
        of = source or Source(f"{note} {place}", "", "", said_at=said_at)
        found.append(replace(of, text=words))
    return found


def local(note: Note, language: str) -> str:
    """Return the context of a summary as its own lines make it, without a model."""
    lines = _lines(note.id, note.raw, note.sources, note.said_at)
    return render([(line, None) for line in lines], language).context


def parts_of(cluster: Iterable[Summed]) -> list[Part]:
    """Return what a summary of notes stands for, in the order of time."""
    order = attrgetter("said_at", "session", "seq", "note")
    return sorted((part for one in cluster for part in one.parts), key=order)


def sum_up(
    transaction: Transaction,
    kind: DecisionKind,
    cluster: Sequence[Summed],
    parts: Sequence[Part],
    told: Mapping[str, Any],
    by: Written | None,
    **decided: Any,
) -> Decision:
    """Plan a note that stands for notes of one life, which are archived; return the decision, with what is `decided`.

    It is `told` by their lines; a model may have written its context.
    """
    context = {**contexts.terms_of(by.text, (), transaction.language), "constructed_by": by.model} if by else {}
    ids = sorted({*(part.note for part in parts), *(one.found.note.id for one in cluster)})
    model, cost = (by.model, by.cost) if by else ("", NOTHING)
    note = note_id(transaction.scope.name, " ".join(ids))
    decision = transaction.decide(kind, note, model=model, cost=cost, **decided)
    first, names = cluster[0].found.note, Counter(name for one in cluster for name in one.found.note.keywords)
    lives = {name: getattr(first, name) for name in ("speaker", "role", "policy", "apart")}  # as what it sums
    transaction.sum_up(
        NewSummary(
            decision.note,
            decision.id,
            {**told, **context, **lives, "policy_as": first.policy_as or None},
            tuple(sorted(names, key=lambda name: (-names[name], name))[: transaction.engine.settings.max_keywords]),
            tuple(ids),
            # a millisecond apart, so that listing by time keeps their order
            transaction.now + timedelta(milliseconds=decision.place),
            (first.expires_at, first.erase_at),
        )
    )
    for one in cluster:
        transaction.revise(one.found, Revision.archived(one.found.note.id, decision.id))
    return decision


def told(
    transaction: Transaction, parts: Sequence[Part], rarities: Mapping[str, float], keep: float | None = None
) -> dict[str, Any]:
    """Return the properties of a summary without a model: shortened lines, each with who said it and when.

    They `keep` a share of their words, that of the settings for None.
    """
    language, keep = transaction.language, keep or transaction.engine.settings.lifecycle.keep
    said = _said(parts)
    kept = extract([source.text for source in said], rarities, keep, language)
    pairs = zip(said, kept, strict=True)
    shortened = [replace(source, text=words) for source, words in pairs if words or not source.text.strip()]
    text = render([(source, None) for source in shortened or said], language)
    first, sessions, agents = parts[0], {part.session for part in parts}, {part.agent for part in parts}
    return {
        **contexts.texts_of(text, (), language),
        "constructed_by": SUMMARY,
        "session": first.session if len(sessions) == 1 else "",
        "seq": first.seq if len(sessions) == 1 else 0,
        "agent_id": first.agent if len(agents) == 1 else "",
        "tags": sorted({tag for part in parts for tag in part.tags}),
        "said_at": max(part.said_at for part in parts),
        "valid_from": min(part.valid_from for part in parts),
    }


def anew(transaction: Transaction, one: Summed, parts: Sequence[Part]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the properties and keywords of a summary that stands for these parts from now on."""
    given = told(transaction, parts, rare(parts, transaction.language))
    return given, contexts.keywords_in(one.found.note.keywords, given, transaction.language)


def release(transaction: Transaction, decision: str, leaving: Collection[str]) -> list[str]:
    """Plan what becomes of the summaries of notes that come back: each is made anew of the rest, or goes.

    Return these summaries.
    """
    db, scope, dimensions = transaction.db, transaction.scope.name, transaction.embedder.dimensions
    found = notes.summed(
        db, scope, [row["id"] for row in db.run("notes/summaries_of", scope=scope, ids=sorted(leaving))], dimensions
    )
    for one in found:
        note = one.found.note
        if note.id in leaving:
            continue
        parts = [part for part in one.parts if part.note not in leaving]
        if not parts:
            transaction.retire(one.found, decision)
            continue
        sums = tuple(other for other in note.sums if other not in leaving)
        readable = note.status in READABLE
        if one.found.constructed_by == USER:
            transaction.revise(one.found, Revision(note.id, decision, {}, sums=sums, light=not readable))
            continue
        given, names = anew(transaction, one, parts)
        kept = Revision(note.id, decision, given, keywords=names if readable else None, sums=sums, light=not readable)
        transaction.revise(one.found, kept)
    return [one.found.note.id for one in found]

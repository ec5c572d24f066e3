"""Ask chat models what the local scores leave in doubt: whether notes repeat each other, and how to merge them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memgraph_engine.cost import Cost
from memgraph_engine.errors import ModelError, ModelRefused
from memgraph_engine.gate.gate import Compared
from memgraph_engine.gate.verdict import Opinion, Verdict
from memgraph_engine.language.terms import tokenize
from memgraph_engine.llm.role import Entry
from memgraph_engine.llm.roles import Roles
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.ports import Judge, Judgement
from memgraph_engine.settings import GateSettings

_SURE = 0.5  # confidence from which a judgement counts


@dataclass(frozen=True, slots=True)
class Merged:
    """The context that a model wrote for a merged note; `cost` is its share of the request."""

    context: str
    model: str
    cost: Cost


_Texts = tuple[str, ...]
"""Texts that become one."""


class Asking:
    """Asks the roles of the gate; a batch that is tried again is not asked about again, nor is what failed."""

    def __init__(self, roles: Roles, spent: Spent, settings: GateSettings, judge: Judge | None = None) -> None:
        self._roles, self._spent, self._second = roles, spent, judge
        self._settings = settings
        self._judgements: dict[tuple[str, str], Judgement | None] = {}
        self._opinions: dict[tuple[str, str], Opinion | None] = {}
        self._merged: dict[_Texts, Merged | None] = {}

    def clear(self) -> None:
        """Forget all answers."""
        self._opinions.clear()
        self._judgements.clear()
        self._merged.clear()

    def opinions(
        self, contexts: Sequence[str], rows: Sequence[Sequence[Compared]]
    ) -> Mapping[tuple[int, str], Opinion]:
        """Ask the gate role about the pairs in doubt, and the judge before a note is merged or replaced.

        A pair without an answer is left to the local judgement.
        """
        asked = self._first(contexts, rows) if self._roles.has("gating") else {}
        return {**self._seconds(rows, asked), **asked} if self._second else asked

    def _seconds(
        self, rows: Sequence[Sequence[Compared]], asked: Mapping[tuple[int, str], Opinion]
    ) -> dict[tuple[int, str], Opinion]:
        """Ask the judge about what would be merged or replaced and nobody was asked about."""
        doubted = {
            (place, one.known.id): one
            for place, row in enumerate(rows)
            for one in row
            if (place, one.known.id) not in asked and one.finding[0] in ("same", "update") and not one.plain
        }
        pairs = {one.texts for one in doubted.values()} - self._judgements.keys()
        self._judgements |= self._judged(sorted(pairs))
        answers = ((pair, one, self._judgements[one.texts]) for pair, one in doubted.items())
        return {pair: self._opinion(one, held) for pair, one, held in answers if held}

    def _judged(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Judgement | None]:
        if not pairs or not self._second:
            return {}
        try:
            answers = list(self._second.judge(pairs))
        except ModelError as error:
            self._spent.failed("Judging", error)
            return dict.fromkeys(pairs)
        if len(answers) != len(pairs):
            told = f"The judge {self._second.name} gave {len(answers)} judgements on {len(pairs)} pairs of texts."
            raise ModelRefused(f"{told} It must give one for each, in order.")
        for answer in answers:
            self._spent.cost += answer.cost
        return {pair: one if one.confidence >= _SURE else None for pair, one in zip(pairs, answers, strict=True)}

    def _opinion(self, one: Compared, held: Judgement) -> Opinion:
        """Let what the judge does not confirm stand apart: tied, as a contradiction where it is one."""
        found, scores, name = one.finding[0], one.scores, self._second.name if self._second else ""
        confirmed = held.relation == ("same" if found == "same" else "contradictory")
        relation = found if confirmed else "related" if held.relation == "different" else "conflict"
        says = held.evidence or f"{name} takes them for {held.relation} ({held.confidence:.2f})."
        evidence = f"{one.finding[1]} {says}" if confirmed else says
        return Opinion(scores.redundancy, scores.complementarity, relation, evidence, name, held.cost, second=True)

    def _first(self, contexts: Sequence[str], rows: Sequence[Sequence[Compared]]) -> dict[tuple[int, str], Opinion]:
        pairs = {
            (place, one.known.id): (contexts[place], one.known.context)
            for place, row in enumerate(rows)
            for one in self._doubted(row)
        }
        self._judge(texts for texts in pairs.values() if texts not in self._opinions)
        return {pair: opinion for pair, texts in pairs.items() if (opinion := self._opinions[texts])}

    def _doubted(self, row: Sequence[Compared]) -> Sequence[Compared]:
        """Return the notes that a new one has most to do with: what has changed may be told in no word of what was."""
        near = [one for one in row if one.bond >= self._settings.ask_above and not one.known.gone]
        return sorted(near, key=lambda one: -one.bond)[: self._settings.most_asked]

    def _judge(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Ask about pairs of a new text and a stored one."""
        beside: dict[str, dict[str, None]] = {}
        for new, old in pairs:
            beside.setdefault(new, {})[old] = None
        notes = [(new, list(some)) for new, some in beside.items()]
        self._opinions |= {(new, old): None for new, some in notes for old in some}
        for group, answer in self._roles.about("gating", notes, _shown, self._spent):
            share = answer.cost.share(len(answer.items))
            said = _words(*(text for new, some in group for text in (new, *some)))
            for pair in answer.items:
                new, some = group[pair.note - 1]
                old = some[pair.candidate - 1]
                others = said - _words(new, old)  # a decision on two notes quotes no third one
                quotes = not others.isdisjoint(_words(pair.evidence))
                evidence = f"{answer.model} takes them for {pair.relation}." if quotes else pair.evidence
                self._opinions[new, old] = Opinion(
                    pair.redundancy, pair.complementarity, pair.relation, evidence, answer.model, share
                )

    def merges(
        self, candidates: Sequence[Candidate], verdicts: Sequence[Verdict], contexts: Mapping[str, str]
    ) -> list[Verdict]:
        """Let the writer unify the contexts of merged notes; `contexts` are those of the targets, by note.

        Several that join one note are written together, with the last of them.
        """
        joined: dict[str, list[int]] = {}
        for place, verdict in enumerate(verdicts):
            if verdict.kind == "merge" and verdict.target in contexts:
                joined.setdefault(verdict.target, []).append(place)
        done = list(verdicts)
        if not joined or not self._roles.has("merging"):
            return done
        texts = {
            places[-1]: tuple(dict.fromkeys((contexts[target], *(candidates[place].context for place in places))))
            for target, places in joined.items()
        }
        self._write([some for some in texts.values() if some not in self._merged])
        for last, some in texts.items():
            if merged := self._merged[some]:
                cost = done[last].cost + merged.cost
                done[last] = replace(done[last], context=merged.context, model=merged.model, cost=cost)
        return done

    def _write(self, texts: Sequence[_Texts]) -> None:
        """Ask for one text in place of each group."""
        self._merged |= dict.fromkeys(texts)
        for group, answer in self._roles.about("merging", texts, lambda some: {"texts": some}, self._spent):
            share = answer.cost.share(len(group))
            for merged in answer.items:
                self._merged[group[merged.merge - 1]] = Merged(merged.context, answer.model, share)


def _shown(pair: tuple[str, Sequence[str]]) -> Entry:
    return {"text": pair[0], "candidates": pair[1]}


def _words(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in tokenize(text, "standard"))

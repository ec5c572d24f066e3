"""Ask chat models what the local scores leave in doubt: whether notes repeat each other, and how to merge them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memgraph_engine.cost import Cost
from memgraph_engine.errors import ModelError
from memgraph_engine.gate.gate import Compared
from memgraph_engine.gate.verdict import Opinion, Verdict
from memgraph_engine.llm import NewNote, Roles, Spent, batches, gating, merging
from memgraph_engine.llm.tokens import tokens
from memgraph_engine.model.candidate import Candidate

_DOUBT = 0.2  # redundancy from which a model is asked; below it, it hardly ever finds a repeat
_MOST = 3  # notes that one new note is held against


@dataclass(frozen=True, slots=True)
class Merged:
    """The context that a model wrote for a merged note; `cost` is its share of the request."""

    context: str
    model: str
    cost: Cost


class _Texts(tuple[str, ...]):
    """Texts that become one."""

    __slots__ = ()

    @property
    def tokens(self) -> int:
        """About what it takes of a request."""
        return sum(map(tokens, self))


class Asking:
    """Asks the roles of the gate; a batch that is tried again is not asked about again, nor is what failed."""

    def __init__(self, roles: Roles, batch_tokens: int, spent: Spent) -> None:
        self._roles, self._batch_tokens, self._spent = roles, batch_tokens, spent
        self._opinions: dict[tuple[str, str], Opinion | None] = {}
        self._merged: dict[_Texts, Merged | None] = {}

    def clear(self) -> None:
        """Forget all answers."""
        self._opinions.clear()
        self._merged.clear()

    def opinions(
        self, contexts: Sequence[str], rows: Sequence[Sequence[Compared]]
    ) -> Mapping[tuple[int, str], Opinion]:
        """Ask the gate role about the pairs in doubt; a pair without an answer is left to the local scores."""
        if not self._roles.has("gating"):
            return {}
        pairs = {
            (place, one.known.id): (contexts[place], one.known.context)
            for place, row in enumerate(rows)
            for one in [one for one in row if one.scores.redundancy >= _DOUBT][:_MOST]
        }
        self._judge(texts for texts in pairs.values() if texts not in self._opinions)
        return {pair: opinion for pair, texts in pairs.items() if (opinion := self._opinions[texts])}

    def _judge(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Ask about pairs of a new text and a stored one."""
        beside: dict[str, dict[str, None]] = {}
        for new, old in pairs:
            beside.setdefault(new, {})[old] = None
        notes = [NewNote(new, tuple(some)) for new, some in beside.items()]
        groups = list(batches(notes, self._batch_tokens))
        answers = self._roles.ask_many(list(map(gating, groups)), meters=self._spent.meters)
        for group, answer in zip(groups, answers, strict=True):
            self._opinions |= {(note.text, old): None for note in group for old in note.candidates}
            if isinstance(answer, ModelError):
                self._spent.failed("Gating", answer)
                continue
            self._spent.cost += answer.cost
            share = answer.cost.share(len(answer.response.pairs))
            for pair in answer.response.pairs:
                note = group[pair.note - 1]
                self._opinions[note.text, note.candidates[pair.candidate - 1]] = Opinion(
                    pair.redundancy, pair.complementarity, pair.relation, pair.evidence, answer.model, share
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
            places[-1]: _Texts(dict.fromkeys((contexts[target], *(candidates[place].context for place in places))))
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
        groups = list(batches(texts, self._batch_tokens))
        answers = self._roles.ask_many(list(map(merging, groups)), meters=self._spent.meters)
        for group, answer in zip(groups, answers, strict=True):
            self._merged |= dict.fromkeys(group)
            if isinstance(answer, ModelError):
                self._spent.failed("Merging", answer)
                continue
            self._spent.cost += answer.cost
            share = answer.cost.share(len(group))
            for merged in answer.response.merges:
                self._merged[group[merged.merge - 1]] = Merged(merged.context, answer.model, share)

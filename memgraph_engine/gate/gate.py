"""Judge new notes against what is known, without an LLM (MemFly, section 3.3.2): merge, link, append, and beyond."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from operator import itemgetter
from types import MappingProxyType

from memgraph_engine.cost import NOTHING
from memgraph_engine.gate.calibration import Calibration
from memgraph_engine.gate.confirmation import confirmation, echo
from memgraph_engine.gate.correction import correction
from memgraph_engine.gate.difference import Pair
from memgraph_engine.gate.known import Known, Line
from memgraph_engine.gate.repair import FAR, answers, may_repair, reach, repair
from memgraph_engine.gate.score import Scores, Statistics, score
from memgraph_engine.gate.update import Update, anew, nearest, telling, update
from memgraph_engine.gate.verdict import APPEND, RIGHTS, Opinion, Tie, Verdict
from memgraph_engine.language.questions import is_question
from memgraph_engine.language.terms import closed_terms
from memgraph_engine.lifecycle.policies import Policies
from memgraph_engine.model.candidate import Candidate, LookUp, Neighbour, within
from memgraph_engine.model.memory import ALONE, Source, line
from memgraph_engine.model.result import Considered, Relation
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import GateSettings
from memgraph_engine.trust import CALLED, below, least

_WORDS = 8  # of a new note, by which full text is asked for others
_NEVER = datetime.min.replace(tzinfo=UTC)
_AGAIN = "It says again what had changed."
_ECHO = "An assistant said there again what has changed."
_TELLS = {"change": "It tells a change of note {note}.", "conflict": "It contradicts note {note}."}
_TOLD = "Note {note} tells a change of it."
_PLAIN = "It says so in the same words."


@dataclass(frozen=True)
class Compared:
    """A known note beside a new one: their scores, and what the new one is to it, found out when that is asked for.

    By the scores the new one `repeats` it, or is only `near`.
    """

    new: Known
    known: Known
    scores: Scores
    repeats: bool
    near: bool

    def joined(self, others: Sequence["Compared"]) -> "Compared":
        """Return this note with what joined it in the same batch, as it is compared once it is stored."""
        if not others:
            return self
        lines = *self.known.lines, *(each for one in others for each in one.known.lines)
        near = self.near or any(one.near for one in others)
        return replace(self, known=replace(self.known, lines=lines), near=near)

    @property
    def rank(self) -> tuple[float, float, float, str]:
        """Order by redundancy, then similarity, then age, then id: a function of the notes, not of how they came."""
        said = self.known.said_at.timestamp() if self.known.said_at else 0.0
        return -self.scores.redundancy, -self.scores.cosine, said, self.known.id

    @property
    def bond(self) -> float:
        """How much the two have to do with each other: the larger of how much it repeats and how related they are."""
        return max(self.scores.redundancy, self.scores.related)

    @cached_property
    def pairs(self) -> list[Pair]:
        """The new line beside each of the known note's."""
        return [Pair(self.new.lines[0], old, (self.new, self.known)) for old in self.known.lines]

    def may_join(self, policies: Policies) -> bool:
        """Whether the new note may join this one by their classes and ends."""
        return not self.known.summary and policies.joins(*((one.policy, one.ends) for one in (self.new, self.known)))

    @cached_property
    def again(self) -> bool:
        """Whether the new note says this one again: also with words for that it is so again."""
        return self.finding[0] == "same" or any(anew(pair.new, pair.old) for pair in self.pairs)

    @cached_property
    def part(self) -> str:
        """The words of it that a model means by an update: '' for all, also where that may be one or another."""
        if self._changed:
            return self.former
        return nearest(self.known.lines[self.scores.line], self.new.lines[0].content)

    @property
    def texts(self) -> tuple[str, str]:
        """What the older note says nearest to it, and what the new one says, each behind its speaker."""
        lines = self.known.lines[self.scores.line], self.new.lines[0]
        old, new = (f"{one.speaker}: {one.text}" if one.speaker else one.text for one in lines)
        return old, new

    @cached_property
    def confirmation(self) -> str:
        """What the new note, an assistant's, only repeats of what the user said here; '' if it says more."""
        said = (confirmation(self.new.lines[0], old) for old in self.known.lines)
        return next(filter(None, said), "")

    def echo(self, other: "Compared", former: str) -> str:
        """Return what this note, an assistant's, says again of a user's, of which the words `former` have changed."""
        new, (said, *more) = self.new.lines[0], self.known.lines
        if more or said.role != "assistant":
            return ""
        at_once = 0 < new.behind(said) <= FAR and 0 < new.behind(other.known.lines[0]) <= FAR
        echoes = (echo(said, old, former, at_once=at_once) for old in other.known.lines)
        return next(filter(None, echoes), "")

    @cached_property
    def plain(self) -> bool:
        """Whether the same one has said so already: the words as they are written, of the same days."""
        return self.repeats and any(pair.plain for pair in self.pairs)

    @cached_property
    def finding(self) -> tuple[Relation, str]:
        """What the new note is to this one, and the sentence that says why; "none" for no more than related."""
        if self._beside:
            return ("same", _PLAIN) if self.plain else ("none", "")
        if (self.repeats or self.near) and (evidence := self._correction()):
            return "update", evidence
        if self.plain:
            return "same", _PLAIN
        if self._changed:
            evidence = self._changed[1].evidence
            return ("before", evidence.replace("new", "later", 1)) if self.is_older else ("change", evidence)
        if not self.repeats:
            return "none", ""
        found = [pair.finding for pair in self.pairs]
        # it joins what it repeats line by line: else each line would bring others with it, until they share nothing
        verdicts: tuple[Relation, ...] = ("conflict", "related", "same")
        relation, evidence = next(one for verdict in verdicts for one in found if one[0] == verdict)
        disputed = any(pair.disputed for pair in self.pairs)
        return ("related" if relation == "conflict" and not disputed else relation), evidence

    @property
    def _beside(self) -> bool:
        """Whether both are passages of one message: who lists two things takes neither back."""
        message = self.new.lines[0].message
        return message != "" and all(line.message == message for line in self.known.lines)

    @property
    def apart(self) -> bool:
        """Whether something keeps the new note from joining any note like this one."""
        return self.finding[0] in ("change", "conflict") or any(pair.finding[0] == "conflict" for pair in self.pairs)

    @property
    def is_older(self) -> bool:
        """Whether the new note was said before this one."""
        return bool(self.new.said_at and self.known.said_at and self.new.said_at < self.known.said_at)

    @property
    def former(self) -> str:
        """The words of this note that the new one makes untrue, or of the new one that this one does, if not all."""
        if self._changed is None:
            return ""
        pair, found = self._changed
        whole = found.former or self.is_older or all(self._told(other) for other in self.pairs if other is not pair)
        return found.former if whole else " ".join(pair.old.text.split())

    @cached_property
    def _changed(self) -> tuple[Pair, Update] | None:
        """What tells that the later one is the present state of the other, and of which line."""
        return next(((pair, told) for pair in self.pairs if not pair.foreign and (told := self._told(pair))), None)

    def _told(self, pair: Pair) -> Update | None:
        """Return what tells that the later line puts the other right, or is the present state of it."""
        later, earlier = (pair.old, pair.new) if self.is_older else (pair.new, pair.old)
        if not self.is_older and self.new.asked:  # what answers a question about another thing takes nothing back
            return None
        if not self.is_older and (repaired := repair(later, earlier, self.new.reach)):
            return repaired
        again = self.repeats and pair.finding[0] == "same"  # a report too: it shares few words, so it looks like news
        return None if pair.happened else update(later, earlier, self.scores.meant, again=again)

    def _correction(self) -> str:
        """Say how the new note takes back all of this one, which it may hide then: the one place that decides it.

        The same one says so, of the same days and no earlier; and it ends no earlier, else it would leave nothing.
        """
        (said,) = self.new.lines
        less = self.known.summary or self.known.ends > self.new.ends or self.is_older
        if not said.announces or less or any(pair.foreign or pair.apart for pair in self.pairs):
            return ""
        return correction(said, self.known.lines)


Ask = Callable[[Sequence[str], Sequence[Sequence[Compared]]], Mapping[tuple[int, str], Opinion]]
"""From the candidates' contexts and the notes beside each to opinions, by the candidate's place and the note."""


class Gate:
    """Judges the candidates of one batch."""

    def __init__(
        self,
        settings: GateSettings,
        maps: Calibration,
        scope: Scope,
        language: str,
        notes: int,
        policies: Policies = Policies(),  # noqa: B008  it is frozen
    ) -> None:
        self._settings, self._calibration, self._policies = settings, maps, policies
        self._scope, self._language, self._notes = scope, language, notes
        self.contexts: Mapping[str, str] = {}

    def verdicts(
        self, stored: LookUp, candidates: Sequence[Candidate], opinions: "Ask" = lambda *_: {}
    ) -> list[Verdict]:
        """Judge candidates in order, each against `stored` notes and the candidates before it.

        One look-up for all of them. `opinions` may ask a model about the pairs, and goes before the local judgement.
        A piece of code stands alone: two functions of one text in two places are two. So does an item.
        """
        verdicts = [self._alone(candidate) for candidate in candidates]
        some = [place for place, candidate in enumerate(candidates) if candidate.source.kind not in ALONE]
        if self._settings.update and some:
            said = [candidates[place] for place in some]
            new, rows = self.compared(stored, said)
            decided = self.decided(said, new, rows, opinions([candidate.context for candidate in said], rows))
            for place, verdict in zip(some, decided, strict=True):
                verdicts[place] = verdict
        return verdicts

    def compared(
        self, stored: LookUp, candidates: Sequence[Candidate]
    ) -> tuple[Sequence[Known], Sequence[Sequence[Compared]]]:
        """Return the candidates as notes, and the notes near each of them, nearest first.

        What is kept apart is near to nothing.
        """
        words = [_words(candidate, self._language) for candidate in candidates]
        settings = self._settings
        own = [new_of(candidate, candidate.note(self._scope.name), self._language) for candidate in candidates]
        turns = [FAR if may_repair(new.lines[0]) else 0 for new in own]
        near = stored(candidates, words, turns)
        held = {note.id: known_of(note, self._language) for note in near.notes.values()}
        beside = within(candidates, turns, near=settings.near)
        rows: list[Sequence[Compared]] = []
        made = 0  # notes by the batch so far, as if they were stored: some join others
        for place, (candidate, new) in enumerate(zip(candidates, own, strict=True)):
            known = [(held[other], cosine) for other, cosine in near.near[place].items() if other != new.id]
            known += [(own[before], cosine) for before, cosine in beside[place]]
            if turns[place]:
                new = replace(new, reach=reach(new.lines[0], [line for one, _ in known for line in one.lines]))
            rows.append(self.beside(new, known, made))
            made += candidate.raw_vector is not None
        self.contexts = {one.id: one.context for one in (*held.values(), *own)}
        return own, rows

    def beside(self, new: Known, known: Sequence[tuple[Known, float]], made: int = 0) -> list[Compared]:
        """Score a new note against those near it, given with cosines; the memory has grown by `made`."""
        others = [one for one, _ in known]
        cosines = [max(cosine, 0.0) for _, cosine in known]
        statistics = Statistics.of(self._notes + made, others)
        compared = []
        for one, scores in zip(others, score(new, others, cosines, statistics, self._calibration), strict=True):
            repeats = scores.redundancy > self._settings.merge_threshold
            # not complementarity, which is low for what repeats in part: a correction is neither this nor a restatement
            near = scores.related > self._settings.link_threshold
            compared.append(Compared(new, one, scores, repeats, near))
        return sorted(compared, key=lambda one: one.rank)

    def decided(
        self,
        candidates: Sequence[Candidate],
        new: Sequence[Known],
        rows: Sequence[Sequence[Compared]],
        opinions: Mapping[tuple[int, str], Opinion] = MappingProxyType({}),
    ) -> list[Verdict]:
        """Decide one after the other: one that joined a note is known by that note to those after it."""
        homes: dict[str, str] = {}
        known = [one.known for row in rows for one in row]
        ended = {one.id: one.ended for one in known if one.ended}
        gone = {one.id for one in known if one.gone}
        said = {one.id: one.said_at or _NEVER for one in known}
        verdicts: list[Verdict] = []
        for place, (candidate, own, row) in enumerate(zip(candidates, new, rows, strict=True)):
            verdict = self._alone(candidate)
            if verdict.kind != "discard" and row:
                held = {one.known.id: opinion for one in row if (opinion := opinions.get((place, one.known.id)))}
                verdict = self._decide(_by_note(row, homes), ended, gone, held)
            joins = verdict.kind in ("merge", "reinforce")
            homes[own.id] = "" if verdict.kind == "discard" else verdict.target if joins else own.id
            said[own.id] = own.said_at or _NEVER
            for tie in verdict.ties:
                newer, older = tie.between(homes[own.id])
                ended |= {older: (newer, said.get(newer, _NEVER))} if tie.kind == "change" else {}
            if verdict.kind == "supersede":
                ended[verdict.target] = own.id, said[own.id]
                gone.add(verdict.target)
            verdicts.append(verdict)
        return verdicts

    def _alone(self, candidate: Candidate) -> Verdict:
        """Judge a candidate by itself."""
        return Verdict("discard", evidence=f"It is {candidate.noise}.") if candidate.noise else APPEND

    def _decide(
        self,
        compared: Mapping[str, Sequence[Compared]],
        ended: Mapping[str, tuple[str, datetime]],
        gone: Collection[str],
        opinions: Mapping[str, Opinion],
    ) -> Verdict:
        """Choose: join the nearest repeat, else replace what is corrected, else stand alone; tied to what is near."""
        settings = self._settings
        best: list[tuple[Compared, Considered]] = []
        told = set[str]()  # notes on which a model has spoken
        for note, parts in compared.items():
            one = parts[0].joined(parts[1:])
            opinion = next((held for part in parts if (held := opinions.get(part.known.id))), None)
            told |= {note} if opinion and not opinion.second else set()
            best.append((one, self._considered(one, note, opinion)))
        best = [pair for pair in _come_back(best, ended) if pair[1].note not in gone]
        best = [(one, _vetoed(one, seen)) for one, seen in _echoed(best)]
        best.sort(key=lambda pair: (-pair[1].redundancy, pair[0].rank))  # a model's scores may order them otherwise
        considered = tuple(seen for _, seen in best)
        model = next((opinion.model for opinion in opinions.values()), "")
        cost = sum((opinion.cost for opinion in opinions.values()), NOTHING)
        asked = partial(Verdict, considered=considered, model=model, cost=cost)
        confirmations = (one.confirmation for one, _ in best if one.known.ends >= one.new.ends)
        if confirmed := next(filter(None, confirmations), ""):
            return asked("discard", evidence=confirmed)
        # a line joins the note that holds most of it: another may repeat as much, and say less besides
        same = [pair for pair in best if pair[1].relation == "same" and pair[0].may_join(self._policies)]
        if settings.merge and same:
            one, seen = max(same, key=lambda pair: pair[0].scores.known)
            if one.plain:
                return asked("reinforce", seen.note, evidence=seen.evidence)
            # what contradicts the nearest note, or tells of its change, joins no other one, unless a model says so
            doubted = best[0][0].apart or best[0][1].relation == "conflict"
            if seen.note in told or not doubted:
                return asked("merge", seen.note, self._ties(best, seen.note), evidence=seen.evidence)
        old = next((seen for _, seen in best if seen.relation == "update"), None)
        ties = self._ties(best, old.note if old else "")
        if old:
            return asked("supersede", old.note, ties, evidence=old.evidence)
        return asked("link" if ties else "append", "", ties, evidence=_tells(ties, considered))

    def _ties(self, best: Sequence[tuple[Compared, Considered]], without: str) -> tuple[Tie, ...]:
        """Tie the note to those that it completes or contradicts, the nearest first."""
        if not self._settings.link:
            return ()
        wanted = [(one, seen) for one, seen in best if seen.relation != "none" and seen.note != without]
        ties = [self._tie(seen, round(max(one.bond, seen.redundancy, seen.complementarity), 4)) for one, seen in wanted]
        # that one of two notes is the present state of the other is told before all else
        kept = (tie for tie in ties if tie.score > self._settings.link_threshold or tie.kind != "link")
        ranked = sorted(kept, key=lambda tie: (tie.kind != "change", -tie.score, tie.note))
        return tuple(ranked[: self._settings.most_links])

    def _tie(self, seen: Considered, score: float) -> Tie:
        """Return a tie; what a rule tells is no weaker than what scores tell."""
        if seen.relation in ("related", "same"):
            return Tie(seen.note, "link", score)
        score = max(score, self._settings.link_threshold)
        if seen.relation == "conflict":
            return Tie(seen.note, "conflict", score)
        return Tie(seen.note, "change", score, seen.former, back=seen.relation == "before")

    def _considered(self, one: Compared, note: str, opinion: Opinion | None) -> Considered:
        """Return what a note is to the new one, by a model's opinion if there is one.

        A model hides nothing: it does not tell which words are taken back. Its update is a change.
        """
        scores, settings = one.scores, self._settings
        if opinion:
            seen = opinion.considered(note, scores.cosine, settings.thresholds)
        else:
            relation, evidence = one.finding
            if relation == "none" and scores.related > settings.link_threshold:
                relation = "related"
            former = one.former if relation in ("change", "before") else ""
            rounded = round(scores.redundancy, 4), round(scores.complementarity, 4), round(scores.cosine, 4)
            seen = Considered(note, *rounded, relation, evidence, former=former)
        if opinion and seen.relation in ("same", "update", "conflict") and not any(pair.of_one for pair in one.pairs):
            return replace(seen, relation="related")
        if seen.relation != "update" or (one.finding[0] == "update" and settings.supersede):
            return seen
        if one.is_older or one.known.summary:  # which tells of much else
            return replace(seen, relation="conflict")
        return replace(seen, relation="change", former=one.part)


def known_of(note: Neighbour, language: str) -> Known:
    """Return a stored note as it is compared."""
    sources = [_rewritten(text, note.sources, language) for text in note.rewritten] or note.sources
    lines = tuple(Line(source, language) for source in sources)
    said = Known(note.id, note.context, lines, frozenset(note.keywords), note.said_at, policy=note.policy)
    trust = least(source.trust for source in note.sources)
    return replace(said, ended=note.ended, ends=note.expires_at, summary=note.summary, gone=note.gone, trust=trust)


def _rewritten(text: str, sources: Sequence[Source], language: str) -> Source:
    """Return a line that a user wrote for a note, or a summary's, as one of its sources, in whose place it was put."""
    for source in sources:
        before, _, after = line(replace(source, text="\0"), language).partition("\0")
        if text.startswith(before) and text.endswith(after):
            return replace(source, text=text.removeprefix(before).removesuffix(after))
    return Source("", text, "")


def new_of(candidate: Candidate, own: str, language: str) -> Known:
    """Return a note to be, by its `own` id, as it is compared."""
    source, before = candidate.source, candidate.before
    said, keywords = Line(source, language), frozenset(keyword.key for keyword in candidate.keywords)
    known = Known(own, candidate.context, (said,), keywords, source.said_at, policy=source.policy)
    known = replace(known, ends=source.expires_at, trust=source.trust)
    if not before:
        return known
    asked = may_repair(said) and answers(said, before)
    return replace(known, answers=is_question(before.text), asked=asked)


def _tells(ties: Sequence[Tie], considered: Sequence[Considered]) -> str:
    """Return what a note does to the first of those that it is tied to by more than a link, and why; else ''."""
    why = {seen.note: seen.evidence for seen in considered}
    more = (tie for tie in ties if tie.kind in _TELLS)
    told = ((_TOLD if tie.back else _TELLS[tie.kind]).format(note=tie.note) + f" {why[tie.note]}" for tie in more)
    return next(map(str.rstrip, told), "")


def _by_note(compared: Sequence[Compared], homes: Mapping[str, str]) -> dict[str, list[Compared]]:
    """Gather by the notes that they are part of now, if of any; the nearest first."""
    found: dict[str, list[Compared]] = {}
    for one in compared:
        home = homes.get(one.known.id, one.known.id)
        note = homes.get(home, home)
        if note:
            found.setdefault(note, []).append(one)
    return found


def _come_back(
    best: Sequence[tuple[Compared, Considered]], ended: Mapping[str, tuple[str, datetime]]
) -> list[tuple[Compared, Considered]]:
    """Let what is said again after it had changed be news of what was true between, and join no note of before."""
    known = [(one.new.said_at, one, seen) for one, seen in best if seen.note in ended]
    again = {
        seen.note
        for said, one, seen in known
        if not said or said > ended[seen.note][1]
        if seen.relation == "same" or one.again
    }
    by = {_last(note, ended) for note in again}
    found = []
    for one, seen in best:
        if seen.note in again:
            seen = replace(seen, relation="related", evidence=_AGAIN)
        elif seen.note in by and seen.relation in ("none", "related", "conflict"):
            former = telling(one.known.lines)
            seen = seen if former is None else replace(seen, relation="change", evidence=_AGAIN, former=former)
        found.append((one, seen))
    return found


def _last(note: str, ended: Mapping[str, tuple[str, datetime]]) -> str:
    """Return the last of the notes of which each tells what has changed of the one before."""
    known = {note}
    while note in ended and ended[note][0] not in known:
        note = ended[note][0]
        known.add(note)
    return note


def _echoed(best: Sequence[tuple[Compared, Considered]]) -> list[tuple[Compared, Considered]]:
    """Let what an assistant said again of a user's words end with these, where the new note tells their change."""
    changed = [(one, seen) for one, seen in best if seen.relation in ("change", "update")]
    found = []
    for one, seen in best:
        said = ((one.echo(other, was.former), was.note) for other, was in changed if other is not one)
        if told := next(filter(itemgetter(0), said), None):
            former, follows = told
            seen = replace(seen, relation="change", evidence=_ECHO, former=former, follows=follows)
        found.append((one, seen))
    return found


def _vetoed(one: Compared, seen: Considered) -> Considered:
    """Let a new note be to a known one what its class of trust allows, whoever says what it is: rules, or a model."""
    new, known = one.new.trust, one.known.trust
    lower, higher = RIGHTS.get(seen.relation, (seen.relation, seen.relation))
    allowed = lower if below(new, known) else higher if below(known, new) else seen.relation
    if allowed == seen.relation:
        return seen
    why = f"It is from {CALLED[new]}, and the other from {CALLED[known]}. {seen.evidence}".rstrip()
    return replace(seen, relation=allowed, evidence=why, former="", follows="")


def _words(candidate: Candidate, language: str) -> list[str]:
    """Return the words by which full text is asked: the distinct longest, without those of time and grammar."""
    distinct = {*candidate.raw_terms} - closed_terms(language)
    return sorted(distinct, key=lambda term: (-len(term), term))[:_WORDS]

"""The way of a question: recall finds hits, the graph tells what contradicts them, the answer room does the rest."""

from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Unpack

from memgraph_engine.answer.ask import ask, cited_in
from memgraph_engine.answer.candidates import candidates
from memgraph_engine.answer.certainty import sure
from memgraph_engine.answer.context import GENERAL, LEAST_BUDGET
from memgraph_engine.asking import prompting
from memgraph_engine.asking.facts import Facts, names_in
from memgraph_engine.asking.lookup import find, listing, searching
from memgraph_engine.asking.reflection import Judge
from memgraph_engine.asking.remembered import Remembered, by_blocks, most_blocks
from memgraph_engine.asking.write_behind import Log, Recorder
from memgraph_engine.blocks import reading
from memgraph_engine.claims import reading as claim_reading
from memgraph_engine.engine.account import Account, on_account
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, MemgraphEngineError, named
from memgraph_engine.graph import decisions, notes, scopes, sources, topics, usage
from memgraph_engine.graph.claims import Supported
from memgraph_engine.ingest.messages import check_limit, check_name, check_text, local, parse_instant, source_of
from memgraph_engine.ingest.profiling import subject
from memgraph_engine.interface.defaults import MOST
from memgraph_engine.interface.filters import SearchFilters
from memgraph_engine.language.assertion import of_speaker
from memgraph_engine.language.questions import asked_attributes, asks_about_user
from memgraph_engine.language.references import standalone
from memgraph_engine.lifecycle import utility
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.answer import BUSY, Answer, Context, Prompt
from memgraph_engine.model.block import Block
from memgraph_engine.model.claim import Claim
from memgraph_engine.model.fact import Fact
from memgraph_engine.model.memory import NEVER, READABLE, TRUE_ONCE, Note, Source, Status
from memgraph_engine.model.profile import MANY, Profile
from memgraph_engine.model.redaction import KEEPING
from memgraph_engine.model.result import SUCCEEDS, Anchor, Contrary, Hit, Hits, QueryPlan, Reflected, Reflection
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.usage import Usage
from memgraph_engine.recall.plan import Reading
from memgraph_engine.recall.pool import PATHWAYS
from memgraph_engine.recall.refine import Refiner
from memgraph_engine.recall.relevance import tell_unfitted, weights
from memgraph_engine.recall.search import Query, anchors, best_hits, retrieve
from memgraph_engine.recall.select import Selector
from memgraph_engine.trust import TRUST, below
from memgraph_engine.writing.lives import flag, follow

_SAID = ("", "user", "assistant")  # roles of turns that tell what a question refers back to
_EARLIER = 1000  # turns of a session among which the nearest to a question are looked for
LAST = 8
"""Turns before a question in which it is looked up what that refers back to."""
MOST_ROUNDS = 3
"""MemFly's I_max (section 3.4.2)."""
_REFINING = ("planning", "sufficiency")  # roles that are asked where more rounds than one are allowed
_MOST_BUDGET = 10_000_000  # tokens; no model reads as many
_FURTHER = 2  # times the notes that a context considers, where the nearest are not sure to answer
_CLAIMS = 5  # of a context whose quarter they have
_MOST_GENERAL = 0.5  # share of claims: notes are told as well
_SUCCESSORS = 3  # times that what took a note's place was replaced again, and is told as well
_PAGE = 100  # notes
_VALUES, _TOPICS = 8, 4  # that are looked for about a user, the first of the profile and the largest


class Reader:
    """Asks the memories of one database.

    A read of a `busy` client leaves out pathways, later rounds, the reranker and the counting of use, and says so.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._use = Recorder(engine)
        self._log = Log(engine)

    def write(self) -> None:
        """Write what was counted and recorded, before the connections are closed."""
        self._use.write()
        self._log.write()

    def search(
        self,
        scope: Scope,
        question: str,
        top_k: int,
        rounds: int | None,
        history: object,
        *,
        explain: bool,
        **filters: Unpack[SearchFilters],
    ) -> Hits:
        """Return the best notes of the scopes that its user may read, and record that they were given to him."""
        if rounds is not None and (type(rounds) is not int or not 1 <= rounds <= MOST_ROUNDS):
            raise InvalidInput(f"rounds must be a whole number from 1 to {MOST_ROUNDS}, not {rounds!r}.")
        with self.engine.load.read() as busy:
            turns = self._turns(scope, history, question)
            query = self._query(scope, question, top_k, filters, turns, explain=explain)
            hits, _ = self._hits(scope, query, rounds or self.engine.settings.recall.rounds, busy=busy)
            claims = self._general(scope, question, query.text, hits.plan, filters, top_k)[0]
            del hits[top_k - len(claims) :]
            hits.asked, hits.claims = "" if query.text == question else query.text, tuple(claims)
            self._log.given(scope, "search", question, (hit.note for hit in hits), filters)
            return hits

    def found(self, scope: Scope, question: str, top_k: int, **filters: Unpack[SearchFilters]) -> Hits:
        """Return the best notes for the engine's own use: they are neither reranked nor recorded."""
        rounds = self.engine.settings.recall.rounds
        return self._hits(scope, self._query(scope, question, top_k, filters), rounds, busy=False, plain=True)[0]

    def _hits(self, scope: Scope, query: Query, rounds: int, *, busy: bool, plain: bool = False) -> tuple[Hits, Spent]:
        """Return the best notes, and what models cost that planned the question, or judged or chose the notes."""
        engine, recall, degraded = self.engine, self.engine.settings.recall, tuple[str, ...]()
        if busy:
            ways = (way for way in PATHWAYS if recall.has(way))
            stages = {"rounds": rounds > 1, "reranker": self._reranks}
            degraded = (*ways, *(stage for stage, planned in stages.items() if planned))
            recall, rounds = recall.switched(**dict.fromkeys(PATHWAYS, False)), 1
        if recall.reads_use and not busy:
            self._use.write()
        reranks = self._reranks and not (busy or plain)
        asking = (reranks and engine.reranker is None) or (rounds > 1 and any(map(engine.roles.has, _REFINING)))
        payer = self._payer(scope) if asking else scope
        if payer is None:  # nothing to ask a model about
            return Hits(), Spent()
        with on_account(engine, payer) as spent:
            selector = Selector(engine.reranker, engine.roles, spent, recall.candidates) if reranks else None
            query = selector.widened(query) if selector else query
            if rounds == 1 and not query.explain:
                one = retrieve(engine.db, engine.notes, query, [self.engine.language_of(scope)], recall)
                found = best_hits(engine.db, engine.notes, query, [one], one.scores)
            else:
                refiner = Refiner(recall, engine.embedder, engine.roles, spent, routed=engine.settings.claims.share > 0)
                found = refiner.search(engine.db, engine.notes, query, self.engine.language_of(scope), rounds)
            found = selector.select(query, found) if selector else found
            return Hits(found, degraded, found.among, found.dropped, spent.fallbacks, plan=found.plan), spent

    @property
    def _reranks(self) -> bool:
        """Whether a search has a second stage."""
        return self.engine.reranker is not None or self.engine.settings.recall.selects

    def _payer(self, scope: Scope) -> Scope | None:
        """Return who pays for models: the user's own memory, else the shared one; None where neither exists."""
        return next((one for one in scope.readable if scopes.state(self.engine.db, one.name)), None)

    def anchors(self, scope: Scope, question: str) -> list[Anchor]:
        """Return the keywords that the pathways of a question lead over."""
        engine = self.engine
        with engine.load.read():
            query = self._query(scope, question, MOST, {})
            return anchors(engine.db, engine.notes, query, engine.language_of(scope), engine.settings.recall)

    def context(
        self,
        scope: Scope,
        question: str,
        budget: int | None,
        top_k: int,
        history: object,
        *,
        by: str = "notes",
        claims: bool | None = None,
        facts: bool = False,
        answered: bool = False,
        **filters: Unpack[SearchFilters],
    ) -> Context:
        """Return what the memory holds on a question, within a budget of tokens; found by a search, or by blocks.

        With `claims` those come behind it of which the question names an end, and with False none, whatever the setting
        says; with `facts` notes are told by theirs. It leaves out what chat models may not see, unless its class is
        named; for one that is `answered` also then.
        """
        if budget is not None and (type(budget) is not int or not LEAST_BUDGET <= budget <= _MOST_BUDGET):
            raise InvalidInput(
                f"budget must be a whole number of tokens from {LEAST_BUDGET} to {_MOST_BUDGET}, not {budget!r}."
            )
        room = budget or self.engine.settings.answer.budget
        blocks = most_blocks(room) if _by_blocks(by, filters) else 0
        if claims:
            _without_filters("A context with claims", filters)
        with self.engine.load.read() as busy:
            turns = self._turns(scope, history, question)
            remembered = self._remembered(
                *(scope, question),
                top_k=top_k,
                blocks=blocks,
                general=claims is not False,
                answered=answered,
                busy=busy,
                turns=turns,
                **filters,
            )
            if claims and not remembered.claims:
                remembered = replace(remembered, claims=self._named(scope, question, [remembered.asked], _CLAIMS))
            remembered = replace(remembered, facts=self._stated(scope, remembered, filters)) if facts else remembered
            context = remembered.context(room, turns)  # whoever has these turns need not be told them
            shown = [entry.note for entry in context.entries]
            if not busy:
                self._use.shown(scope, shown)
            self._log.given(scope, "answer" if answered else "context", question, shown, filters)
            return context

    def _remembered(
        self,
        scope: Scope,
        question: str,
        *,
        top_k: int,
        blocks: int = 0,
        general: bool = True,
        answered: bool,
        busy: bool,
        turns: Sequence[Source],
        **filters: Unpack[SearchFilters],
    ) -> Remembered:
        """Return what contexts of a question are made of: what so many `blocks` hold, or what a search finds.

        Claims that hold in general come with it where the setting says so.
        """
        settings = self.engine.settings.answer
        query = self._query(scope, question, top_k, filters, turns)
        if not self._reranks:  # what nothing answers clearly is looked for further down
            query = replace(query, top_k=min(_FURTHER * top_k, MOST))
        named = () if answered else filters.get("include") or ()
        shown = query.filters.shown & self.engine.policies.modelled.union(named)
        query = replace(query, filters=replace(query.filters, shown=shown))
        language = self.engine.language_of(scope)
        above = list[str]()
        if blocks:
            (found, above), spent = by_blocks(self.engine, query, [language], blocks), Spent()
        else:
            found, spent = self._hits(scope, query, settings.rounds, busy=busy)
        near = found if blocks else _first(found, top_k)
        hits, left_out = candidates(query.text, near, language)
        own = bool(scope.user and asked_attributes(query.text, language))
        apart = [hit.note.id for hit in hits if own and not _of_user(hit, scope.user, language)]
        certain = _answered(query.reading, hits, own=own) or sure(query.text, hits, found.among, language, apart)
        if not certain and len(near) < len(found):
            hits, left_out = candidates(query.text, found, language)
        hits, ties = self._with_others(query, hits)
        told = {hit.note.id for hit in hits}
        left_out |= {note: why for note, why in found.dropped.items() if note not in told}
        fallbacks = (*spent.fallbacks, BUSY) if busy else spent.fallbacks
        of = _CLAIMS / GENERAL if general else 0.0
        claims, share = self._general(scope, question, query.text, found.plan, filters, of)
        given = question, query.text, hits, ties, left_out, settings, language, spent.cost, tuple(fallbacks)
        remembered = Remembered(*given, sure=certain, above=above)
        return replace(remembered, claims=claims, share=share) if claims else remembered

    def blocks(self, scope: Scope, question: str, top_k: int) -> list[Block]:
        """Return the blocks nearest to a question, with their fields, of the scopes that its user may read."""
        engine, names = self.engine, [one.name for one in scope.readable]
        check_limit(top_k, "top_k")
        with engine.load.read():
            check_text(question, "query", 1_000_000)
            vector = engine.embedder.embed_query(question)
            engine.db.check_vectors()
            found = reading.selected(engine, names, vector, top_k)
            blocks, notes, _ = reading.told(engine, names, found, engine.language_of(scope), vector)
            self._log.given(scope, "blocks", question, notes, {})
            return blocks

    def claims(self, scope: Scope, query: str | None, top_k: int) -> list[Claim]:
        """Return claims of the scopes that a scope's user may read: those on a text, or the most certain ones."""
        engine, names, language = self.engine, [one.name for one in scope.readable], self.engine.language_of(scope)
        check_limit(top_k, "top_k")
        with engine.load.read():
            if query is None:
                found = claim_reading.every(engine, scope, language, top_k)
            else:
                check_text(query, "query", 1_000_000)
                engine.db.check_vectors()
                found = claim_reading.about(engine, scope, query, language, top_k)
            self._log.given(scope, "claims", query or "", self._supporting(names, found), {})
            return [one.claim for one in found]

    def _general(
        self, scope: Scope, question: str, asked: str, plan: QueryPlan | None, filters: SearchFilters, of: float
    ) -> tuple[list[Claim], float]:
        """Return the claims that are told without being asked for, and their share of the `of` that there is room for.

        It is that of the queries which a plan routes to them, at most a half; else the setting's. They take no filters.
        """
        share = self.engine.settings.claims.share
        if not share or any(value not in (None, (), [], False) for value in filters.values()):
            return [], 0.0
        routed = plan.general if plan else ()
        share = min(plan.share if plan and routed else share, _MOST_GENERAL)
        most = int(of * share)  # none of a few: of one hit a claim would leave no note
        return (self._named(scope, question, routed or [asked], most) if most else []), share

    def _named(self, scope: Scope, question: str, asked: Sequence[str], most: int) -> list[Claim]:
        """Return the claims of which a question names an end, as the memory was `asked` it, in one way or several."""
        names, language = [one.name for one in scope.readable], self.engine.language_of(scope)
        some = (claim_reading.about(self.engine, scope, one, language, most, named=True) for one in asked)
        found = [*{one.claim.id: one for one in chain.from_iterable(some)}.values()][:most]
        self._log.given(scope, "claims", question, self._supporting(names, found), {})
        return [one.claim for one in found]

    def _supporting(self, names: Sequence[str], found: Sequence[Supported]) -> list[Note]:
        """Return the notes that support claims, where it is recorded to whom notes are given."""
        engine, stamps = self.engine, sorted({stamp for one in found for stamp in one.stamps})
        if not stamps or not engine.settings.audit.retrievals:
            return []
        given = [*engine.notes.read(engine.db, names, stamps, engine.embedder.dimensions)[0].values()]
        engine.notes.complete(engine.db, names, given)
        return [note.note() for note in given if note.whole]

    def facts(self, scope: Scope, about: str, limit: int, *, former: bool) -> list[Fact]:
        """Return what was stated about somebody or something, '' for what a scope's user stated, the last first.

        Notes are read from the last one on until there are `limit` facts; of a name those that a search finds.
        """
        language, db, statuses = self.engine.language_of(scope), self.engine.db, TRUE_ONCE if former else READABLE
        check_limit(limit)
        with self.engine.load.read():
            if about != "":
                check_text(about, "about", 1_000)
                if not names_in(about, language):
                    raise InvalidInput(f"about must name somebody or something, and {about!r} has no word.")
                hits = self.found(scope, about, MOST)
                pages = iter([[hit.note for hit in hits if hit.note.status in statuses]])
            else:
                pages = self._newest(scope, statuses)
            found: list[Fact] = []
            names = [one.name for one in scope.readable]
            own = self.engine.settings.lifecycle.attributes
            known, least = partial(decisions.profile, db, scope.name), self.engine.settings.trust.facts
            facts = Facts(about, scope.user, language, own, known, least)
            for page in pages:
                ties = decisions.contrary(db, names, [note.id for note in page], NEVER)
                found += [one for one in facts.read(page, ties) if former or one.holds]
                if len(found) >= limit:
                    break
            found += [one for one in facts.untold() if former or one.holds]
            return sorted(found, key=lambda one: one.since, reverse=True)[:limit]

    def _stated(self, scope: Scope, remembered: Remembered, filters: SearchFilters) -> dict[str, str]:
        """Return by their ids what notes tell in facts, with the ends that were before what is asked about."""
        asked, own = searching(self.engine, filters), self.engine.settings.lifecycle.attributes
        moment = asked.as_of or asked.known_at or NEVER
        known = partial(decisions.profile, self.engine.db, scope.name, known_at=asked.known_at)
        facts = Facts(None, scope.user, remembered.language, own, known, self.engine.settings.trust.facts)
        every = {
            hit.note.id: " ".join(one.told(scope.user or "", moment) for one in facts.read([hit.note], remembered.ties))
            for hit in remembered.hits
        }
        return {note: text for note, text in every.items() if text and note not in facts.partly}

    def _newest(self, scope: Scope, statuses: Sequence[Status]) -> Iterator[list[Note]]:
        """Yield the notes of one scope that are shown without being asked for, a page at a time, the last one first."""
        every, before = listing(self.engine, {}).listing(), (NEVER, "")
        while page := notes.newest(self.engine.db, scope.name, every, before, _PAGE, statuses):
            yield [one.note for one in page if one.note.apart is None]
            before = page[-1].note.created_at, page[-1].note.id

    def prompt(
        self,
        scope: Scope,
        question: str,
        session: str,
        system: str,
        window: int | None,
        top_k: int,
        include: Sequence[str],
    ) -> Prompt:
        """Return what a model is given for a question, within its window: a part's unused room goes to the next."""
        engine, settings = self.engine, self.engine.settings.prompt
        system = check_text(system, "system", engine.settings.max_text) if system else ""
        session = check_name(session, "session") if session else ""
        if window is not None and (type(window) is not int or not 1 <= window <= _MOST_BUDGET):
            raise InvalidInput(f"window must be a whole number of tokens from 1, not {window!r}.")
        check_text(question, "query", 1_000_000)
        size = window or settings.window
        given = prompting.room(question, system, size, settings)
        with engine.load.read() as busy:
            db, language = engine.db, engine.language_of(scope)
            known = decisions.profile(db, scope.name, "") if scope.user else Profile("")
            about = prompting.told_profile(known, given.profile)
            left = given.profile - prompting.part_tokens(about)
            limit = 2 * settings.interactions
            most = max(limit, _EARLIER if settings.nearest else 0)
            turns = self._recent(scope, session, most)
            asked = turns[-1:] if _asks(turns, question) else []  # it was stored before it is asked
            turns = turns[: len(turns) - len(asked)]
            cut = max(len(turns) + len(asked) - limit, 0)
            turns = [*self._nearest(scope, question, session, turns[:cut]), *turns[cut:]]
            most_long = given.long + left - prompting.HEADING

            def remembered(beside: Sequence[Source]) -> Context:
                return found.context(most_long, [*beside, *asked]) if found else Context(question, "", (), 0, 0)

            found = (
                self._remembered(
                    scope, question, top_k=top_k, answered=False, busy=busy, turns=turns[-LAST:], include=include
                )
                if most_long >= LEAST_BUDGET
                else None
            )
            context, recent, most_short = prompting.side_by_side(
                remembered, turns, given.long + left, given.short, question, language
            )
            shown = [entry.note for entry in context.entries]
            if not busy:
                self._use.shown(scope, shown)
            self._log.given(scope, "prompt", question, shown, {"session": session})
            with on_account(engine, scope) as spent:
                recent = prompting.summed_up(recent, most_short, language, engine.roles, spent)
            parts = (known, about), (context, given.long + left), (recent, most_short)
            made = prompting.assemble(question, system, size, given, *parts)
            cost, fallbacks = context.cost + spent.cost, (*context.fallbacks, *spent.fallbacks)
            return replace(made, cost=cost, fallbacks=fallbacks)

    def _nearest(self, scope: Scope, question: str, session: str, turns: Sequence[Source]) -> list[Source]:
        """Return those of the turns of a session that are nearest to a question, as many as are wanted, in order."""
        hits = self.found(scope, question, MOST, session=session) if turns else []
        ids = dict.fromkeys(one.id for hit in sorted(hits, key=lambda hit: -hit.similarity) for one in hit.sources)
        there = {turn.id for turn in turns}
        near = [id for id in ids if id in there][: self.engine.settings.prompt.nearest]
        return [turn for turn in turns if turn.id in near]

    def _with_others(self, query: Query, hits: Sequence[Hit]) -> tuple[list[Hit], list[Contrary]]:
        """Return hits with their ties, and with what took the place of one and was not found: it need share no words.

        Likewise what one puts right, without which it says little. Who asks for notes of one session, or the like, is
        told of no others.
        """
        filters, found, ties = query.filters, list(hits), self._ties(query, hits)
        narrow = replace(filters, as_of=None, trust=TRUST[-1]).any
        for _ in range(0 if narrow else _SUCCESSORS):
            known = {hit.note.id: hit for hit in found}
            told = [tie for tie in ties if filters.as_of is None or tie.newer_said <= filters.as_of]
            newer = {tie.newer: known[tie.older] for tie in told if _later(tie) and tie.older in known}
            older = {tie.older: known[tie.newer] for tie in told if tie.at_once and tie.newer in known}
            missing = [(note, other) for note, other in (newer | older).items() if note not in known]
            if not missing:
                break
            found += filter(None, (self._beside(query, note, other) for note, other in missing))
            ties = self._ties(query, found)
        return found, ties

    def _ties(self, query: Query, hits: Sequence[Hit]) -> list[Contrary]:
        """Return what contradicts hits or took their place, as it was at the time that is asked about."""
        if not hits:
            return []
        as_of, known_at = query.filters.as_of, query.filters.known_at or NEVER
        ties = decisions.contrary(self.engine.db, query.scope_names, [hit.note.id for hit in hits], known_at)
        # what changed later had not yet changed
        return [tie for tie in ties if as_of is None or tie.kind != "change" or tie.newer_said <= as_of]

    def _beside(self, query: Query, note: str, hit: Hit) -> Hit | None:
        """Return a note that is told along with a hit, as one that is as good; None if it was removed meanwhile."""
        some = (notes.find(self.engine.db, scope, note) for scope in query.scope_names)
        found = next(filter(None, some), None)
        if found is None or found.note.status not in TRUE_ONCE or below(found.note.trust, query.filters.trust):
            return None
        return replace(hit, note=found.note)

    def reflect(self, scope: Scope, question: str, shown: object, answer: object) -> Reflection:
        """Judge what an answer made of a context, of hits, of notes, or of notes by their ids; and keep it."""
        most = self.engine.settings.max_text
        check_text(question, "query", most)
        if isinstance(answer, Answer):
            if answer.text is None:
                raise InvalidInput("This answer has no text: no model made it, so there is nothing to reflect on.")
            text, cited = answer.text if answer.known else "", {entry.note.id for entry in answer.citations}
        else:
            text, cited = check_text(answer, "answer", most), set[str]()
            if isinstance(shown, Context):
                cited = {entry.note.id for entry in cited_in(text, shown.entries)}
        notes = {note.id: note for note in self._shown(scope, shown)}
        counted = isinstance(shown, Context) and not shown.degraded
        return self._judged(scope, question, list(notes.values()), text, cited, counted=counted)

    def _shown(self, scope: Scope, shown: object) -> Iterator[Note]:
        """Yield the notes of a context, of hits, or of ids."""
        if isinstance(shown, Context):
            yield from (entry.note for entry in shown.entries)
            return
        if isinstance(shown, str) or not isinstance(shown, Sequence):
            raise InvalidInput(f"shown must be a context, or a list of hits, notes or ids, not {named(shown)}.")
        for one in shown:
            if isinstance(one, Hit):
                yield one.note
            else:
                yield one if isinstance(one, Note) else find(self.engine, scope, check_name(one, "shown"))[1]

    def _judged(
        self, scope: Scope, question: str, shown: Sequence[Note], answer: str, cited: Collection[str], *, counted: bool
    ) -> Reflection:
        """Judge what an answer made of the notes shown for it, and keep it, unless use is not counted at all.

        `cited` are ids of notes. Notes whose showing was not `counted` before are counted as shown too.
        """
        engine = self.engine
        state = scopes.state(engine.db, scope.name)
        size = state.notes if state else 0
        now, changes = engine.now(), dict[str, tuple[Usage, Usage]]()
        judge = Judge(question, answer, shown, cited, self.engine.language_of(scope), size, engine.embedder, now)
        told = dict(zip((note.id for note in shown), judge.judged(), strict=True))

        def changed(note: str, before: Usage) -> Usage:
            return utility.judged(before if counted else utility.shown(before, now), told[note][0], now)

        if engine.settings.use.record != "off":
            fresh = {note.id: utility.fresh(engine.policies.known(note.policy), note) for note in shown}
            changes = usage.change(engine.db, scope.name, [one.name for one in scope.readable], fresh, changed)
        changes = {note: (utility.lapsed(before, now), after) for note, (before, after) in changes.items()}
        worth = {note: (before.utility, after.utility) for note, (before, after) in changes.items()}
        scored = {note: after for note, (before, after) in worth.items() if before != after}
        self._log.given(scope, "reflect", question, (note for note in shown if note.id in scored), {"worth": scored})
        judged = (Reflected(note, *one, *worth.get(note, (None, None))) for note, one in told.items())
        disputed = [note for note, (outcome, _) in told.items() if outcome == "contradicted"]
        made = (*follow(engine, scope, changes), *flag(engine, scope, disputed))
        return Reflection(question, tuple(judged), made)

    def _reflect(self, scope: Scope, answer: Answer) -> None:
        """Reflect on an answer that was just made, where its use is counted. If that fails, the answer is not lost."""
        if not self.engine.counts_use or answer.text is None or answer.context.degraded:
            return
        context = answer.context
        shown, cited = [entry.note for entry in context.entries], {entry.note.id for entry in answer.citations}
        try:
            self._judged(scope, context.query, shown, answer.text if answer.known else "", cited, counted=True)
        except MemgraphEngineError as error:
            self._use.failed(scope, error)

    def answer(
        self,
        scope: Scope,
        question: str,
        budget: int | None,
        top_k: int,
        history: object,
        *,
        stream: bool,
        **filters: Unpack[SearchFilters],
    ) -> Generator[str | Answer, None, None]:
        """Return the answer to a question, which comes when it is iterated; what is asked for is checked at once."""
        context = self.context(scope, question, budget, top_k, history, answered=True, **filters)
        return self._answer(scope, context, filters.get("as_of"), stream=stream)

    def _answer(
        self, scope: Scope, context: Context, moment: object, *, stream: bool
    ) -> Generator[str | Answer, None, None]:
        """Yield the answer to the question of a context: with `stream` its pieces first.

        `moment` is the present of the question, None for now.
        """
        engine = self.engine
        present = parse_instant(moment, "as_of", engine.settings.timezone) or engine.now()
        asking = bool(context.entries) and engine.roles.has("answering")
        account = Account(engine, (self._payer(scope) if asking else None) or scope)
        try:
            with closing(ask(context, present, engine.roles, Spent(account.meters), stream=stream)) as pieces:
                for piece in pieces:
                    if isinstance(piece, Answer):  # whoever has it need not come back
                        account.settle()
                        fallbacks = (*context.fallbacks, *piece.fallbacks)
                        piece = replace(piece, cost=context.cost + piece.cost, fallbacks=fallbacks)
                        self._reflect(scope, piece)
                    yield piece
        finally:  # nobody may have listened to the end
            account.settle()

    def _turns(self, scope: Scope, history: object, question: str) -> list[Source]:
        """Return the turns before a question, the oldest first: the last of a session, or of those that are given.

        What is given and no chat model may see is left out.
        """
        if isinstance(history, str):
            session = check_name(history, "history") if history else ""
            turns = self._recent(scope, session, LAST + 1)
            return (turns[:-1] if _asks(turns, question) else turns)[-LAST:]
        if not isinstance(history, Sequence):
            raise InvalidInput(f"history must be a session, or a list of messages, not {named(history)}.")
        first, now = max(len(history) - LAST, 0), self.engine.now()
        given = enumerate(history[first:], first)
        read = partial(source_of, self.engine.settings, self.engine.policies, KEEPING, scope, now=now)
        turns = [read(one, f"history[{at}]") for at, one in given]
        return [turn for turn in turns if self.engine.policies.seen_by_models(turn)]

    def _recent(self, scope: Scope, session: str, most: int) -> list[Source]:
        """Return the last turns of a session that the user or an assistant said, none of ''."""
        turns = sources.recent(self.engine.db, scope.name, session, _SAID, most) if session else []
        return [turn for turn in turns if not below(turn.trust, "assistant")]

    def _query(
        self,
        scope: Scope,
        question: str,
        top_k: int,
        given: SearchFilters,
        turns: Sequence[Source] = (),
        *,
        explain: bool = False,
    ) -> Query:
        """Return a question as the graph is asked it: with what it refers back to in the turns before."""
        check_text(question, "query", 1_000_000)
        if type(top_k) is not int or not 1 <= top_k <= MOST:
            raise InvalidInput(
                f"top_k must be a whole number from 1 to {MOST}, not {top_k!r}; get_all lists everything."
            )
        filters = searching(self.engine, given)
        least = given.get("min_similarity")
        number = isinstance(least, int | float) and not isinstance(least, bool)
        if least is not None and not (number and -1 <= least <= 1):
            raise InvalidInput(f"min_similarity must be a number from -1 to 1, not {least!r}.")
        text = standalone(question, turns, self.engine.language_of(scope)) if turns else question
        vector = self.engine.embedder.embed_query(text)
        moment = local(filters.as_of or filters.known_at or self.engine.now(), self.engine.settings.timezone)
        embedder = self.engine.embedder
        fitted = weights(embedder.name, embedder.fitted)
        if fitted is None:
            tell_unfitted(embedder.name)
        policies = self.engine.policies
        return Query(
            text,
            vector,
            scope.readable,
            filters,
            top_k,
            moment,
            least,
            explain,
            reading=read_about_user(self.engine, scope, text),
            weights=fitted,
            policies=policies,
            turns=[(turn.role, turn.text) for turn in turns],
            unheard=self.engine.settings.gate.unheard,
        )


def read_about_user(engine: Engine, scope: Scope, question: str) -> Reading | None:
    """Return what a question about the user looks for beside its words, None for any other question.

    That is what the profile tells, or would tell of, and the largest topics; or the values of the attributes that it
    asks for, which the notes that tell them answer. Whatever is found of it answers it.
    """
    if not scope.user:
        return None
    whole, names = asks_about_user(question), asked_attributes(question, engine.language_of(scope))
    known = decisions.profile(engine.db, scope.name, "").attributes if whole or names else ()
    some = [one for one in known if one.predicate in names]
    told = [one.value for one in some]
    if whole:
        told = [one.value for one in known][:_VALUES] or [f"my {one}" for one in MANY][:_VALUES]
        told += [one.label for one in topics.every(engine.db, scope.name)][:_TOPICS]
    if not (queries := tuple(dict.fromkeys(told))):
        return None
    vectors = [engine.embedder.embed_query(query) for query in queries]
    return Reading(QueryPlan(queries=queries), queries=vectors, answers=frozenset(one.note for one in some if one.note))


def _answered(reading: Reading | None, hits: Sequence[Hit], *, own: bool) -> bool:
    """Tell whether hits hold what is known to answer a question about the user, or for an attribute of his own."""
    return reading is not None and any(hit.note.id in reading.answers if own else True for hit in hits)


def _of_user(hit: Hit, user: str | None, language: str) -> bool:
    """Tell whether the user says something of himself in a hit."""
    return any(subject(one, user) == "" and of_speaker(one.text, language) for one in hit.sources)


def _first(found: Sequence[Hit], top_k: int) -> list[Hit]:
    """Return the first hits, and of what stands behind them what one of them replaced: it lost its place to that."""
    near, known = [*found[:top_k]], {hit.note.id for hit in found[:top_k]}
    for hit in found[top_k:]:
        if hit.replaced_by in known:
            near.append(hit)
            known.add(hit.note.id)
    return near


def _later(tie: Contrary) -> bool:
    """Tell whether the newer note of a tie has taken the older one's place, or may have."""
    return tie.kind in SUCCEEDS or (tie.kind == "conflict" and tie.same_speaker and tie.newer_said > tie.older_said)


def _by_blocks(by: object, filters: SearchFilters) -> bool:
    """Tell whether notes are found by blocks; raises InvalidInput for what is no way, and for filters with this one."""
    if by not in ("notes", "blocks"):
        raise InvalidInput(f"by must be notes or blocks, not {by!r}.")
    if by == "blocks":
        _without_filters("A context by blocks", filters)
    return by == "blocks"


def _without_filters(what: str, filters: SearchFilters) -> None:
    """Raise InvalidInput where filters are given with what takes none."""
    if given := sorted(name for name, value in filters.items() if value not in (None, (), False)):
        raise InvalidInput(f"{what} takes no filters, and {given[0]} was given: leave one of the two out.")


def _asks(turns: Sequence[Source], question: str) -> bool:
    """Tell whether the last turn is the question itself."""
    return bool(turns) and turns[-1].role != "assistant" and turns[-1].text.strip() == question.strip()

"""`Memory`: what a program that uses the engine talks to."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, Unpack

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.asking import forgetting, lookup
from memgraph_engine.asking.audit import Audit
from memgraph_engine.asking.reader import Reader
from memgraph_engine.blocks import reading as block_reading
from memgraph_engine.blocks.rebuild import Blocks
from memgraph_engine.claims import reading as claim_reading
from memgraph_engine.claims.consolidation import Claims
from memgraph_engine.engine import wiring
from memgraph_engine.graph import (
    blocks as block_graph,
    decisions,
    erasures,
    health,
    notes,
    scopes,
    spending,
    topics as topic_graph,
)
from memgraph_engine.ingest import readers
from memgraph_engine.ingest.messages import (
    Message,
    MessageFields,
    check_limit,
    check_name,
    check_path,
    check_switches,
    check_text,
    messages,
    parse_time,
)
from memgraph_engine.interface.defaults import BLOCKS, CLAIMS, FACTS, NEWEST, OUTLINE, TOP_K
from memgraph_engine.interface.filters import NoteFilters, SearchFilters
from memgraph_engine.model.answer import Answer, Context, Prompt
from memgraph_engine.model.block import Block, BlockRun
from memgraph_engine.model.claim import Claim, ClaimRun
from memgraph_engine.model.embedder import EmbedderChange, EmbedderStatus
from memgraph_engine.model.fact import Fact
from memgraph_engine.model.health import Health
from memgraph_engine.model.ingested import Ingested
from memgraph_engine.model.memory import NEVER, UNKNOWN_PAST, Note, Source
from memgraph_engine.model.ports import (
    ChatModel,
    Clock,
    Counted,
    Embedder,
    Judge,
    Partitioner,
    Redactor,
    Reranker,
    utc_now,
)
from memgraph_engine.model.profile import Profile
from memgraph_engine.model.result import (
    Anchor,
    Applied,
    Decision,
    Deletion,
    ErasurePlan,
    ErasureReceipt,
    Evicted,
    Evolved,
    Exported,
    Hit,
    Hits,
    Hold,
    Imported,
    Receipt,
    Reflection,
    Session,
    Spending,
    Stats,
    Story,
    Swept,
    Tenant,
    User,
    Version,
)
from memgraph_engine.model.scope import Scope, scope_of
from memgraph_engine.model.topic import Topic, TopicRun, TopicTie
from memgraph_engine.operations import OPERATIONS
from memgraph_engine.recall.ranking import rankings
from memgraph_engine.settings import Settings
from memgraph_engine.topics.rebuild import Topics
from memgraph_engine.worker import embedder as embedding
from memgraph_engine.writing import (
    adding,
    contexts,
    deletion,
    erasure,
    eviction,
    lives,
    profile as profile_changes,
)
from memgraph_engine.writing.evolution import Evolution
from memgraph_engine.writing.export import export
from memgraph_engine.writing.importing import import_
from memgraph_engine.writing.ingestion import Ingestion
from memgraph_engine.writing.rewording import update
from memgraph_engine.writing.sweep import Sweep
from memgraph_engine.writing.undo import undo, untie


class Memory:
    """The memory of a tenant's users, in one Neo4j graph. Safe to share between threads.

    >>> with Memory.connect(tenant=tenant) as memory:
    ...     _ = memory.add("I moved to Lisbon in March.", user_id="ana")
    ...     memory.search("Where does Ana live?", user_id="ana")[0].note.context
    'I moved to Lisbon in March.'
    """

    def __init__(self, engine: wiring.Engine) -> None:
        self._keep(engine)
        self.audit = Audit(lambda: self._reader, self._follow)
        """What auditors ask: `about`, `deleted`, `changed`, `retrievals` (`memgraph_engine.asking.audit.Audit`)."""

    def _keep(self, engine: wiring.Engine) -> None:
        """Let what begins from here on be of an engine; what has begun goes on with the one that it has."""
        self.engine = engine
        self._reader = Reader(engine)

    @classmethod
    def connect(
        cls,
        uri: str | None = None,
        *,
        tenant: str | None = None,
        embedder: Embedder | str | None = None,
        language: str | None = None,
        settings: Settings | None = None,
        llm: ChatModel | None = None,
        judge: Judge | None = None,
        reranker: Reranker | None = None,
        redactor: Redactor | None = None,
        clock: Clock = utc_now,
    ) -> Self:
        """Connect to `uri`, else to MEMGRAPH_ENGINE_URI, else to the managed local Neo4j, started if need be.

        `embedder` is a name as the setting takes it, or any object with `embed_documents`, `embed_query` and a `name`.
        `llm` is a ChatModel that is asked instead of those that the settings name. `judge` is a Judge that is asked
        before a note is merged or replaced. `reranker` is a Reranker that puts the best notes of a search in order.
        `redactor` is a Redactor that covers secrets where the setting `secrets` masks or refuses them.
        `language` is the language of new memories. Raises SettingsError, LocalServerError, DownloadError, MissingExtra,
        or a StoreError that says what is wrong.
        """
        name, own = (embedder, None) if isinstance(embedder, str) else (None, embedder)
        every = {"uri": uri, "tenant": tenant, "language": language, "embedder": name}
        chosen = {name: value for name, value in every.items() if value is not None}
        if settings is None:
            settings = Settings.load(**chosen)
        elif chosen:
            settings = Settings.load(**{**settings.model_dump(), **chosen})
        rankings(settings.recall.ranking)  # one that can't be used is said now, not at the first question
        build = partial(wiring.build, settings, embedder=own, llm=llm, judge=judge, reranker=reranker)
        return cls(build(redactor=redactor, clock=clock))

    def _follow(self) -> None:
        """Take the embedder that the database has by now; methods do so themselves, where it was changed meanwhile."""
        self.flush()
        self._keep(wiring.followed(self.engine))

    def flush(self) -> None:
        """Write now what reads have left to be written: use, and records of retrievals. It is written soon anyway."""
        self._reader.write()

    def close(self) -> None:
        """Close the connections. A managed server keeps running; `memgraph-engine db stop` stops it."""
        try:
            self.flush()
        finally:
            self.engine.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- writing ----------------------------------------------------------------------------

    def add(
        self,
        message: Message | Sequence[Message] | None = None,
        *,
        user_id: str | None = None,
        shared: bool = False,
        wait: bool = True,
        shown: Sequence[str] | None = None,
        **fields: Unpack[MessageFields],
    ) -> Receipt:
        """Remember a text, a message (a mapping), or a few of them as chat APIs give them.

        `fields` are the message's own (`speaker`, `session` …). Without a `message` they hold its `text` too:
        `add(text="I moved.", speaker="Ana")`. For a list they are the defaults of each message.
        With `wait=False` it returns as soon as the source and a pending note are stored: `search` finds the note by its
        words at once, and `process` constructs it later. `shown` are texts that the model was shown, such as a
        context's: an assistant's message that mostly repeats them is kept as a source without a note. Raises
        InvalidInput; then nothing is written.
        """
        some = messages(message, fields)
        return adding.add(self.engine, self._scope(user_id, shared), some, wait=wait, shown=shown)

    def add_many(
        self,
        messages: Iterable[Message],
        *,
        user_id: str | None = None,
        shared: bool = False,
        wait: bool = True,
        shown: Sequence[str] | None = None,
    ) -> Receipt:
        """Remember messages in order; one that is known already is recognised, so adding it again changes nothing.

        A message is known by its id, else by its words, session, time (without it that of the call) and class of trust.
        It is a text, or a mapping with `text` (or `content`) and, as far as known, `id`, `speaker`, `role`, `agent`,
        `session`, `time` (ISO 8601), `tags`, `metadata`, `caption` of an image, `kind`, `policy` (its class),
        `expires` (a day or a moment, after which it can't be read; docs/lifecycle.md) and `trust`, which lowers how far
        it is trusted (docs/trust.md). Messages of chat APIs (`name`,
        `tool_calls`, lists of content parts, their roles) are understood. Without a speaker, a message of the role
        `user` is `user_id`'s, and one of the role `assistant` its agent's. System and tool messages make no notes,
        unless the setting `gate.noted_roles` says so. A message that is longer than the setting `passage` has several
        notes, one for each passage.
        A list is checked as a whole before anything is written; an iterator is checked batch by batch. Each batch
        (`ingest_batch` messages) is one transaction, so a call that was cut off can be made again. For `wait` and
        `shown` see `add`.
        """
        return adding.add(self.engine, self._scope(user_id, shared), messages, wait=wait, shown=shown)

    def ingest(
        self,
        path: str | Path | Sequence[str | Path],
        *,
        user_id: str | None = None,
        shared: bool = False,
        update: bool = False,
        repository: bool = False,
        format: readers.Format | None = None,  # as the command line calls it
        id: str | None = None,
        sample_id: str | None = None,
        encoding: str = "",
        wait: bool = True,
        progress: Callable[[Ingested], None] | None = None,
    ) -> Ingested:
        """Remember files: messages (JSON lines, a JSON array, LoCoMo) or documents (Markdown, text, HTML, PDF).

        A folder is read with all that is below it, in the order of names; hidden files, links and files of other kinds
        are `skipped`. A document is cut into passages. Its id is the file's name; the id of a document in a folder is
        its path, beginning with the folder's name (`folder/path/name`). `id` replaces the name of the file or folder
        that is given. A part of a folder that was ingested keeps its path there, and what is below another given path
        comes with that. A passage's id is the document's id, `#` and a number.

        What is stored already is recognised, so a call that was cut off can be made again. With `update` the memory
        follows the files: changed passages are updated; passages that are gone from their file are deleted, and so are
        all passages of a file that is gone from a given folder; `undo` brings them back. Nothing else is touched.
        Messages are added and updated only. Without `update`, a document that has changed is a fault.

        With `repository` a folder is read as code: the files that git knows or would take, cut at their definitions by
        their syntax (the extra `code`), Markdown as documents. The id of a piece is `folder/path/name::Class.method`.
        The memory always follows a repository, as with `update`. `format="code"` reads one file so (docs/code.md).

        What can't be read or stored is among the result's `faults`, with its line; the rest is stored. `remarks` tell
        what was read otherwise than it might be, such as code in a language without a grammar. `encoding` is
        that of texts without a byte order mark that are not UTF-8; `sample_id` names a conversation of a LoCoMo file;
        for `wait` see `add`. `progress` is called after each batch, with the sums so far. Raises InvalidInput for a
        path that does not exist, MissingExtra where what reads it is not installed.
        """
        check_switches(repository=repository)
        read = partial(readers.Reader.of, self.engine.settings, redaction=self.engine.redaction)
        scope = self._scope(user_id, shared)
        reader = read(format=format, sample_id=sample_id, encoding=encoding, repository=repository)
        return Ingestion(self.engine, scope, reader, update or repository, wait, progress).run(path, id)

    def process(self, *, user_id: str | None = None, shared: bool = False, limit: int | None = None) -> Receipt:
        """Construct the notes that `add(..., wait=False)` left pending, oldest first, each exactly once.

        It constructs all of them, or at most `limit`. Several processes may do so at once: they take turns. A note
        that can't be constructed (the embedder fails on it, say) is passed over. Raises ConstructionFailed when only
        such notes are left.
        """
        return adding.process(self.engine, self._scope(user_id, shared), limit)

    def update(self, id: str, text: str, *, user_id: str | None = None, shared: bool = False) -> Decision:
        """Give a note, named by its own id or its source's, a new text; `history` keeps the old one.

        A source that shares its note with others leaves it, and is told by a note of its own. The id of a long message
        names all of it: passages that it still says keep their notes. The text of a note that tells one passage, or
        comes from several sources, becomes the user's own; the sources stay as they came.
        Raises NotFound.
        """
        text = check_text(text, "text", self.engine.settings.max_text)
        return update(self.engine, self._scope(user_id, shared), check_name(id, "id"), text)

    def delete(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Decision:
        """Delete a note, named by its own id or its source's: no search finds it, and `undo` brings it back.

        The id of a long message names all of its notes. A note that other sources tell too loses only the source that
        is named. Raises NotFound.
        """
        return deletion.delete(self.engine, self._scope(user_id, shared), check_name(id, "id"))

    def delete_all(
        self, *, user_id: str | None = None, shared: bool = False, **filters: Unpack[NoteFilters]
    ) -> Deletion:
        """Take back all that a user said (or what is shared), or what matches the filters of `get_all`.

        A note is deleted with the last source that tells it, and else loses those that match, as by `delete`. It
        returns how many were deleted, and the decisions. Many notes take several decisions; `undo` brings back what one
        of them took. A call that was cut off can be made again. Raises InvalidInput for an empty filter
        (`session=None`), which every note would match.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("The heron eats fish.", user_id="flo", session="lake")
        ...     _ = memory.add("The tide turns at noon.", user_id="flo", session="sea")
        ...     memory.delete_all(user_id="flo", session="lake").notes
        1
        """
        return deletion.delete_all(self.engine, self._scope(user_id, shared), lookup.narrowing(self.engine, filters))

    def undo(
        self, decision: str, *, cascade: bool = False, user_id: str | None = None, shared: bool = False
    ) -> Decision:
        """Take a decision back: notes that it created go, notes that it changed are as before. Return the new decision.

        Raises NotFound, or UndoRefused if the decision is undone already, or if later decisions changed what it made:
        `cascade=True` undoes those first. Former versions and the decisions themselves stay on record.
        """
        return undo(self.engine, self._scope(user_id, shared), check_name(decision, "decision"), cascade=cascade)

    def set_profile(
        self, name: str, value: str | None, *, user_id: str | None = None, shared: bool = False, subject: str = ""
    ) -> Decision:
        """Give the profile of a user, or of a speaker (`subject`), a value; None ends what it has by this name.

        The value is one line of at most 200 characters. It is kept as a source without a note, so that it ends, is held
        and is erased as any other, and it closes the value before. `undo` takes it back. Raises InvalidInput.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.set_profile("residence", "Lisbon", user_id="uma")
        ...     memory.profile(user_id="uma").text
        'residence: Lisbon'
        """
        return profile_changes.set_profile(self.engine, self._scope(user_id, shared), name, value, subject)

    def untie(self, id: str, other: str, *, user_id: str | None = None, shared: bool = False) -> Decision:
        """Take back the tie between two notes, in either order, and leave the notes; return the new decision.

        Each is named by its own id or its source's, of a long message the first passage's. The gate will not tie them
        again. If the newer note had replaced the older one, this is active again. `undo` brings the tie back.
        Raises NotFound for what is deleted or not tied, InvalidInput for one note twice, and UndoRefused if the tie is
        taken back already.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     old = memory.add("I live in Lisbon.", user_id="ida").entries[0].note
        ...     new = memory.add("I no longer live in Lisbon, I moved to Faro.", user_id="ida").entries[0].note
        ...     decision = memory.untie(new, old, user_id="ida")
        ...     memory.get(old, user_id="ida").status
        'active'
        """
        ids = check_name(id, "id"), check_name(other, "other")
        return untie(self.engine, self._scope(user_id, shared), *ids)

    # ---- how long it lives ------------------------------------------------------------------

    def sweep(self, *, user_id: str | None = None, shared: bool = False) -> Swept:
        """Archive what has expired, and erase what its policy erases by now; `Swept` has a receipt of each erasure.

        What is archived leaves sums, keywords and vectors; `undo` brings it back, so does `restore`. What is held is
        not erased, and stays hidden. What has expired can't be read, whether it was swept or not; a worker does this by
        itself. A sweep that was cut off goes on by the next. What an import left that was cut off is removed. Raises
        ClockSkew if this machine's clock and the server's differ by more than five minutes; then nothing is swept.

        >>> from datetime import UTC, datetime
        >>> days = iter(datetime(2024, 1, day, tzinfo=UTC) for day in (1, *[3] * 50))
        >>> with Memory.connect(tenant=tenant, clock=lambda: next(days)) as memory:
        ...     _ = memory.add("My train leaves at nine.", user_id="jo", policy="ephemeral")
        ...     memory.search("When does the train leave?", user_id="jo"), memory.sweep(user_id="jo").notes
        ([], 1)
        """
        return Sweep(self.engine, self._scope(user_id, shared)).run()

    def end_session(self, session: str, *, user_id: str | None = None, shared: bool = False) -> Decision:
        """End a session, and with it the notes that live only as long (`ttl: session` of their policy).

        Without it they end 30 minutes after the session's last turn. What another session tells too lives on. `undo`
        brings them back for a time anew. Raises NotFound where the session has no such note.
        """
        return lives.end_session(self.engine, self._scope(user_id, shared), check_name(session, "session"))

    def limit(self, cap: int | None, *, user_id: str | None = None, shared: bool = False) -> None:
        """Give a memory a cap of its own: the most notes that can be read of it; 0 is any number, None the setting's.

        Nothing is evicted yet: a worker does so, or `evict`. Raises NotFound for a memory that was never written to.
        """
        eviction.limit(self.engine, self._scope(user_id, shared), cap)

    def evict(self, *, user_id: str | None = None, shared: bool = False, dry_run: bool = False) -> Evicted:
        """Bring a memory that is above its cap, in notes or megabytes, down to its target (`lifecycle.target`).

        The coldest notes are archived: those that were shown least and are oldest, or those of the least utility
        (`lifecycle.order`). Up to ten that tell of one matter are summed up by one note, with their sources; so are, by
        a model alone, the earliest notes of long sessions (`lifecycle.session_cap`). Left alone are notes that are
        pinned, held, pending, superseded, written within a day, or of a class that is not evicted. Each
        summary is a decision, whose `undo` brings back what it sums; `restore` brings back a single note; a search with
        `archived` finds them by their words. With `dry_run` nothing is written, and sessions are left out.

        >>> from datetime import UTC, datetime
        >>> day = datetime(2024, 1, 1, tzinfo=UTC)
        >>> with Memory.connect(tenant=tenant, clock=lambda: day) as memory:
        ...     for text in ("I sold the boat.", "The boat was red.", "The boat had two sails."):
        ...         _ = memory.add(text, user_id="mia")
        ...     memory.limit(2, user_id="mia")
        ...     day = datetime(2024, 3, 1, tzinfo=UTC)
        ...     memory.evict(user_id="mia").notes, len(list(memory.get_all(user_id="mia")))
        (3, 1)
        """
        return eviction.Eviction(self.engine, self._scope(user_id, shared), dry_run=dry_run).run()

    def evolve(self, *, user_id: str | None = None, shared: bool = False) -> Evolved:
        """Hold the notes that came since the last evolution against those near them (MLA-ARC, section 3.6).

        Without a model a note is tied to others of the same topic with which it shares rare keywords, and gets tags
        from its topics' labels. With one (the role `evolving`) ties are strengthened or added, notes get tags, and the
        contexts of the notes near it are written anew, where they keep every name, number, date and denial. Nobody's
        words are changed. With `lifecycle.join` the model also joins notes that tell aspects of one thing: a new note
        stands for them. Each change is a decision that `undo` takes back. At most the newest 100 notes are looked at,
        none that is kept apart. A worker does this after so many interactions (`lifecycle.evolve`).

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("I sold the boat.", user_id="bea")
        ...     memory.evolve(user_id="bea").notes, memory.evolve(user_id="bea").notes
        (1, 0)
        """
        return Evolution(self.engine, self._scope(user_id, shared)).run()

    def restore(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Decision:
        """Bring back a note that expired, swept or not: the time of its policy begins anew. Or one that was evicted.

        An evicted note leaves its summary, which is made anew of the rest, and lives on as it did. The id of a long
        message names all of its notes. Raises NotFound, or InvalidInput for what is not expired or archived.
        """
        return lives.restore(self.engine, self._scope(user_id, shared), check_name(id, "id"))

    def pin(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Decision:
        """Keep a note for ever, whatever its policy. Raises NotFound, or InvalidInput for what is pinned already.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     note = memory.add("Ana is allergic to nuts.", user_id="kim", policy="ephemeral").entries[0].note
        ...     _ = memory.pin(note, user_id="kim")
        ...     memory.get(note, user_id="kim").expires_at.year
        9999
        """
        return lives.pin(self.engine, self._scope(user_id, shared), check_name(id, "id"), pinned=True)

    def unpin(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Decision:
        """Let a pinned note end as its policy says, counted from when it was stored: that may be past already.

        Raises NotFound, or InvalidInput for what is not pinned.
        """
        return lives.pin(self.engine, self._scope(user_id, shared), check_name(id, "id"), pinned=False)

    def set_policy(self, id: str, policy: str, *, user_id: str | None = None, shared: bool = False) -> Decision:
        """Give a note, named by its own id or its source's, another policy, which `apply_policies` leaves it.

        Its time counts from when it was stored, so it may be past already. The id of a long message names all of its
        notes; a pinned one has no end until it is unpinned. `undo` gives it back the policy that it had. Raises
        NotFound, or InvalidInput for a policy that there is not, or that would erase the note at once.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     note = memory.add("My train leaves at nine.", user_id="liv").entries[0].note
        ...     _ = memory.set_policy(note, "ephemeral", user_id="liv")
        ...     memory.get(note, user_id="liv").policy
        'ephemeral'
        """
        ids = check_name(id, "id"), check_name(policy, "policy")
        return lives.assign(self.engine, self._scope(user_id, shared), *ids)

    def apply_policies(self, *, user_id: str | None = None, shared: bool = False, dry_run: bool = False) -> Applied:
        """Give all notes that can be read the policies and the ends that the policy file of now gives them.

        With `dry_run` nothing is written. What came with a policy or an end of its own keeps it, and so does what was
        given one by `set_policy`; what is pinned has no end. Each decision can be undone.
        """
        return lives.apply(self.engine, self._scope(user_id, shared), dry_run=dry_run)

    def hold(
        self,
        reason: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        session: str | None = None,
        source: str | None = None,
    ) -> Hold:
        """Keep a memory, or a session or a source of it, from being erased, until the hold is released.

        What is held expires as it would otherwise, and can't be read then. Raises NotFound for an empty memory.
        """
        return erasure.hold(self.engine, self._scope(user_id, shared), reason, session=session, source=source)

    def release(self, id: str, *, user_id: str | None = None, shared: bool = False) -> None:
        """End a hold; raises NotFound."""
        erasure.release(self.engine, self._scope(user_id, shared), id)

    def holds(self, *, user_id: str | None = None, shared: bool = False) -> list[Hold]:
        """Return what is held of a memory, the oldest first."""
        return erasures.held(self.engine.db, self._scope(user_id, shared).name)

    # ---- erasing ----------------------------------------------------------------------------

    def forget(
        self,
        *,
        user_id: str | None = None,
        shared: bool = False,
        session: str | None = None,
        source: str | Sequence[str] | None = None,
        before: datetime | str | None = None,
        query: str | None = None,
        policy: str | None = None,
        near: bool = False,
        keep: str | Sequence[str] = (),
        everything: bool = False,
    ) -> ErasurePlan:
        """Plan to erase what is meant, so that nothing of it is left in the graph; `erase` carries the plan out.

        It is all of a `session` (a document is one), sources by their ids, or a note's sources by its id, what was said
        `before` a time, what holds all content words of a `query`, what has a `policy`, or `everything` of the memory.
        Of several it is what all of them mean, without what `keep` names as `source` does; what `keep` names and
        nothing means stays anyway. Nothing is written.

        A query means words by their stems, in one passage with its tags and metadata, also of what was deleted,
        replaced, archived or kept without a note. `plan.chosen` has the words of each and why it was chosen.
        `plan.near` is what was left out: it holds half of the words, or others that begin as they do, a search finds it
        relevant (`answer.relevance`), or it belongs to what goes. `near=True` takes that too. Where nothing holds all
        words, the plan has no sources, and tells in `near` also what a search finds first though it is hardly relevant,
        which `near=True` leaves; `erase` refuses it. Raises InvalidInput without any of these, and NotFound where
        nothing is meant or near, or for ids in `source` or `keep` that the memory does not have: a mistyped id would
        erase what was to be kept.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("My code is 4711.", user_id="lea", session="bank")
        ...     plan = memory.forget(user_id="lea", query="code")
        ...     receipt = memory.erase(plan)
        ...     plan.chosen[0].why, receipt.residue, list(memory.get_all(user_id="lea"))
        ('It holds "code".', 0, [])
        """
        scope, what = self._scope(user_id, shared), (session, source, before, query, policy)
        return forgetting.forget(self._reader, scope, *what, near=near, keep=keep, everything=everything)

    def erase(self, plan: ErasurePlan) -> ErasureReceipt:
        """Carry out a plan of `forget`: what it means is gone for every read at once, then removed, then looked for.

        The receipt holds no content. A call that was cut off is made again, or finished by a worker. Raises Held where
        something is held, ErasureRefused if the memory was written to since the plan was made, and NotFound for a plan
        that means nothing; then nothing is erased. A plan of another tenant's memory raises InvalidInput.
        """
        self.flush()
        return erasure.erase(self.engine, plan)

    def receipts(self) -> list[ErasureReceipt]:
        """Return the receipts of all erasures of the tenant, the first before others."""
        return list(erasures.receipts(self.engine.db, self.engine.settings.tenant))

    def verify_erasure(
        self, probe: str | None = None, *, user_id: str | None = None, shared: bool = False, files: bool = False
    ) -> list[str]:
        """Check the chain of the tenant's receipts; return a sentence for each fault.

        With a `probe`, look for its words in a memory too: each five that stand together in it, or all
        of a shorter line. With `files`, look for them, as they are written, in the managed server's files as well:
        these keep bytes of what is gone from all memories until `memgraph-engine db compact`.
        """
        scope = None if probe is None else self._scope(user_id, shared)
        return erasure.verify(self.engine, scope, probe, files=files)

    # ---- carrying it elsewhere --------------------------------------------------------------

    def export(
        self,
        path: str | Path,
        *,
        user_id: str | None = None,
        shared: bool = False,
        progress: Counted = lambda *_: None,
    ) -> Exported:
        """Write all of a memory into a file of JSON lines, from which `import_` makes it again, exactly.

        The same memory makes the same file, which its owner alone can read. It has notes in all states with their
        vectors and former versions, sources, keywords, topics, decisions, use, holds and costs. What is to be erased by
        now is erased first; receipts are the tenant's, and stay. `progress` is told how many lines of how many are
        written. A file that is there is replaced when the new one is whole. Raises NotFound for an empty memory, Held
        where a hold keeps what is past its end, WriteConflict where others wrote all the while, and InvalidInput for a
        path that can't be written.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("The heron eats fish.", user_id="pia")
        ...     _ = memory.export(folder / "pia.jsonl", user_id="pia")
        ...     _ = memory.import_(folder / "pia.jsonl", user_id="pam")
        ...     memory.search("What does the heron eat?", user_id="pam")[0].note.text
        'The heron eats fish.'
        """
        self.flush()
        return export(self.engine, self._scope(user_id, shared), check_path(path), progress)

    def import_(
        self,
        path: str | Path,
        *,
        user_id: str | None = None,
        shared: bool = False,
        re_embed: bool = False,
        progress: Counted = lambda *_: None,
    ) -> Imported:
        """Read a memory from a file that `export` wrote, under its own or another name, into one that is empty.

        All of it can be read at once, when it is whole, and nothing before. What an import wrote that was killed is
        removed by the next one into that memory. Under another name the ids of notes are others. With `re_embed` the
        texts of a file of another embedder get vectors of this database's. Raises InvalidInput for a file that is no
        export or is damaged, which names the line, and for a memory that holds something; StoreMismatch for another
        schema, or, without `re_embed`, another embedder. Then nothing was imported.
        """
        return import_(self.engine, self._scope(user_id, shared), check_path(path), progress, re_embed=re_embed)

    def render(self, *, user_id: str | None = None, shared: bool = False) -> int:
        """Render the contexts of a memory's notes as this version renders them; return how many changed.

        Use it after an upgrade, so that a memory that an older version wrote is searched like a new one. Contexts that
        a chat model or a user wrote stay as they are. A call that was cut off can be made again.
        """
        return contexts.render_anew(self.engine, self._scope(user_id, shared))

    def rebuild_topics(
        self,
        *,
        user_id: str | None = None,
        shared: bool = False,
        engine: str | Partitioner | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> TopicRun:
        """Group the keywords of a memory into topics anew; a topic that is still the same keeps its id.

        `engine` is a name (graspologic-native, igraph, leidenalg) or any Partitioner, else the setting's. `progress` is
        called with each phase, and with "wait" while another run works. Readers see the former topics until the new
        ones are complete. Raises MissingExtra for an engine that is not installed, NotFound for an empty memory.
        """
        return Topics(self.engine, self._scope(user_id, shared), progress, engine).run()

    def rebuild_all_topics(
        self, *, engine: str | Partitioner | None = None, progress: Callable[[str], None] | None = None
    ) -> list[TopicRun]:
        """Call `rebuild_topics` for every memory of the tenant that was written to since its topics were found."""
        changed = topic_graph.changed(self.engine.db, self.engine.settings.tenant)
        return [Topics(self.engine, scope, progress, engine).run() for scope in changed]

    def rebuild_blocks(
        self, *, user_id: str | None = None, shared: bool = False, progress: Callable[[str], None] = lambda _phase: None
    ) -> BlockRun:
        """Build the tree of a memory's blocks anew; a block of the same notes keeps its id.

        Nothing is built unless it is asked for, here or by the setting `worker.blocks_after`. A chat model of the role
        `describing` writes what new blocks tell, each once; the run tells how many, and what that cost. `progress` is
        called with each phase, and with "wait" while another run works. Readers see the former tree until the new one
        is complete. Raises NotFound for an empty memory, and SettingsError where one is too large for the paper's
        linkage (`blocks.paper_leaves`).
        """
        return Blocks(self.engine, self._scope(user_id, shared), progress).run()

    def consolidate(
        self, *, user_id: str | None = None, shared: bool = False, progress: Callable[[str], None] = lambda _phase: None
    ) -> ClaimRun:
        """Look for claims in the notes of a memory that are new or have changed: each is read once.

        Nothing is looked for unless it is asked for, here or by the setting `worker.claims_after`. Each call that finds
        new notes makes claims of fewer than three notes less certain that it found no new evidence for, and removes
        those that nothing supports any more. A chat model of the role `abstracting` reads the notes too, and adds what
        no pattern finds; the run tells how many it read, and what that cost. Where it doesn't answer, or a budget is
        spent, patterns alone read the rest, and the next run asks about them. `progress` is called with `read` before
        each page of notes and each round of requests, with `tidy` at the end, and with `wait` while another run works.
        Raises NotFound for an empty memory.
        """
        return Claims(self.engine, self._scope(user_id, shared), progress).run()

    def share_claims(self, *, on: bool, user_id: str | None = None, shared: bool = False) -> None:
        """Let the tenant's users share claims, or no more (`shared=True`); or let one user take part, or no more.

        By default a tenant shares none, and where it does every user takes part. A claim is told to all users while at
        least `claims.users` of them make it, in notes of their own that can be read; of who they are only their number
        is told. Claims that may name somebody, or tell others what to do, are told to nobody. It holds at once, for all
        processes.
        """
        check_switches(on=on)
        claim_reading.share(self.engine, self._scope(user_id, shared), on=on)

    # ---- asking -----------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        top_k: int = TOP_K,
        rounds: int | None = None,
        explain: bool = False,
        history: str | Sequence[Message] = (),
        **filters: Unpack[SearchFilters],
    ) -> Hits:
        """Return the notes that answer a question best, best first, from the user's own memory and the shared one.

        A user who was never written to has an empty memory, and no error is raised: `users` lists those who have one.
        With `shared=True` only the shared memory is read. These filters narrow the notes down:

        - `session`, `speaker`, `role`, `agent`: those of the note.
        - `kind`: what it came as, `message`, `document`, `code`, `api_result`, or `item` for what a store put.
        - `since`, `until`: when it was said, both included; a day means the whole of it.
        - `tags`, `metadata`: the note has all that are given; `any_tags`: it has any of these.
        - `policy`: it has any of these classes, also one shown only if asked for; `not_policy`: it has none of these.
        - `trust`: it is trusted at least as far (docs/trust.md); else the setting `trust.least` holds.
        - `min_similarity` (-1 to 1): the least `Hit.similarity`.
        - `archived`: what a summary stands for is found as well, by its words.
        - `as_of`: what was true in the world at that moment, as far as the memory knows now; a day means its end.
        - `known_at`: what the memory held at that moment, in the words of then, whatever became of it since. Notes
          deleted by then are left out; superseded and archived ones say so by their status. Together with `as_of`: what
          the memory then held to be true at `as_of`.
        - `include`: besides all others also the notes of these policies, which are shown only if asked for
          (`shown: asked` in the policy file).

        With more `rounds` than one (at most 3; else the setting `recall.rounds`) the memory is asked again if the best
        notes do not cover the question. With a model, the role `planning` reads the question first, and the role
        `sufficiency` says what is missing; without one, the next round uses the best note's own words and vector. One
        round asks no model. `explain=True` tells each round.

        A time in the question ("in May 2023", "last week") moves notes of that time up; the others stay in the list.
        Notes that a later statement replaced may be found too: `Hit.until` and `Hit.replaced_by` tell it.

        With the setting `recall.reranker`, or a `reranker` given to `connect`, there is a second stage: twice as many
        notes as are asked for are read by that, and the best of them are left (docs/architecture.md, "A question").
        `explain=True` tells each hit's place before, and `Hits.dropped` why other notes are not among the hits. If it
        fails, the notes stay as they are, and `Hits.fallbacks` says so.

        With the setting `claims.share`, `Hits.claims` are what holds in general of what the question names (`claims`),
        in the place of as many notes; not where filters are given. So it is in contexts, prompts and answers.

        A question that refers back ("What did she buy?", "And on Sunday?") is asked with what it refers to, as the
        `history` names it: the last turns before it, or the session of the user's memory that they are stored in.

        Where more reads run at once than the setting `recall.busy` names, `Hits.degraded` tells what was left out;
        above twice as many this one raises Overloaded, as the other reads do.
        """
        scope = self._scope(user_id, shared)
        return self._reader.search(scope, query, top_k, rounds, history, explain=explain, **filters)

    def anchors(self, query: str, *, user_id: str | None = None, shared: bool = False) -> list[Anchor]:
        """Return the keywords through which a question finds notes: near it, named by it, or of the topics near it.

        Each anchor has its score and the notes that it leads to; the best of each channel comes first. A note's raw
        score in a channel (`search(..., explain=True)`) is the sum of `score` · `rarity` over its anchors.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("The ferry leaves from the old harbour.", user_id="bo")
        ...     [a.keyword for a in memory.anchors("Where is the harbour?", user_id="bo") if a.score == 1]
        ['harbour']
        """
        return self._reader.anchors(self._scope(user_id, shared), query)

    def context(
        self,
        query: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        budget: int | None = None,
        top_k: int = TOP_K,
        by: Literal["notes", "blocks"] = "notes",
        claims: bool | None = None,
        facts: bool = False,
        history: str | Sequence[Message] = (),
        **filters: Unpack[SearchFilters],
    ) -> Context:
        """Return what the memory holds on a question, numbered and dated, for the prompt of a model of your own.

        It has at most `budget` tokens (200 or more; else the setting `answer.budget`), estimated rather too high. It
        considers `top_k` notes, with the filters of `search`, and as many again where these most likely do not answer
        it. The best come first, whatever their relevance, up to the settings `answer.lines` and `answer.enough`; long
        ones are shortened, repeats left out, and what has changed stands behind what is true now. `Context.sure` tells
        whether it most likely holds the answer. It is empty where the memory is, and for small talk. Notes that no chat
        model may see (`models: false` of their policy) are in it only if `include` names their policy.

        With `by="blocks"` its notes are those of the blocks nearest to the question (`rebuild_blocks`): as many as the
        budget has room for, whatever `top_k` says, and without filters. It is empty where none were built. What a model
        wrote of these blocks stands above, in half of the budget (`Context.blocks`); by the setting `blocks.context`
        one of the two is left out.

        `history` tells what the question refers back to, as in `search`; `Context.asked` is what the memory was asked.
        What these turns say is left out: whoever gives them has it.

        With `claims` up to five claims come behind the notes (`consolidate`), marked as general, with the numbers of
        their notes: those of which the question names an end. They take no filters, and no more than a quarter of the
        budget. `claims=False` leaves out those that the setting `claims.share` brings.

        With `facts` notes that tell some (`facts`) are told by them alone, first and with their ends, and other lines
        behind these, in half of `answer.enough`. A note that says more than its facts keeps its line.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("I moved to Lisbon.", user_id="eva", speaker="Eva", time="2023-05-08")
        ...     print(memory.context("Where does Eva live?", user_id="eva").text)
        <recalled-memory>
        [1] 2023-05-08 (Mon): Eva: I moved to Lisbon.
        </recalled-memory>
        """
        scope = self._scope(user_id, shared)
        return self._reader.context(scope, query, budget, top_k, history, by=by, claims=claims, facts=facts, **filters)

    def blocks(
        self, query: str, *, user_id: str | None = None, shared: bool = False, top_k: int = BLOCKS
    ) -> list[Block]:
        """Return the blocks nearest to a question, the nearest first, of which none holds another, with their fields.

        They are of the user's own memory and of the shared one, where their blocks were built (`rebuild_blocks`). A
        block whose notes changed since is not found.
        """
        return self._reader.blocks(self._scope(user_id, shared), query, top_k)

    def claims(
        self, query: str | None = None, *, user_id: str | None = None, shared: bool = False, top_k: int = CLAIMS
    ) -> list[Claim]:
        """Return claims of the user's own memory and of the shared one, each with the notes that support it.

        Where the tenant's users share claims (`share_claims`), those that enough of them make are told as well, with
        their number in place of notes.

        Those on what a `query` names, then the nearest to it.
        Otherwise those that are to be trusted most. They are of the last `consolidate`; what no note supports that can
        be read now, as it was read then, is not among them.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("Whales are mammals.", user_id="ana")
        ...     _ = memory.consolidate(user_id="ana")
        ...     [(claim.text, round(claim.confidence, 2)) for claim in memory.claims("whale", user_id="ana")]
        [('Whales are mammals', 0.3)]
        """
        return self._reader.claims(self._scope(user_id, shared), query, top_k)

    def prompt(
        self,
        query: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        session: str = "",
        system: str = "",
        window: int | None = None,
        top_k: int = TOP_K,
        include: Sequence[str] = (),
    ) -> Prompt:
        """Return the messages to give a model of your own for a question: what is known, remembered and was just said.

        In this order: your `system` text and the user's profile; a `context` of the question, without what the last
        turns say; a summary, which is stored nowhere, of those last turns of the `session` that have no room; the
        others of them (`prompt.interactions`); the question. What the question refers back to is looked up in the last
        turns too, as in `search`. All of it and the answer have room in `window` tokens
        (else the setting `prompt.window`), and the settings of that table bound each part. `include` is that of
        `context`. Raises InvalidInput where the question and the system's text have no room.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("The heron eats fish.", user_id="ned", session="s1", role="user")
        ...     _ = memory.add("It does!", user_id="ned", session="s1", role="assistant")
        ...     made = memory.prompt("What does it eat?", user_id="ned", session="s1", system="Be brief.")
        ...     [message["role"] for message in made.messages]
        ['system', 'user', 'assistant', 'user']
        """
        scope = self._scope(user_id, shared)
        return self._reader.prompt(scope, query, session, system, window, top_k, include)

    def answer(
        self,
        query: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        budget: int | None = None,
        top_k: int = TOP_K,
        history: str | Sequence[Message] = (),
        **filters: Unpack[SearchFilters],
    ) -> Answer:
        """Let the role `answering` answer a question from its `context`, with citations [1] that are checked.

        Without a model, or if the model fails, the answer's `text` is None and `fallbacks` says why; a model's errors
        are not raised. `known` is False if the memory holds no answer. What no chat model may see is left out, also
        where `include` names its policy. `history` tells what the question refers back to, as in `search`.
        """
        scope = self._scope(user_id, shared)
        (made,) = self._reader.answer(scope, query, budget, top_k, history, stream=False, **filters)
        assert isinstance(made, Answer)
        return made

    def answer_stream(
        self,
        query: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        budget: int | None = None,
        top_k: int = TOP_K,
        history: str | Sequence[Message] = (),
        **filters: Unpack[SearchFilters],
    ) -> Generator[str | Answer, None, None]:
        """Yield the answer in pieces of text while it comes, then the whole Answer, as `answer` returns it.

        The pieces make up its text. If its `text` is None, the answer broke off after the pieces. To stop early, close
        the generator (`contextlib.closing`): that ends the request.
        """
        scope = self._scope(user_id, shared)
        return self._reader.answer(scope, query, budget, top_k, history, stream=True, **filters)

    def reflect(
        self,
        query: str,
        shown: Context | Sequence[Hit | Note | str],
        answer: str | Answer,
        *,
        user_id: str | None = None,
        shared: bool = False,
    ) -> Reflection:
        """Say what an answer made of the notes that were shown for it, and keep how useful each has proved.

        `answer` is the text of a model of your own; one that `Memory.answer` made was reflected on by itself, where use
        is counted. `shown` is the context that it was made from, whose numbers [1] it may cite, or notes as a search
        gave them, or their ids, the best first; these count as shown. A note is used if it is cited, or has a rare
        word, a number or a name of the answer that none of the others has; where no note is, those that are related to
        the answer are (docs/lifecycle.md). Nothing is kept with the setting `use.record = "off"`. Raises NotFound, or
        InvalidInput.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("The heron eats fish.", user_id="max")
        ...     hits = memory.search("What does the heron eat?", user_id="max")
        ...     told = memory.reflect("What does the heron eat?", hits, "It eats fish.", user_id="max")
        ...     [(note.outcome, note.before, note.utility) for note in told.notes]
        [('used', 30, 40)]
        """
        return self._reader.reflect(self._scope(user_id, shared), query, shown, answer)

    # ---- looking up -------------------------------------------------------------------------

    def get(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Note:
        """Return a note by its own id or that of a source, of a long message the first passage's; raises NotFound."""
        return lookup.get(self.engine, self._scope(user_id, shared), id)

    def source(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Source:
        """Return a message, or a document's passage, as it came: whole, however many notes tell it; raises NotFound.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("The heron eats fish.", user_id="hal", id="m1")
        ...     memory.source("m1", user_id="hal").text
        'The heron eats fish.'
        """
        return lookup.source(self.engine, self._scope(user_id, shared), id)

    def profile(
        self,
        *,
        user_id: str | None = None,
        shared: bool = False,
        subject: str = "",
        known_at: datetime | str | None = None,
    ) -> Profile:
        """Return what is known about a user, or about a speaker (`subject`): name, residence, job and the like.

        It is what messages told in the first person, unless the setting `lifecycle.profile` is off, and what
        `set_profile` gave; of the user's own memory, never the shared one's. What a note tells goes with the note: when
        it is deleted, replaced, expired or erased. `known_at` asks what the memory knew at a time.
        """
        return lookup.profile(self.engine, self._scope(user_id, shared), subject, known_at)

    def facts(
        self,
        about: str = "",
        *,
        user_id: str | None = None,
        shared: bool = False,
        former: bool = False,
        limit: int = FACTS,
    ) -> list[Fact]:
        """Return what was stated, clause by clause, that is true as far as is known; what was said last comes first.

        With a name (`about`), it is what was stated of that person or thing, by anybody who is trusted as far as the
        setting `trust.facts` asks, in the user's own memory and the shared one; else what the user stated, in his own
        memory. What is asked, supposed, hoped or quoted is no fact. With `former`, facts that later statements replaced
        are told too, each with its `until`.
        Raises InvalidInput for an `about` that is no string, has no word or more than 1,000 characters.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("My sister Petra lives in Bolzano.", user_id="ida")
        ...     fact = memory.facts("Petra", user_id="ida")[0]
        >>> fact.subject, fact.predicate, fact.value
        ('My sister Petra', 'lives in', 'Bolzano')
        """
        return self._reader.facts(self._scope(user_id, shared), about, limit, former=former)

    def get_all(
        self,
        *,
        user_id: str | None = None,
        shared: bool = False,
        after: str | None = None,
        **filters: Unpack[NoteFilters],
    ) -> Iterator[Note]:
        """Yield the user's own notes (or the shared ones), oldest first, fetched a page at a time.

        With `after`, the id of a note, those that come behind it: so a listing goes on where it was left.
        `session`, `speaker`, `role`, `agent`, `since`, `until`, `tags` and the like narrow them down as in `search`.
        """
        return lookup.listed(self.engine, self._scope(user_id, shared), after, filters)

    def users(self) -> list[User]:
        """Return the tenant's users whose memory was ever written to, by id, each with the number of notes.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("The heron eats fish.", user_id="gus")
        ...     [user for user in memory.users() if user.id == "gus"]
        [User(id='gus', notes=1)]
        """
        return scopes.users(self.engine.db, self.engine.settings.tenant)

    def sessions(self, *, user_id: str | None = None, shared: bool = False) -> list[Session]:
        """Return the sessions of a user (or the shared ones), the latest first; a document is one too."""
        return scopes.sessions(self.engine.db, self._scope(user_id, shared).name)

    def tenants(self) -> list[Tenant]:
        """Return all tenants of the database, or of several servers: for those who run them, not for the tenants."""
        db = self.engine.db
        return db.home.servers.tenants() if db.home else scopes.tenants(db)

    @wiring.following
    def vectors(self, *, user_id: str | None = None, shared: bool = False) -> "dict[str, NDArray[np.float32]]":
        """Return the vector of each note's context, of length 1, by the note's id; pending notes are left out."""
        self.engine.db.check_vectors()
        found = notes.vectors(self.engine.db, self._scope(user_id, shared).name)
        return {note: np.array(vector, dtype=np.float32) for note, vector in found}

    def history(self, id: str, *, user_id: str | None = None, shared: bool = False) -> list[Version]:
        """Return all versions of a note, oldest first, each with the decision that made it; raises NotFound.

        The last one says what took the note's place, if another did (`Note.until`, `Note.replaced_by`).

        It is named by its own id or a source's, of a long message the first passage's.
        For a note whose creation was undone, these are its former versions.
        """
        return lookup.history(self.engine, self._scope(user_id, shared), id)

    def explain(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Story:
        """Tell how a note, named by its own id or a source's, came to be what it is; raises NotFound.

        Its last decision is the one that changed the note last, or by which another took its place. If the note's
        creation was undone, it is the note as it was last, with the status "undone".
        """
        return lookup.story(self.engine, self._scope(user_id, shared), id)

    def decisions(
        self,
        *,
        user_id: str | None = None,
        shared: bool = False,
        limit: int = NEWEST,
        until: datetime | str | None = None,
    ) -> list[Decision]:
        """Return the newest decisions of a memory, newest first; with `until`, those made until then."""
        at = parse_time(until, "until", self.engine.settings.timezone, end=True) or NEVER
        return decisions.page(self.engine.db, self._scope(user_id, shared).name, at, check_limit(limit))

    def cost(
        self, *, user_id: str | None = None, shared: bool = False, since: datetime | str | None = None
    ) -> list[Spending]:
        """Return what chat models cost a memory, day by day (UTC), newest first."""
        first = parse_time(since, "since", self.engine.settings.timezone) or UNKNOWN_PAST
        return spending.days(self.engine.db, self._scope(user_id, shared).name, first.date())

    def topics(self, *, user_id: str | None = None, shared: bool = False) -> list[Topic]:
        """Return the topics of a memory, the largest first, each with its most central keywords."""
        return topic_graph.every(self.engine.db, self._scope(user_id, shared).name)

    def topic(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Topic:
        """Return a topic with all of its keywords, the most central ones first; raises NotFound."""
        return lookup.topic(self.engine, self._scope(user_id, shared), id)

    def topic_ties(self, *, user_id: str | None = None, shared: bool = False) -> list[TopicTie]:
        """Return which topics occur together in notes, the strongest tie first."""
        return topic_graph.ties(self.engine.db, self._scope(user_id, shared).name)

    def topic_runs(self, *, user_id: str | None = None, shared: bool = False, limit: int = NEWEST) -> list[TopicRun]:
        """Return the last runs that looked for topics, newest first, and what each changed."""
        return topic_graph.runs(self.engine.db, self._scope(user_id, shared).name, check_limit(limit))

    def block(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Block:
        """Return a block with its fields; raises NotFound."""
        return block_reading.find(self.engine, self._scope(user_id, shared), check_name(id, "id"))

    def claim(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Claim:
        """Return a claim; raises NotFound, also for one that no note supports that can be read now.

        Those that the tenant's users share are of the shared memory.
        """
        return claim_reading.find(self.engine, self._scope(user_id, shared), check_name(id, "id"))

    def outline(
        self, limit: int = OUTLINE, *, below: str | None = None, user_id: str | None = None, shared: bool = False
    ) -> list[Block]:
        """Return at most so many blocks that hold all notes between them, in the tree's order, with their fields.

        With `below`, a block's id, these are the two blocks that it is made of; none of a leaf. Empty for a memory
        whose blocks were never built. Raises NotFound for an id that no block has.
        """
        part = None if below is None else check_name(below, "below")
        return block_reading.outline(self.engine, self._scope(user_id, shared), check_limit(limit), part)

    def block_tree(self, *, user_id: str | None = None, shared: bool = False) -> list[Block]:
        """Return all blocks of a memory in the tree's order, each before what it holds, without their fields."""
        return block_graph.tree(self.engine.db, self._scope(user_id, shared).name)

    def block_runs(self, *, user_id: str | None = None, shared: bool = False, limit: int = NEWEST) -> list[BlockRun]:
        """Return the last runs that built blocks, newest first, and what each changed."""
        return block_graph.runs(self.engine.db, self._scope(user_id, shared).name, check_limit(limit))

    def stats(self, *, user_id: str | None = None, shared: bool = False) -> Stats:
        """Count what a memory holds."""
        return lookup.stats(self.engine, self._scope(user_id, shared))

    def verify(self, *, user_id: str | None = None, shared: bool = False) -> list[str]:
        """Recount the stored sums, and look for states that must never be; return a sentence for each fault."""
        self.engine.db.check_vectors()
        return health.verify(self.engine.db, self._scope(user_id, shared).name, self.engine.embedder.dimensions)

    def health(self, *, overdue: float = 3600.0) -> Health:
        """Tell how the tenant's database is: whether it answers, its schema and its clock, and what waits for a worker.

        Work that waits for more than `overdue` seconds is a fault; so is a clock that differs by more than five
        minutes. What is wrong with the database is among the faults, and not raised.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     memory.health().ok
        True
        """
        tenant, caps = self.engine.settings.tenant, self.engine.settings.lifecycle
        return health.look(self.engine.db, tenant, caps.cap, caps.cap_bytes, health.patience(overdue))

    # ---- the embedder -----------------------------------------------------------------------

    def embedder(self) -> EmbedderStatus:
        """Tell which embedder the database has, and how far a change to another one is.

        >>> with Memory.connect(tenant=tenant) as memory:
        ...     memory.embedder().state
        'settled'
        """
        return embedding.status(self.engine)

    def change_embedder(self, to: str, *, grace: float = 7.0, dry_run: bool = False) -> EmbedderChange:
        """Begin to change the database, of all tenants, to another embedder, by a name as the setting `embedder` has.

        A worker gives all notes, keywords, topics, blocks and claims second vectors while the memory is in use; when
        nothing lacks them it lets them be searched, all at once, and every client follows. The former vectors are kept
        for `grace` days, in which `rollback_embedder` brings them back. With `dry_run` nothing is begun, only
        estimated. Raises InvalidInput while another change is under way or kept, and for the embedder that the database
        has; StoreError where the disk is too small; SettingsError, MissingExtra or DownloadError where the model can't
        be loaded. Then nothing was begun.
        """
        return embedding.change(self.engine, to, grace, dry_run=dry_run)

    def rollback_embedder(self) -> EmbedderStatus:
        """Search the vectors of the embedder before the last change again, or end a change that is under way.

        A worker then removes the others. Raises InvalidInput where none are kept any more.
        """
        return embedding.rollback(self.engine)

    # ---- inside -----------------------------------------------------------------------------

    def _scope(self, user_id: str | None, shared: bool) -> Scope:
        return scope_of(self.engine.settings.tenant, user_id, shared=shared)


for _operation in (one for some in OPERATIONS.values() for one in some):
    setattr(Memory, _operation.name, wiring.following(getattr(Memory, _operation.name)))

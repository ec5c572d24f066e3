"""Put the parts together from the settings: the only module that knows all of them."""

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, wraps
from inspect import isgenerator
from threading import Lock
from typing import Any, TypeVar, cast

from memgraph_engine.embedding.checked import CheckedEmbedder, DeferredEmbedder
from memgraph_engine.embedding.choose import embedder_named
from memgraph_engine.engine.spread import Spread
from memgraph_engine.errors import InvalidInput, MemgraphEngineError, Overloaded, SettingsError, StoreMismatch
from memgraph_engine.forks import begun
from memgraph_engine.graph import schema, scopes
from memgraph_engine.graph.database import Address, Database, Moved
from memgraph_engine.graph.note_cache import NoteCache
from memgraph_engine.graph.servers import Servers, servers_of
from memgraph_engine.judging.choose import judge_named
from memgraph_engine.language.terms import DEFAULT_LANGUAGE
from memgraph_engine.lifecycle.file import policies
from memgraph_engine.lifecycle.policies import Policies
from memgraph_engine.llm.roles import Roles
from memgraph_engine.model.memory import NEVER, UNKNOWN_PAST
from memgraph_engine.model.ports import ChatModel, Clock, Embedder, Judge, Redactor, Reranker, utc_now
from memgraph_engine.model.redaction import KEEPING, BuiltIn, Redaction
from memgraph_engine.model.scope import Scope
from memgraph_engine.reranking.choose import check_reranker, reranker_named
from memgraph_engine.settings import Settings
from memgraph_engine.telemetry import Telemetry, observed

_log = logging.getLogger("memgraph_engine")


class Load:
    """Counts the reads that run. Above `most` they leave out what can wait, above twice it they are refused; 0 is any.

    Safe to share between threads.

    >>> load = Load(1)
    >>> with load.read() as first, load.read() as second:
    ...     first, second
    (False, True)
    """

    def __init__(self, most: int = 0) -> None:
        self._most = most
        begun(self, Load._begin)

    def _begin(self) -> None:
        self._running, self._lock = 0, Lock()

    @contextmanager
    def read(self) -> Iterator[bool]:
        """Take a place for a read while it runs; yields whether more than `most` run. Raises Overloaded above twice."""
        if not self._most:
            yield False
            return
        with self._lock:
            if self._running >= 2 * self._most:
                raise Overloaded(
                    f"This client runs {self._running} reads, twice as many as it serves in full "
                    f"(recall.busy = {self._most}), and refused one more. Ask again when some of them have ended."
                )
            self._running += 1
            busy = self._running > self._most
        try:
            yield busy
        finally:
            with self._lock:
                self._running -= 1


@dataclass(frozen=True, slots=True)
class Engine:
    """What a Memory works with."""

    settings: Settings
    db: Database
    embedder: CheckedEmbedder
    clock: Clock
    roles: Roles
    notes: NoteCache
    judge: Judge | None = None
    reranker: Reranker | None = None
    redaction: Redaction = KEEPING
    policies: Policies = field(default_factory=Policies)
    load: Load = field(default_factory=Load)
    languages: dict[str, str] = field(default_factory=dict)
    """Those of scopes, by name, as far as they were looked up."""
    versions: dict[str, int] = field(default_factory=dict)
    """Those of scopes, by name, as they were last known here."""
    own: bool = False
    """Whether the embedder is an object of the program's, which no setting names."""
    loaded: dict[tuple[str, str], CheckedEmbedder] = field(default_factory=dict)
    """Embedders that were loaded, by their names and calibrations; of all that comes of this engine."""
    spread: Spread["Engine"] = field(default_factory=Spread)
    """Who does what `ingest` and the importers write."""
    telemetry: Telemetry | None = None

    def language_of(self, scope: Scope) -> str:
        """Return the language that a scope is expected to have."""
        return self.languages.get(scope.name) or self.settings.language or DEFAULT_LANGUAGE

    def open(self, scope: Scope) -> str:
        """Open a scope to be written to, and return its language; raises StoreMismatch where another one is set."""
        known, wanted = self.languages.get(scope.name), self.settings.language
        if known is None:
            known, self.versions[scope.name] = scopes.open_scope(self.db, scope, wanted or DEFAULT_LANGUAGE)
            if self.embedder.languages and known not in self.embedder.languages:
                _tell_unknown(self.embedder.name, known)
        if wanted and known != wanted:
            raise StoreMismatch(
                f"The memory of {scope} is in {known}, this client is set to {wanted}. "
                "Leave the setting `language` empty to follow each memory, or use another user_id."
            )
        self.languages[scope.name] = known
        return known

    @property
    def counts_use(self) -> bool:
        """Whether what readers are shown is counted: where the settings say so, or where anything reads it."""
        use, recall, caps = self.settings.use, self.settings.recall, self.settings.lifecycle
        limited = any(one.uses or one.extend for one in self.policies.classes.values())
        read = limited or recall.reads_use or use.prune or caps.cap > 0 or caps.cap_mb > 0
        return use.record == "on" or (use.record == "auto" and read)

    def now(self) -> datetime:
        """Return the clock's time in UTC, to the millisecond: the precision in which times are stored."""
        moment = self.clock().astimezone(UTC)
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def of_set(engine: Engine, found: schema.Recorded) -> Engine:
    """Return the same engine for another set of vectors, with the embedder that is recorded for it."""

    def loaded() -> CheckedEmbedder:
        if found.former:  # of the set that is searched, unless that is another one by now
            engine.db.of(found.vectors).check_vectors()
        embedder = _loaded(engine.settings, found)
        _tell_remote(embedder, engine.policies)
        return embedder

    deferred = DeferredEmbedder(found.model, found.dimensions, found.calibration, loaded)
    used = engine.loaded.setdefault((found.model, found.calibration), deferred)
    cache = NoteCache(engine.settings.recall.cache_mb << 20)
    return replace(engine, db=engine.db.of(found.vectors), embedder=used, notes=cache)


def followed(engine: Engine) -> Engine:
    """Return the same engine with the embedder that the database has by now; the engine itself where that is its own.

    A database that has become one of several becomes that of the tenant, wherever it lives.

    A question's vector and the names of what it is held against are both of one engine: so no search is ever over the
    vectors of another model, whenever the database changes.
    """
    found = schema.recorded(engine.db)
    if found.catalogue and not engine.db.home:
        several = engine.db.several
        if not isinstance(several, Servers):
            several = engine.db.several = _several(engine.db, found.catalogue, engine.db.uri)
        db = several.of(engine.settings.tenant)
        return of_set(replace(engine, db=db), schema.recorded(db))
    if found.vectors == engine.db.vectors:
        return engine
    _log.warning("The database at %s has the embedder %s by now: it is used from here on.", engine.db.uri, found.model)
    return of_set(engine, found)


def of_tenant(engine: Engine, tenant: str) -> Engine:
    """Return the same engine for another tenant, on the server that it lives on."""
    engine = replace(engine, settings=engine.settings.model_copy(update={"tenant": tenant}))
    if not (servers := servers_of(engine.db)):
        return engine
    db = servers.of(tenant)
    return of_set(replace(engine, db=db), schema.recorded(db))


def load(settings: Settings, named: str, recorded: str = "") -> CheckedEmbedder:
    """Load the embedder that settings would name so, else the one that is recorded of a database."""
    return CheckedEmbedder(embedder_named(settings.model_copy(update={"embedder": named}), recorded))


def _loaded(settings: Settings, found: schema.Recorded, *, named: bool = False) -> CheckedEmbedder:
    """Load what a database has, or the settings name; where that fails, the error says how to go back from it."""
    try:
        own = named and settings.embedder
        embedder = CheckedEmbedder(embedder_named(settings)) if own else load(settings, found.named, found.model)
        _ = embedder.probe
    except MemgraphEngineError as error:
        if found.former:
            error.args = (f"{error} To go back to {found.former}, if it is kept: `memgraph-engine embedder rollback`.",)
        raise
    return embedder


F = TypeVar("F", bound=Callable[..., Any])


def following(method: F) -> F:
    """Let a method be observed, and begin again, of another engine, where its database has another embedder by now.

    What has it has an `engine`, and `_follow`, which keeps what `followed` makes of that. Where the method raises Moved
    it has written nothing, or what is known again.
    """

    @wraps(method)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        try:
            made = method(self, *given, **named)
        except Moved:
            self._follow()
            return method(self, *given, **named)
        return again(made, self, given, named) if isgenerator(made) else made

    def again(made: Any, self: Any, given: Any, named: Any) -> Generator[Any, Any, Any]:
        try:
            yield from made
        except Moved:  # before the first of it: a search is all that raises it
            self._follow()
            yield from method(self, *given, **named)

    return cast("F", observed(call))


def ungated(engine: Engine) -> Engine:
    """Return the same engine for writes of which each makes a note of its own, whatever is known."""
    gate = engine.settings.gate.model_copy(update={"update": False, "discard": False})
    return replace(engine, settings=engine.settings.model_copy(update={"gate": gate}))


def purge(tenant: str, settings: Settings) -> None:
    """Remove everything of a tenant, of all its users, for good."""
    Scope(tenant)  # refuses what can't be one
    with open_database(settings.model_copy(update={"tenant": tenant})) as db:
        scopes.purge_tenant(db, tenant)


def open_database(settings: Settings, clock: Clock = utc_now) -> Database:
    """Connect to the server that the tenant of the settings lives on: there is one, or a catalogue tells it."""
    servers = open_servers(settings, clock)
    if not servers.several:
        return servers.catalogue
    try:
        return servers.of(settings.tenant)
    except BaseException:
        servers.close()
        raise


def open_servers(settings: Settings, clock: Clock = utc_now) -> Servers:
    """Connect to the server that the settings name, else to the managed one, which is started if need be.

    Where the settings name a catalogue, or that server is one of several, these are those of the catalogue.
    """
    named = settings.catalogue
    at, server = Address.of(settings, named or settings.uri), None
    if not at:
        from memgraph_engine.graph.server.local import LocalServer

        server = LocalServer(settings)
        at = server.start()
    db = Database(
        at,
        database=settings.database,
        connect_timeout=settings.connect_timeout,
        retry_time=settings.retry_time,
        clock=clock,
        lost=server.lost if server else None,
    ).check()
    try:
        named = named or schema.recorded(db).catalogue
        return _several(db, named, settings.uri or db.uri) if named else Servers(db, several=False)
    except BaseException:
        db.close()
        raise


def add_server(settings: Settings, name: str, uri: str) -> None:
    """Add a server to the catalogue of the settings; an empty one gets the schema and the embedder of the others.

    Raises StoreMismatch where it has another embedder, InvalidInput where its name is empty or another database's, or
    it has another name, or a tenant lives elsewhere.
    """
    if not name.strip():
        raise InvalidInput("A server's name must not be empty: nothing was added.")
    with closing(open_servers(settings)) as servers:
        schema.make(servers.catalogue, "schema/lease_name", {})
        db, first = servers.at(uri), next((schema.recorded(one) for one in servers.every()), None)
        first = first or schema.recorded(db)
        embedder = _loaded(settings, first if first.model else schema.Recorded(named=settings.embedder))
        schema.prepare(db.of(first.vectors), embedder.name, embedder.dimensions)
        servers.add(name, uri, settings.catalogue or servers.catalogue.uri)


def _several(db: Database, catalogue: str, here: str) -> Servers:
    return Servers(db, here=here) if catalogue == db.uri else Servers(db.beside(catalogue), db, here=here)


def build(
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    llm: ChatModel | None = None,
    judge: Judge | None = None,
    reranker: Reranker | None = None,
    redactor: Redactor | None = None,
    clock: Clock = utc_now,
    deferred: bool = False,
) -> Engine:
    """Connect, load the embedder (a `deferred` one when it embeds), judge and reranker; make or check the schema."""
    Scope(settings.tenant)  # refuses what names none
    roles = Roles(settings.llm, llm=llm)
    lives = policies(settings.lifecycle.policies)
    own = embedder if embedder is not None or deferred or not settings.embedder else embedder_named(settings)
    checked = CheckedEmbedder(own) if own is not None else None
    second = judge if judge is not None else judge_named(settings)
    reranks = check_reranker(reranker) if reranker is not None else reranker_named(settings)
    if reranks is None and settings.recall.selects and not roles.has("selecting"):
        preset = f", as the preset {settings.preset} has it" if settings.preset == "lightmem-slm" else ""
        raise SettingsError(
            f"recall.reranker is llm{preset}, but the role selecting has no model: set llm.model to have one, or "
            'recall.reranker = "" to do without.'
        )
    telemetry = Telemetry(text=settings.telemetry.text) if settings.telemetry.on else None
    clock = _within(clock)
    db = open_database(settings, clock)
    try:
        found = schema.recorded(db)
        db = db.of(found.vectors)

        def chosen() -> CheckedEmbedder:
            one = checked or _loaded(settings, found, named=True)
            if embedder is None and one.name == found.former:  # the settings of before the change
                _log.warning("The database at %s was changed from %s to %s.", db.uri, found.former, found.model)
                one = _loaded(settings, found)
            one.fitted = schema.prepare(db, one.name, one.dimensions, one.probe if embedder is None else None)
            _tell_remote(one, lives)
            return one

        if deferred and found.model:
            schema.prepare(db, found.model, found.dimensions)
            used: CheckedEmbedder = DeferredEmbedder(found.model, found.dimensions, found.calibration, chosen)
        else:
            used = chosen()
    except BaseException:
        db.close()
        raise
    cache, load = NoteCache(settings.recall.cache_mb << 20), Load(settings.recall.busy)
    loaded, theirs = {(used.name, used.fitted): used}, embedder is not None
    redaction = Redaction(settings.secrets, redactor or BuiltIn())
    parts = settings, db, used, clock, roles, cache, second, reranks, redaction, lives, load
    return Engine(*parts, own=theirs, loaded=loaded, telemetry=telemetry)


def _within(clock: Clock) -> Clock:
    """Return a clock whose times, in UTC, are of years that a memory has: behind them nothing can end any more."""

    @wraps(clock)
    def told() -> datetime:
        moment = clock()
        if not UNKNOWN_PAST.year + 1 < moment.year < NEVER.year - 1:
            raise InvalidInput(
                f"The clock says {moment.isoformat()}, and a memory knows the years 3 to 9997. Nothing was written; "
                "set the clock right, or give another one (clock=…)."
            )
        return moment.astimezone(UTC)

    return told


@cache
def _tell_unknown(embedder: str, language: str) -> None:
    """Warn, once, of a memory whose language the embedder doesn't know."""
    _log.warning(
        "The embedder %s does not know the language %r of a memory: what is said in other words is seldom found. "
        "Change it (`memgraph-engine embedder change --to multilingual`).",
        embedder,
        language,
    )


def _tell_remote(embedder: CheckedEmbedder, lives: Policies) -> None:
    """Warn, once, that what chat models don't see is seen all the same, where a provider embeds."""
    hidden = ", ".join(sorted(lives.classes.keys() - lives.modelled))
    if embedder.remote and hidden:
        _tell_seen(embedder.name, hidden)


@cache
def _tell_seen(embedder: str, policies: str) -> None:
    _log.warning(
        "The embedder %s is a provider's: it sees also what no chat model sees (models: false), of the policies %s. "
        "A local embedder keeps it on this machine.",
        embedder,
        policies,
    )

"""Bring a memory in line with files: what is new is added and, as an update, what changed or is gone follows.

Messages are events: each is known by its id, and a log that is cut off takes nothing back. A document is a state: its
passages are known by what they say, wherever they stand in it, so a paragraph put in front makes no other one new.
"""

import json
import os
import stat
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from reprlib import Repr

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, NotFound, SourceConflict
from memgraph_engine.graph import scopes, sources
from memgraph_engine.graph.sources import Passage
from memgraph_engine.ingest import documents
from memgraph_engine.ingest.folders import File, Folder
from memgraph_engine.ingest.messages import check_name, check_paths, content_hash, source_of
from memgraph_engine.ingest.readers import Item, Reader
from memgraph_engine.model.code import name_of, piece_id
from memgraph_engine.model.ingested import Fault, Ingested, Remark
from memgraph_engine.model.memory import Source
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.adding import batched, store
from memgraph_engine.writing.deletion import withdraw
from memgraph_engine.writing.rewording import update as update_note

_GONE = "What it was ingested from says it no longer."
"""Why a passage was deleted; one that the user deleted stays so, though its file holds it."""
_UNFOLLOWED = "{count} of its files are in the memory as code, and were left as they are: --repository follows them"
_ANOTHER = (
    "the memory knows {id!r} as the folder {place}, and this one has no passage in common with it. Nothing of it was "
    "ingested: give it an id of its own (--id), or that one if it is the same all the same"
)
_FASTER = " If another run was faster, ingest the file again."
_OR_UPDATE = " Or ingest with --update."
_ID = Repr()  # tells long ids by their ends
_ID.maxstring = 100
_SOME = 500  # notes deleted in one decision, or those of one long passage


@dataclass
class Ingestion:
    """One call: what it reads with, what it may change, and what came of it so far."""

    engine: Engine
    scope: Scope
    reader: Reader
    update: bool = False
    wait: bool = True
    told: Callable[[Ingested], None] | None = None
    done: Ingested = field(default_factory=Ingested)
    _waiting: dict[File, list[Source]] = field(default_factory=dict)
    _documents: set[str] = field(default_factory=set)  # that were met

    def __post_init__(self) -> None:
        """Refuse what can't be told."""
        if self.told is not None and not callable(self.told):
            raise InvalidInput(f"progress must be a function that takes what was done so far, not {self.told!r}.")
        self._batch, self._now = self.engine.settings.ingest_batch, self.engine.now()

    def run(self, path: object, id: str | None = None) -> Ingested:  # as the API calls it
        """Ingest files and folders, in order; what is gone from a folder goes first, so that it may come elsewhere."""
        self.take(path, id)
        self.engine.spread.settle()
        return self.done

    def take(self, path: object, id: str | None = None) -> None:
        """Hand out what files and folders hold; it is all told when it is settled."""
        paths, name = check_paths(path), None if id is None else check_name(id, "id")
        places = scopes.folders(self.engine.db, self.scope.name)
        for one in self.reader.listed(paths, name, places):
            if isinstance(one, File):
                self._file(one)
                self._add_waiting()
                continue
            self.count(Ingested(skipped=tuple(one.skipped), faults=tuple(one.faults), remarks=tuple(one.remarks)))
            if one.id in one.unlisted:  # nothing of it can be seen, which is told
                continue
            place = places.get(one.id, str(one.path.resolve()))
            if id is None and place != str(one.path.resolve()) and self._is_another(one):
                self.count(Ingested(faults=(Fault(str(one.path), 0, _ANOTHER.format(id=one.id, place=place)),)))
                continue
            if self.update:
                self._leave(one)
            for file in one.files:
                self._file(file)
            self._add_waiting()
            self._keep(one)

    def _is_another(self, folder: Folder) -> bool:
        """Tell whether the folder that the memory knows by this name is another one: they have no passage in common."""
        db, scope = self.engine.db, self.scope.name
        stored = sources.documents(db, scope, f"{folder.id}/")
        said = {passage.source.text for one in stored for passage in sources.document(db, scope, one)}
        items = (item for file in folder.files for item in self._items(file))
        return bool(said) and not any(item.get("text") in said for item in items if isinstance(item, dict))

    def _source(self, message: Mapping[str, object]) -> Source:
        where = f"message {_ID.repr(message.get('id'))}"
        engine = self.engine
        return source_of(engine.settings, engine.policies, engine.redaction, self.scope, message, where, self._now)

    def _items(self, file: File) -> Iterator[Item]:
        with suppress(InvalidInput, OSError):  # told when it is ingested
            yield from self.reader.items(file)

    def _keep(self, folder: Folder) -> None:
        """Keep where a folder lies, by which its parts are known, unless it is itself a part of one."""
        places, place = scopes.folders(self.engine.db, self.scope.name), folder.path.resolve()
        whole = any(folder.id.startswith(f"{id}/") and Path(of) in place.parents for id, of in places.items())
        if not whole and places.get(folder.id) != str(place):
            self.engine.spread.settle()  # what is kept belongs to a memory that is there
            kept = {**places, folder.id: str(place)}
            self.engine.db.write(lambda tx: scopes.keep_folders(tx, self.scope.name, kept))

    def count(self, more: Ingested) -> None:
        """Count what came of a part, and tell it."""
        self.done += more
        if self.told:
            self.told(self.done)

    def _fault(self, file: File, reason: object) -> None:
        self.count(_faulty(file, reason))

    def _leave(self, folder: Folder) -> None:
        """Delete what is stored of a folder and its files no longer hold, or are passed over with.

        What was not looked at stays, and of a file that is there also what another way of reading made of it.
        """
        self.engine.spread.settle()
        read, code = {file.id for file in folder.files}, 0
        below = (sources.documents(self.engine.db, self.scope.name, f"{id}/") for id in folder.ids)
        for document in dict.fromkeys(chain.from_iterable(below)):
            if document in read:
                continue
            file = File(folder.file(document), document)
            try:
                there = _is_there(file.path)
            except OSError as error:
                if folder.saw(document):
                    self._fault(file, f"can't be read: {error.strerror}")
                continue
            kind = self.reader.makes(file.path) if folder.saw(document) else None
            stored = sources.document(self.engine.db, self.scope.name, document)
            self._delete([one for one in stored if one.readable and (not there or one.source.kind == kind)])
            code += there and kind != "code" and any(one.readable and one.source.kind == "code" for one in stored)
        if code and not self.reader.repository:
            self.count(Ingested(remarks=(Remark(str(folder.path), _UNFOLLOWED.format(count=code)),)))

    def _file(self, file: File) -> None:
        """Ingest one file; if it can't be read, that is a fault among others."""
        try:
            items = self.reader.items(file)
            if self.reader.kind(file.path) in (*documents.KINDS, "code"):
                self._document(file, list(items))
            else:
                self._messages(file, items)
        except (InvalidInput, NotFound) as error:
            self._fault(file, error)
        except OSError as error:
            self._fault(file, f"can't be read: {error.strerror}")
        self.count(Ingested(files=1))

    # ---- documents --------------------------------------------------------------------------

    def _document(self, file: File, items: Sequence[Item]) -> None:
        """Bring what is stored of a document, or of code, in line with its file, if the whole of this can be read."""
        faults = tuple(item for item in items if isinstance(item, Fault))
        if faults:
            self.count(Ingested(faults=faults))
            return
        self.count(Ingested(remarks=tuple(item for item in items if isinstance(item, Remark))))
        new = [self._source(item) for item in items if isinstance(item, dict)]
        if file.id in self._documents:
            self.engine.spread.settle()
        self._documents.add(file.id)
        stored = sources.document(self.engine.db, self.scope.name, file.id)
        is_code = self.reader.kind(file.path) == "code"
        found = difference(stored, new, former=not self.update, code=is_code)
        if not self.update and (others := len(found.changed) + len(found.gone)):
            passages = "a passage was" if others == 1 else f"{others:,} passages were"
            self._fault(file, f"{passages} changed or taken out since {file.id!r} was ingested; use --update")
            return
        self.count(Ingested(repeats=found.kept))
        if found.gone or found.changed:
            self.engine.spread.settle()
        self._delete(found.gone)
        for passage, source in found.changed:
            update_note(self.engine, self.scope, passage.source.id, source.text, source if is_code else None)
            self.count(Ingested(updated=1))
        taken = {passage.source.id for passage in stored}
        if is_code:  # files of it are many and short, and a transaction takes its time: several go together
            self._waiting[file] = _renamed(found.added, taken)
            if sum(map(len, self._waiting.values())) >= self._batch:
                self._add_waiting()
            return
        free = (name for n in count() if (name := f"{file.id}#{n}") not in taken)
        new = [replace(source, id=name) for source, name in zip(found.added, free, strict=False)]
        self._add_each([(file, new)], "")

    def _delete(self, gone: Sequence[Passage]) -> None:
        # none is in two decisions
        for some in batched(gone, _SOME, lambda passage: len(passage.readable)):
            told = {key: note for passage in some for key, note in passage.readable.items()}
            withdraw(self.engine, self.scope, told, _GONE)
            self.count(Ingested(deleted=len(some)))

    def _add_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        self._add_each(waiting.items(), _FASTER)

    def _add_each(self, parts: Collection[tuple[File, Sequence[Source]]], way_out: str) -> None:
        work = partial(_added, scope=self.scope, parts=list(parts), wait=self.wait, way_out=way_out)
        given = [source for _, new in parts for source in new] if self.wait else []
        self.engine.spread.hand(self.engine, self.scope, given, work, self.count)

    # ---- messages ---------------------------------------------------------------------------

    def _messages(self, file: File, items: Iterator[Item]) -> None:
        while batch := list(islice(items, self._batch)):
            self.count(Ingested(faults=tuple(item for item in batch if isinstance(item, Fault))))
            new = [self._source(item) for item in batch if isinstance(item, dict)]
            changed = self._changed(new) if self.update else {}
            for source in changed.values():
                self._change(file, source)
            self._add_each([(file, [source]) for source in new if source.id not in changed], _OR_UPDATE)

    def _changed(self, new: Sequence[Source]) -> dict[str, Source]:
        """Return the messages that are stored and readable with another content."""
        self.engine.spread.settle()
        seen = sources.look_up(self.engine.db, self.scope.name, sorted({source.id for source in new}), [], [])
        stored = seen.known if seen else {}
        return {
            source.id: source
            for source in new
            if source.id in stored and stored[source.id].hashes[0] != source.hash and not _gone(stored[source.id])
        }

    def _change(self, file: File, new: Source) -> None:
        stored = sources.find(self.engine.db, self.scope.name, new.id)
        if stored and not _only_text(stored, new):
            self._fault(file, f"message {new.id!r} differs in more than its text; an update changes only that")
            return
        try:
            update_note(self.engine, self.scope, new.id, new.text)
            self.count(Ingested(updated=1))
        except (InvalidInput, NotFound) as error:
            self._fault(file, error)


def _added(
    engine: Engine, scope: Scope, parts: Sequence[tuple[File, Sequence[Source]]], wait: bool, way_out: str
) -> Iterator[Ingested]:
    """Add sources of files; if that is refused, each part alone, so that one keeps out no other."""
    rest = chain.from_iterable(new for _, new in parts)
    try:
        while some := list(islice(rest, engine.settings.ingest_batch)):
            yield Ingested.of(store(engine, scope, some, wait=wait))
    except InvalidInput as error:
        if len(parts) == 1:
            yield _faulty(parts[0][0], f"{error}{way_out if isinstance(error, SourceConflict) else ''}")
            return
        for one in parts:
            yield from _added(engine, scope, [one], wait, way_out)


def _faulty(file: File, reason: object) -> Ingested:
    return Ingested(faults=(Fault(str(file.path), 0, str(reason).removeprefix(f"{file.path} ")),))


def _gone(stored: sources.Known) -> bool:
    """Tell whether nothing is left of what a source told."""
    gone = bool(stored.notes) and all(status in ("deleted", "superseded") for _, status in stored.notes)
    return stored.ended or gone


def _is_there(path: Path) -> bool:
    """Tell whether there is a file, or a link, that is no folder; raises OSError where that can't be seen."""
    try:
        return not stat.S_ISDIR(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


@dataclass(frozen=True)
class Difference:
    """What sets the passages of a file apart from those that are stored: how many are the same, and the others."""

    kept: int
    added: list[Source]
    changed: list[tuple[Passage, Source]]
    gone: list[Passage]


def difference(stored: Sequence[Passage], new: Sequence[Source], *, former: bool, code: bool) -> Difference:
    """Compare passages, first by what they say; the others by what they follow, or pieces of `code` by their names.

    What the engine deleted because its file no longer said it is new when it comes back. With `former`, what a passage
    said before an update is the same too, and metadata make no other one.
    """
    held = [one for one in stored if not (one.taken or one.ended_by(_GONE))]
    same = _same(held, new, former=former, code=code)
    used = set(same.values())
    if code:
        slots, wanted = [name_of(one.source) for one in held], [name_of(one) for one in new]
    else:
        slots = _followed(one.source.id if one.source.id in used else "" for one in held)
        wanted = _followed(same.get(place, "") for place in range(len(new)))
    others = defaultdict[str, deque[Passage]](deque)
    for passage, slot in zip(held, slots, strict=True):
        if passage.source.id not in used and passage.readable:
            others[slot].append(passage)
    found = Difference(len(same), [], [], [])
    for place, (source, slot) in enumerate(zip(new, wanted, strict=True)):
        there = others[slot][0] if others[slot] else None
        if place in same:
            continue
        if there and there.alone and (there.source.kind == "code" if code else _only_text(there.source, source)):
            found.changed.append((others[slot].popleft(), source))
        else:
            found.added.append(source)
    found.gone.extend(chain.from_iterable(others.values()))
    return found


def _followed(ids: Iterable[str]) -> list[str]:
    """Return for each place the last id up to it; '' where there is none."""
    found = list[str]()
    for one in ids:
        found.append(one or "".join(found[-1:]))
    return found


def _renamed(new: Sequence[Source], taken: set[str]) -> list[Source]:
    """Give pieces whose ids are taken, by others of the name or by what is gone, the next ones that are free."""
    found, used = [], set(taken)
    for source in new:
        file, _, _ = source.id.partition("::")
        name = name_of(source)
        names = chain([source.id], (piece_id(file, f"{name}@{n}") for n in count(2)))
        free = next(id for id in names if id not in used)
        used.add(free)
        found.append(replace(source, id=free))
    return found


def _same(known: Sequence[Passage], new: Sequence[Source], *, former: bool, code: bool) -> dict[int, str]:
    """Return the ids of the stored passages that say the same as new ones, by the places of these."""

    def key(source: Source, said: Hashable) -> Hashable:
        return (name_of(source), said) if code else said

    waiting: defaultdict[Hashable, deque[str]] = defaultdict(deque)
    for passage in known:
        now = passage.hashes[0] if code else _content(passage.source)
        for said in passage.hashes if former else [now]:
            waiting[key(passage.source, said)].append(passage.source.id)
    same: dict[int, str] = {}
    used: set[str] = set()
    for place, source in enumerate(new):
        those = waiting[key(source, source.hash if former or code else _content(source))]
        while those and those[0] in used:
            those.popleft()
        if those:
            same[place] = those[0]
            used.add(those[0])
    return same


def _content(source: Source) -> tuple[str, tuple[str, ...], str]:
    return source.hash, source.tags, json.dumps(source.metadata, sort_keys=True)


def _only_text(old: Source, new: Source) -> bool:
    """Tell whether two sources are told apart by no more than their text, which is all that an update changes."""
    as_old = replace(old, text=new.text)
    return content_hash(as_old) == content_hash(new) and _content(replace(as_old, hash=new.hash)) == _content(new)

"""LangGraph's store on the memories of a tenant (docs/langgraph.md).

A namespace is the memory of one user: its labels, joined by slashes, are the `user_id`. So erasure, export, `users`,
`verify` and the purge of a tenant work by namespace, and no search can cross from one to another. An item is a source
of the kind `item`, whose metadata hold the value as JSON, and a note for each text that it is found by. Thereby its
history, undo, explanation, expiry and erasure are those of all other notes, and its search is recall's; a label of its
own would need all of these again. What notes lack for that is said by the kind: the gate compares items with nothing,
no cap or pruning takes them, and no model is asked about what is put.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import ge, gt, le, lt
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import unquote

from memgraph_engine.asking.items import ItemReader, Ranked
from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput, named, needed
from memgraph_engine.graph.items import Holding
from memgraph_engine.ingest.items import at_path, check_item
from memgraph_engine.ingest.messages import check_name
from memgraph_engine.interface.whose import namespace_of, user_of
from memgraph_engine.model.item import ITEMS, Item, Put, source_id
from memgraph_engine.model.ports import Clock, utc_now
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import Settings
from memgraph_engine.writing.items import ItemWriter

with needed("A LangGraph store", "langgraph"):
    from langgraph.store.base import (
        BaseStore,
        Embeddings,
        GetOp,
        IndexConfig,
        InvalidNamespaceError,
        Item as StoreItem,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        ensure_embeddings,
        get_text_at_path,
        validate_op_namespace,
    )

Namespace = tuple[str, ...]

_FIRST, _GROWTH, _MOST = 50, 4, 10_000  # items that a question ranks at first, by how much more then, and at most
_WHOLE = "$"


__all__ = ["MemgraphStore", "namespace_of", "source_of", "user_of"]


class MemgraphStore(BaseStore):
    """A LangGraph store that keeps its items in a Memory. Safe to share between threads.

    `index` says which `fields` of a value it is found by (else all of it). Where it names what to `embed` with, that
    must be the memory's embedder, and a query ranks by the cosine; else by recall, which looks at words too. `ttl` is
    LangGraph's. The memory stays open; a store that `connect` made closes its own.
    """

    supports_ttl = True

    def __init__(self, memory: Memory, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> None:
        self.memory = memory
        self.index_config, self.ttl_config = index, ttl
        self.embeddings = ensure_embeddings(index["embed"]) if index and "embed" in index else None
        if index and self.embeddings and (own := _Embedder(self.embeddings, index).name) != memory.engine.embedder.name:
            raise InvalidInput(
                f"index names {own!r} to embed with, but the memory has {memory.engine.embedder.name!r}: leave embed "
                "out, or let MemgraphStore.connect make the memory."
            )
        self._fields = list((index or {}).get("fields") or [_WHOLE])
        self._reader, self._writer = ItemReader(memory.engine), ItemWriter(memory.engine)

    @classmethod
    def connect(
        cls,
        uri: str | None = None,
        *,
        tenant: str | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        settings: Settings | None = None,
        clock: Clock = utc_now,
    ) -> Self:
        """Connect as `Memory.connect` does, with the embedder that the `index` names, else that of the settings."""
        embedder = _Embedder(ensure_embeddings(index["embed"]), index) if index and "embed" in index else None
        memory = Memory.connect(uri, tenant=tenant, settings=settings, embedder=embedder, clock=clock)
        return cls(memory, index=index, ttl=ttl)

    def close(self) -> None:
        """Close the memory."""
        self.memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several things: all that is read is as it was before what the same call puts.

        Of two puts under one key the last one counts. Each item is written whole or not at all; the items that are new
        to a namespace are written together, all others one after the other.
        """
        given = list(ops)
        for op in given:
            _check(op)
        puts: dict[Scope, dict[str, PutOp]] = {}
        for op in given:
            if isinstance(op, PutOp):
                puts.setdefault(self._scope(op.namespace), {})[op.key] = op
        # before anything is written: what can't be put leaves nothing of the others
        made = {scope: [self._put(op) for op in some.values() if op.value is not None] for scope, some in puts.items()}
        results = self._read(given)
        for scope, some in puts.items():
            self._writer.put(scope, made[scope])
            self._writer.remove(scope, [op.key for op in some.values() if op.value is None])
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several things as `batch` does, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    # ---- inside -----------------------------------------------------------------------------

    def _scope(self, namespace: Sequence[str]) -> Scope:
        return Scope(self.memory.engine.settings.tenant, user_of(namespace))

    def _read(self, ops: Sequence[Op]) -> list[Result]:
        wanted: dict[Namespace, list[str]] = {}
        for op in ops:
            if isinstance(op, GetOp):
                wanted.setdefault(tuple(op.namespace), []).append(op.key)
        found = {
            (namespace, key): item
            for namespace, keys in wanted.items()
            for key, item in self._reader.find(self._scope(namespace), list(dict.fromkeys(keys))).items()
        }
        results, read = list[Result](), dict[tuple[str, str], Item]()
        for op in ops:
            result: Result = None
            if isinstance(op, GetOp):
                item = found.get((tuple(op.namespace), op.key))
                shown = [item] if item else []
                result = StoreItem(**_fields(item)) if item else None
            elif isinstance(op, SearchOp):
                ranked = self._search(op)
                shown = [item for item, _ in ranked]
                result = [SearchItem(**_fields(item), score=score) for item, score in ranked]
            elif isinstance(op, ListNamespacesOp):
                shown, result = [], self._namespaces(op)
            else:
                shown = []
            if shown and cast("GetOp | SearchOp", op).refresh_ttl:
                read |= {item.place: item for item in shown}
            results.append(result)
        self._writer.read(read.values())
        return results

    def _holding(self, prefix: Sequence[str]) -> list[Holding]:
        """Return the scopes of the namespaces that begin so and hold something."""
        user = user_of(prefix)
        found = self._reader.holding(user, f"{user}/" if user else "")
        return [one for one in found if user_of(namespace_of(one.scope.user or "")) == one.scope.user]

    def _search(self, op: SearchOp) -> Ranked:
        held, last = self._holding(op.namespace_prefix), op.offset + op.limit
        if not op.query:
            listed = (item for item in self._reader.every(held) if _fits(item, op.filter))
            return [(item, None) for item in islice(listed, op.offset, max(last, 0))]
        found, whole, most = list[tuple[Item, float | None]](), not held, max(last, _FIRST)
        while held and not whole and len(found) < last:
            ranked, whole = self._reader.ranked(held, op.query, most, similar=self.embeddings is not None)
            found = [one for one in ranked if _fits(one[0], op.filter)]
            whole, most = whole or most >= _MOST, most * _GROWTH
        if len(found) < last:  # what has no text of its own comes last
            known = {item.place for item, _ in found}
            rest = (one for one in self._reader.every(held) if one.place not in known and _fits(one, op.filter))
            found += [(item, None) for item in islice(rest, last - len(found))]
        return found[op.offset : last]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        found = [namespace_of(one.scope.user or "") for one in self._holding(_beginning(conditions))]
        found = [one for one in found if all(_matches(one, condition) for condition in conditions)]
        return sorted({one[: op.max_depth] for one in found})[op.offset : op.offset + op.limit]

    def _put(self, op: PutOp) -> Put:
        put = check_item(op.key, op.value, ttl=op.ttl)  # before its texts are taken out of it
        paths = [] if op.index is False else self._fields if op.index is None else op.index
        if not _is_paths(paths):
            raise InvalidInput(f"the item {op.key!r}: index must be False or a list of paths, not {op.index!r}.")
        texts = (text for path in paths for text in get_text_at_path(dict(op.value or {}), path))
        return replace(put, texts=tuple(dict.fromkeys(texts)))


class _Embedder:
    """LangChain's embeddings as the engine takes an embedder: with a name, which the database records."""

    def __init__(self, embeddings: Embeddings, index: IndexConfig) -> None:
        self._embeddings = embeddings
        model = getattr(embeddings, "model", None) or getattr(embeddings, "model_name", None)
        self.name = "/".join(map(str, filter(None, (type(embeddings).__name__, model, index.get("dims")))))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text."""
        vectors: list[list[float]] = self._embeddings.embed_documents(texts)
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        vector: list[float] = self._embeddings.embed_query(text)
        return vector


def source_of(key: str) -> str:
    """Return the id of the source that holds an item: `Memory.history`, `explain` and `forget` take it."""
    return source_id(ITEMS, key)


def _check(op: Op) -> None:
    """Refuse what no store takes; `batch` is given what the other methods have checked, or not."""
    if not isinstance(op, GetOp | PutOp | SearchOp | ListNamespacesOp):
        raise InvalidInput(f"{named(op)} is none of LangGraph's operations.")
    validate_op_namespace(op)
    if isinstance(op, GetOp | PutOp) and not op.namespace:
        raise InvalidNamespaceError("Namespace cannot be empty.")
    if isinstance(op, GetOp | PutOp):
        check_name(op.key, "key")
        check_name(source_of(op.key), "key")
    elif op.limit < 0 or op.offset < 0:
        raise InvalidInput(f"limit and offset must not be below 0, as {op.limit} and {op.offset}.")
    elif isinstance(op, ListNamespacesOp) and op.max_depth is not None and op.max_depth < 1:
        raise InvalidInput(f"max_depth must be 1 at least, not {op.max_depth}.")
    elif isinstance(op, SearchOp) and op.filter is not None:
        if not isinstance(op.filter, Mapping):
            raise InvalidInput(f"filter must be a mapping whose names are strings, not {op.filter!r}.")
        _check_filter(op.filter)


def _is_paths(given: object) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(path, str) for path in given)


def _fields(item: Item) -> dict[str, Any]:
    """Return what LangGraph tells of an item."""
    return {
        "namespace": namespace_of(unquote(item.scope.partition("/")[2])),
        "key": item.key,
        "value": json.loads(item.value),
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }


def _beginning(conditions: Sequence[MatchCondition]) -> Namespace:
    """Return the labels with which all namespaces begin that are meant."""
    path = next((one.path for one in conditions if one.match_type == "prefix"), ())
    return tuple(path[: path.index("*")] if "*" in path else path)


def _matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path, kind = tuple(condition.path), condition.match_type
    if kind not in ("prefix", "suffix"):
        raise InvalidInput(f"Namespaces match by prefix or suffix, not by {kind!r}.")
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if kind == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


def _fits(item: Item, wanted: Mapping[str, Any] | None) -> bool:
    """Tell whether a value has all that a filter asks for."""
    return not wanted or _holds(json.loads(item.value), wanted)


def _holds(value: object, wanted: object) -> bool:
    """Tell whether a value is what is wanted: of a mapping what that names, all else as it is.

    A dotted name leads into a mapping, unless it has that itself.
    """
    if isinstance(wanted, Mapping):
        return all(
            _compares(value, name, one)
            if name.startswith("$")
            else isinstance(value, Mapping) and _holds(at_path(value, name), one)
            for name, one in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        same = isinstance(value, list) and len(value) == len(wanted)
        return same and all(map(_holds, cast("list[object]", value), wanted))
    return _equal(value, wanted)


def _equal(one: object, other: object) -> bool:
    """Tell whether two values are the same as JSON: true is not 1."""
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    if isinstance(other, tuple):
        other = list(other)
    return one == other


def _compares(value: object, operator: str, wanted: Any) -> bool:
    if operator in _JOINED:
        return _JOINED[operator](_holds(value, one) for one in wanted)
    if operator == "$not":
        return not _holds(value, wanted)
    if operator in ("$eq", "$ne"):
        return _equal(value, wanted) == (operator == "$eq")
    for kinds in ((int, float), str):
        if isinstance(value, kinds) and isinstance(wanted, kinds):
            return _ORDERS[operator](value, wanted)
    return False


def _check_filter(wanted: object) -> None:
    """Refuse an operator that there is not, before it finds nothing."""
    for one in wanted if isinstance(wanted, list | tuple) else ():
        _check_filter(one)
    for name, one in wanted.items() if isinstance(wanted, Mapping) else ():
        if not isinstance(name, str):
            raise InvalidInput(f"filter must be a mapping whose names are strings, not {wanted!r}.")
        if name.startswith("$") and name not in _OPERATORS:
            raise InvalidInput(f"There is no operator {name!r}; the operators are {', '.join(_OPERATORS)}.")
        if name in _JOINED and not (isinstance(one, list | tuple) and one and all(isinstance(x, Mapping) for x in one)):
            raise InvalidInput(f"{name} takes a list of filters, not {one!r}.")
        if name == "$not" and not isinstance(one, Mapping):
            raise InvalidInput(f"$not takes a filter, not {one!r}.")
        if name not in _COMPARED:
            _check_filter(one)


_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
_COMPARED = ("$eq", "$ne", *_ORDERS)
_JOINED: Mapping[str, Callable[[Iterable[bool]], bool]] = {"$and": all, "$or": any}
_OPERATORS = (*_COMPARED, *_JOINED, "$not")

"""What a block tells, written by a chat model (LightMem, sections 3.2 to 3.4): asked, checked, and stored at once.

The tree has its shape before a model is asked. So the ids of blocks are no matter of what one answers, and a run that
was killed has paid for nothing twice. What was written counts as long as the block is what it was written of; what
makes a block stale removes it (`cypher/fragments/writes/stale_blocks.cypher`).
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from math import isqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memgraph_engine.blocks.fields import Contents, fields, spoken
from memgraph_engine.blocks.linkage import Vectors
from memgraph_engine.blocks.reading import contents
from memgraph_engine.blocks.schema import Described, Schema, SchemaField
from memgraph_engine.blocks.tree import Node, Tree
from memgraph_engine.cost import NOTHING
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import Unusable
from memgraph_engine.graph import blocks as block_graph, scopes
from memgraph_engine.graph.blocks import Stored
from memgraph_engine.graph.rows import moment
from memgraph_engine.language.terms import DEFAULT_LANGUAGE
from memgraph_engine.llm.role import Entry
from memgraph_engine.llm.spent import Spent
from memgraph_engine.llm.tokens import tokens
from memgraph_engine.model.block import LONGEST
from memgraph_engine.model.marker import as_line, hides
from memgraph_engine.model.memory import Note
from memgraph_engine.rendering.context import render

if TYPE_CHECKING:
    from memgraph_engine.graph.database import Row

_PAGE = 200  # blocks whose notes are read at once
# half more than the prompt says: models miscount
_LONGEST_TEXT = 600  # characters
_LONGEST_ITEM = 150
_MOST_ITEMS = 12
_FENCE = re.compile(r"<\s*/?\s*data\b", re.IGNORECASE)


class _Shown(NamedTuple):
    """A note as a model sees it: what it says and who said it, when, and in which session, or file."""

    text: str
    said_at: datetime
    session: str = ""

    def entry(self, number: int) -> Entry:
        """Return it as JSON."""
        where = {"session": self.session} if self.session else {}
        return {"note": number, "said": f"{self.said_at:%Y-%m-%d}", **where, "text": self.text}


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote of a block."""

    fields: Described
    model: str


@dataclass
class Describer:
    """Describes blocks of one scope; what was asked about in a run, or failed, is not asked about again in it."""

    engine: Engine
    scope: str
    schema: Schema
    spent: Spent
    _known: dict[tuple[_Shown, ...], Written | None] = field(default_factory=dict)
    _done: set[tuple[str, str]] = field(default_factory=set)
    """What was described: a block's id, and what it is made from."""

    def describe(self, made: Tree, stored: Mapping[str, Stored], tell: Callable[[str], None]) -> None:
        """Describe the blocks of a tree that nobody has described, and give all the vectors that they are to have.

        `stored` are the blocks as they were read before the tree was written; `tell` is called before each round of
        requests.
        """
        self._mean(made, stored)
        self._ask_about(self._lacking(made.nodes, stored, self._widest(made)), tell)
        if self._by_text:
            described = [node for node in made.nodes if self._is_described(node, stored) or self._is_done(node)]
            self._embed([node for node in described if self._is_done(node) or not self._is_embedded(node, stored)])

    def speak(
        self, nodes: Sequence[Node], means: Vectors, stored: Mapping[str, Stored], tell: Callable[[str], None]
    ) -> Vectors:
        """Return the vectors (n, d) of what blocks tell, whoever describes them; it is stored, and made once.

        Where a block was removed meanwhile, it is the mean (n, d) of its notes'.
        """
        self._ask_about(self._lacking(nodes, stored, max(node.notes for node in nodes)), tell)
        self._embed([node for node in nodes if self._is_done(node) or not self._is_embedded(node, stored)])
        dimensions, ids = self.engine.embedder.dimensions, [node.id for node in nodes]
        found = block_graph.vectors(self.engine.db, self.scope, ids, dimensions)
        return np.stack([found.get(node.id, mean) for node, mean in zip(nodes, means, strict=True)])

    def counts(self, made: Tree, stored: Mapping[str, Stored]) -> tuple[int, int, int]:
        """Return how many blocks were described in this run and before it, and how many more could have been."""
        done = sum(map(self._is_done, made.nodes))
        before = sum(self._is_described(node, stored) and not self._is_done(node) for node in made.nodes)
        lacking = sum(not self._is_done(node) for node in self._lacking(made.nodes, stored, self._widest(made)))
        return done, before, lacking

    @property
    def _by_text(self) -> bool:
        """Whether questions are to find described blocks by what they tell."""
        return self.engine.settings.blocks.vector == "text"

    @property
    def _by_paper(self) -> bool:
        """Whether the tree follows from what all blocks tell, whoever describes them."""
        return self.engine.settings.blocks.linkage == "paper"

    def _is_done(self, node: Node) -> bool:
        return (node.id, node.made_from) in self._done

    def _is_described(self, node: Node, stored: Mapping[str, Stored]) -> bool:
        return kept(node, stored) and stored[node.id].described_as == self.schema.key

    def _is_embedded(self, node: Node, stored: Mapping[str, Stored]) -> bool:
        return kept(node, stored) and stored[node.id].embedded_as == self.schema.key

    def _widest(self, made: Tree) -> int:
        """Return how many notes a block to describe has at most: as one that a question finds, by the paper any."""
        notes = made.nodes[0].notes if made.nodes else 0
        return notes if self._by_paper else max(LONGEST, isqrt(notes))

    def _lacking(self, nodes: Sequence[Node], stored: Mapping[str, Stored], widest: int) -> list[Node]:
        """Return the blocks to describe, leaves first."""
        if not (self.schema.described and self.engine.roles.has("describing")):
            return []
        lacking = [node for node in nodes if node.notes <= widest and not self._is_described(node, stored)]
        return sorted(lacking, key=lambda node: (node.level, node.entered))

    def _ask_about(self, nodes: Sequence[Node], tell: Callable[[str], None]) -> None:
        for start in range(0, len(nodes), _PAGE):
            self._some(nodes[start : start + _PAGE], tell)

    def _some(self, nodes: Sequence[Node], tell: Callable[[str], None]) -> None:
        """Describe some blocks: what is answered is stored before more is asked."""
        shown = self._shown(nodes)
        self._store(nodes, shown)
        asked = [one for one in dict.fromkeys(shown.values()) if one not in self._known]
        for groups in self.engine.roles.rounds("describing", asked, _entry):
            if self.spent.beyond:
                break
            tell("describe")
            self._ask(groups)
            self._store(nodes, shown)

    def _shown(self, nodes: Sequence[Node]) -> dict[str, tuple[_Shown, ...]]:
        """Return by the ids of blocks what a model sees of them; what is not whole is left out."""
        held, room = self._contents(nodes), self.engine.settings.llm.batch_tokens
        return {
            key: _block_notes(one.notes, self._language, room)
            for key, one in held.items()
            if one.held.whole and one.notes
        }

    def _contents(self, nodes: Sequence[Node]) -> dict[str, Contents]:
        spans = {(self.scope, node.id): (moment(node.first_at), moment(node.last_at)) for node in nodes}
        found = contents(self.engine, [self.scope], spans, None, self.schema)
        return {key: one for (_, key), one in found.items()}

    def _ask(self, groups: Sequence[Sequence[tuple[_Shown, ...]]]) -> None:
        shape = [{"name": one.name, "type": one.type, "meaning": one.meaning} for one in self.schema.described]
        some = [one for group in groups for one in group]
        self._known |= dict.fromkeys(some)
        for group, answer in self.engine.roles.about("describing", some, _entry, self.spent, fields=shape):
            for one in answer.items:
                try:
                    told = checked(self.schema, one.fields)
                except ValueError as fault:
                    why = Unusable(
                        f"{answer.model} described a block otherwise than it was asked to: {fault}.", NOTHING
                    )
                    why.model = answer.model
                    self.spent.failed("Describing", why)
                else:
                    self._known[group[one.block - 1]] = Written(told, answer.model)

    def _store(self, nodes: Sequence[Node], shown: Mapping[str, tuple[_Shown, ...]]) -> None:
        told = {
            node.id: (node.made_from, one)
            for node in nodes
            if node.id in shown and not self._is_done(node) and (one := self._known.get(shown[node.id]))
        }
        rows: list[Row] = [
            {"id": key, "made_from": made_from, "described": one.fields, "described_by": one.model}
            for key, (made_from, one) in told.items()
        ]
        if rows:
            stored = block_graph.describe(self.engine.db, self.scope, self.schema.key, rows)
            self._done |= {(key, told[key][0]) for key in stored}

    # ---- vectors ----------------------------------------------------------------------------

    def _mean(self, made: Tree, stored: Mapping[str, Stored]) -> None:
        """Give the mean of their notes' vectors back to blocks whose vector is made otherwise, and is not to be."""
        rows: list[Row] = [
            {"id": node.id, "made_from": node.made_from, "vector": vector}
            for node, vector in zip(made.nodes, made.vectors, strict=True)
            if kept(node, stored) and stored[node.id].embedded_as
            if not (self._by_text and self._is_described(node, stored) and self._is_embedded(node, stored))
        ]
        block_graph.embed(self.engine.db, self.scope, "", rows)

    def _embed(self, nodes: Sequence[Node]) -> None:
        """Give blocks the vectors of what they tell; one that tells nothing keeps the mean."""
        for start in range(0, len(nodes), _PAGE):
            some = {node.id: node.made_from for node in nodes[start : start + _PAGE]}
            held = self._contents(nodes[start : start + _PAGE])
            speaking = {key: one for key, one in held.items() if one.held.described or self._by_paper}
            told = {key: fields(self.schema, one, self._language) for key, one in speaking.items()}
            texts = {key: text for key, one in told.items() if (text := spoken(self.schema, one))}
            vectors = self.engine.embedder.embed_documents([*texts.values()])
            rows: list[Row] = [
                {"id": key, "made_from": some[key], "vector": vector}
                for key, vector in zip(texts, vectors, strict=True)
            ]
            block_graph.embed(self.engine.db, self.scope, self.schema.key, rows)

    @cached_property
    def _language(self) -> str:
        state = scopes.state(self.engine.db, self.scope)
        return state.language if state else DEFAULT_LANGUAGE


def kept(node: Node, stored: Mapping[str, Stored]) -> bool:
    """Tell whether a block is stored as it is: with the same notes, of which none has changed."""
    known = stored.get(node.id)
    return known is not None and known.made_from == node.made_from


def _block_notes(notes: Sequence[Note], language: str, room: int) -> tuple[_Shown, ...]:
    """Return of a block's notes, the nearest to its middle first, as many as have room, at least one; oldest first."""
    chosen, taken = list[_Shown](), 0
    for note in notes:
        one = _Shown(_text(note, language), note.said_at, note.session)
        taken += tokens(json.dumps(one.entry(0), ensure_ascii=False))
        if chosen and taken > room:
            break
        chosen.append(one)
    return tuple(sorted(chosen, key=lambda one: one.said_at))


def _entry(notes: Sequence[_Shown]) -> Entry:
    return {"notes": [note.entry(at) for at, note in enumerate(notes, 1)]}


def _text(note: Note, language: str) -> str:
    """Return what a note says, without its day and the turn before it, unless a model or the user wrote it."""
    own = [(source, None) for source in note.sources]
    made = note.context.startswith(render(own, language).context)
    return render(own, language, dated=False).context if made else note.context


def checked(schema: Schema, given: Sequence[Any]) -> Described:
    """Return the fields that a model wrote, by name; raises ValueError where they are not those of the schema.

    The error has none of their words.

    >>> shape = {"name": "who", "type": "list", "meaning": "Who speaks.", "local": "people", "embed": True}
    >>> from types import SimpleNamespace
    >>> given = [SimpleNamespace(name="who", text="", items=("Ana", "ana", "Bo"))]
    >>> checked(Schema(most=1, field=(SchemaField(**shape),)), given)
    {'who': ('Ana', 'Bo')}
    """
    wanted = {one.name: one for one in schema.described}
    names = [one.name for one in given]
    if others := sum(name not in wanted for name in names):
        raise ValueError(f"it has {others} fields that were not asked for")
    for name in wanted:
        if (times := names.count(name)) != 1:
            raise ValueError(f"the field {name!r} comes {times} times")
    return {one.name: _field(wanted[one.name], one) for one in given}


def _field(wanted: SchemaField, given: Any) -> str | tuple[str, ...]:
    if bool(given.items) if wanted.type == "text" else bool(given.text):
        raise ValueError(f"the field {wanted.name!r} is no {wanted.type}")
    if wanted.type == "text":
        return _line(given.text, _LONGEST_TEXT, wanted.name)
    if len(given.items) > _MOST_ITEMS:
        raise ValueError(f"the field {wanted.name!r} has {len(given.items)} items, more than {_MOST_ITEMS}")
    items = [_line(one, _LONGEST_ITEM, wanted.name) for one in given.items]
    return tuple({one.casefold(): one for one in reversed(items)}.values())[::-1]


def _line(text: str, most: int, name: str) -> str:
    """Refuse what is no line of words, or what a prompt or a context would not let pass as somebody's words."""
    one = " ".join(text.split())
    if not re.search(r"\w", one):
        raise ValueError(f"the field {name!r} says nothing")
    if len(one) > most:
        raise ValueError(f"the field {name!r} has {len(one)} characters, more than {most}")
    if len(text.splitlines()) > 1 or hides(one):
        raise ValueError(f"the field {name!r} is no plain line")
    if as_line(one) != one or _FENCE.search(one):
        raise ValueError(f"the field {name!r} holds what looks like a mark")
    return one

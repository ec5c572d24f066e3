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
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from memgraph_engine.blocks.fields import Contents
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
MOST_ITEMS = 12
_FENCE = re.compile(r"<\s*/?\s*data\b", re.IGNORECASE)


class Shown(NamedTuple):
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

    role: ClassVar[str] = "describing"

    engine: Engine
    scope: str
    schema: Schema
    spent: Spent
    _known: dict[Sequence[Any], Written | None] = field(default_factory=dict)
    _done: set[tuple[str, str]] = field(default_factory=set)
    """What was described: a block's id, and what it is made from."""

    def describe(self, made: Tree, stored: Mapping[str, Stored], tell: Callable[[str], None]) -> None:
        """Describe the blocks of a tree that nobody has described, and give all the vectors that they are to have.

        `stored` are the blocks as they were read before the tree was written; `tell` is called before each round of
        requests.
        """
        self._mean(made, stored)
        self._ask_about(self._lacking(made.nodes, stored, self._widest(made)), tell)

    def counts(self, made: Tree, stored: Mapping[str, Stored]) -> tuple[int, int, int]:
        """Return how many blocks were described in this run and before it, and how many more could have been."""
        done = sum(map(self._is_done, made.nodes))
        before = sum(self._is_described(node, stored) and not self._is_done(node) for node in made.nodes)
        lacking = sum(not self._is_done(node) for node in self._lacking(made.nodes, stored, self._widest(made)))
        return done, before, lacking

    def _is_done(self, node: Node) -> bool:
        return (node.id, node.made_from) in self._done

    def _is_described(self, node: Node, stored: Mapping[str, Stored]) -> bool:
        return kept(node, stored) and stored[node.id].described_as == self.schema.key

    def _widest(self, made: Tree) -> int:
        """Return how many notes a block to describe has at most, as one that a question finds."""
        return max(LONGEST, isqrt(sum(root.notes for root in made.roots)))

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
        for groups in self.engine.roles.rounds(self.role, asked, self._entry):
            if self.spent.beyond:
                break
            tell("describe")
            self._ask(groups)
            self._store(nodes, shown)

    def _shown(self, nodes: Sequence[Node]) -> Mapping[str, Sequence[Any]]:
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

    def _entry(self, shown: Sequence[Any]) -> Entry:
        return {"notes": [note.entry(at) for at, note in enumerate(shown, 1)]}

    def _read(self, _shown: Sequence[Any], item: Any) -> Described:
        """Return what a model wrote of what it was shown; raises ValueError."""
        return checked(self.schema, item.fields)

    def _shape(self) -> list[Entry]:
        """Return what a model is told of the fields that it writes."""
        return [{"name": one.name, "type": one.type, "meaning": one.meaning} for one in self.schema.described]

    def _ask(self, groups: Sequence[Sequence[Sequence[Any]]]) -> None:
        some = [one for group in groups for one in group]
        self._known |= dict.fromkeys(some)
        for group, answer in self.engine.roles.about(self.role, some, self._entry, self.spent, fields=self._shape()):
            for one in answer.items:
                asked = group[one.block - 1]
                try:
                    self._known[asked] = Written(self._read(asked, one), answer.model)
                except ValueError as fault:
                    self._refused(answer.model, f"described a block otherwise than it was asked to: {fault}")

    def _refused(self, model: str, what: str) -> None:
        """Count an answer that can't be used."""
        why = Unusable(f"{model} {what}.", NOTHING)
        why.model = model
        self.spent.failed("Describing", why)

    def _store(self, nodes: Sequence[Node], shown: Mapping[str, Sequence[Any]]) -> None:
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

    def _mean(self, made: Tree, stored: Mapping[str, Stored]) -> None:
        """Give the mean of their notes' vectors back to blocks that have another."""
        rows: list[Row] = [
            {"id": node.id, "made_from": node.made_from, "vector": vector}
            for node, vector in zip(made.nodes, made.vectors, strict=True)
            if kept(node, stored) and stored[node.id].embedded_as
        ]
        block_graph.embed(self.engine.db, self.scope, "", rows)

    @cached_property
    def _language(self) -> str:
        state = scopes.state(self.engine.db, self.scope)
        return state.language if state else DEFAULT_LANGUAGE


def kept(node: Node, stored: Mapping[str, Stored]) -> bool:
    """Tell whether a block is stored as it is: with the same notes, of which none has changed."""
    known = stored.get(node.id)
    return known is not None and known.made_from == node.made_from


def _block_notes(notes: Sequence[Note], language: str, room: int) -> tuple[Shown, ...]:
    """Return of a block's notes, the nearest to its middle first, as many as have room, at least one; oldest first."""
    chosen, taken = list[Shown](), 0
    for note in notes:
        one = Shown(shown_text(note, language), note.said_at, note.session)
        taken += tokens(json.dumps(one.entry(0), ensure_ascii=False))
        if chosen and taken > room:
            break
        chosen.append(one)
    return tuple(sorted(chosen, key=lambda one: one.said_at))


def shown_text(note: Note, language: str) -> str:
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
        return line(given.text, _LONGEST_TEXT, wanted.name)
    if len(given.items) > MOST_ITEMS:
        raise ValueError(f"the field {wanted.name!r} has {len(given.items)} items, more than {MOST_ITEMS}")
    items = [line(one, _LONGEST_ITEM, wanted.name) for one in given.items]
    return tuple({one.casefold(): one for one in reversed(items)}.values())[::-1]


def line(text: str, most: int, name: str) -> str:
    """Return a text in one line.

    Raises ValueError for no line of words, and for what a prompt or a context would not let pass as somebody's words.
    """
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

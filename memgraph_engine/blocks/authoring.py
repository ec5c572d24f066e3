"""The paper's own way, with a chat model (LightMem, sections 3.3, 3.4): leaves are extracted, parents merged of two.

A unit of which an answer can't be used is cut into runs of notes, and a parent told by its notes, as without a model.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.blocks.describing import MOST_ITEMS, Describer, Shown, checked, kept, line, shown_text
from memgraph_engine.blocks.fields import fields, spoken
from memgraph_engine.blocks.linkage import Vectors, normalised
from memgraph_engine.blocks.reading import cached
from memgraph_engine.blocks.schema import Described, Schema
from memgraph_engine.blocks.tree import Leaf, Node, Placed, Tree, hashed, leaf_node, leaves, units
from memgraph_engine.graph import blocks as block_graph
from memgraph_engine.graph.blocks import BlocksState, Stored
from memgraph_engine.llm.role import Entry
from memgraph_engine.model.block import SalientNote
from memgraph_engine.model.memory import Note

if TYPE_CHECKING:
    from memgraph_engine.graph.database import Row

_UNIT = "describing-unit"
_LONGEST_FACT = 400  # characters: half more than the prompt says
_EVENT = re.compile(r"(\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?)?")
Write = Callable[[Sequence[Node], Vectors], None]
"""Stores nodes with the means (n, d) of their notes' vectors."""
Draft = tuple[Sequence[int], Described]
"""A block that a model made of a unit: the places of its notes in that, and what it tells."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a tree is built of: as of a state that was `seen`, the notes with vectors (n, d) and stamps, the blocks."""

    seen: BlocksState
    notes: list[Placed]
    vectors: "NDArray[np.float32]"
    stamps: Mapping[str, int]
    stored: Mapping[str, Stored]


class _Unit(NamedTuple):
    """The places of a run of notes, and a hash of their versions and the schema."""

    source: str
    places: Sequence[int]


@dataclass
class Author(Describer):
    """Writes blocks of one scope as the paper does; of each unit and each pair it is asked once in a run."""

    role: ClassVar[str] = "describing-merge"
    _tried: dict[str, bool] = field(default_factory=dict)
    """The units that were asked about, and whether they gave nothing."""
    _nodes: dict[str, Node] = field(default_factory=dict)

    def leaves(self, found: Found, write: Write, tell: Callable[[str], None]) -> list[Leaf]:
        """Return the leaves of a scope's notes: those that a model made of a unit, now or before, else runs of notes.

        What it makes now is stored at once.
        """
        place = {note.id: at for at, note in enumerate(found.notes)}
        before = defaultdict[str, list[Leaf]](list)
        for one in found.stored.values():
            if one.source and one.made_from:
                places = [place[note] for note in one.own if note in place]
                before[one.source].append(Leaf(places, one.source.partition(" ")[0]))
        known = {some[0].source: some for key, some in before.items() if len(some) == int(key.partition(" ")[2])}
        made, waiting = list[Leaf](), list[_Unit]()
        for run in units(found.notes):
            versions = sorted(f"{found.notes[at].id} {found.notes[at].revision}" for at in run)
            unit = _Unit(hashed(self.schema.key, str(self.schema.most), *versions), run)
            made += known.get(unit.source, [])
            waiting += [] if unit.source in known else [unit]
        new = self._extracted(waiting, found, write, tell)
        for unit in waiting:
            made += new[unit.source] if unit.source in new else self._local(unit.places, found)
        return made

    def speak(
        self, nodes: Sequence[Node], means: Vectors, stored: Mapping[str, Stored], tell: Callable[[str], None]
    ) -> Vectors:
        """Return the vectors (n, d) of what blocks tell, whoever describes them; it is stored, and made once.

        Where a block was removed meanwhile, it is the mean (n, d) of its notes'.
        """
        self._nodes |= {node.id: node for node in nodes}
        lacking = self._lacking(nodes, stored, max(node.notes for node in nodes))
        self._ask_about([node for node in lacking if node.level], tell)  # leaves are described as they are made
        self._embed([node for node in nodes if self._is_done(node) or not self._is_embedded(node, stored)])
        dimensions, ids = self.engine.embedder.dimensions, [node.id for node in nodes]
        found = block_graph.vectors(self.engine.db, self.scope, ids, dimensions)
        return np.stack([found.get(node.id, mean) for node, mean in zip(nodes, means, strict=True)])

    # ---- leaves -----------------------------------------------------------------------------

    def _local(self, places: Sequence[int], found: Found) -> list[Leaf]:
        unit = normalised(found.vectors[list(places)])
        runs = leaves([found.notes[at] for at in places], unit, self.schema.most)
        return [Leaf([places[at] for at in run.places]) for run in runs]

    def _extracted(
        self, waiting: Sequence[_Unit], found: Found, write: Write, tell: Callable[[str], None]
    ) -> dict[str, list[Leaf]]:
        """Return by their sources the leaves of units that a model read now."""
        made: dict[str, list[Leaf]] = {source: [] for source, empty in self._tried.items() if empty}
        if not (self.schema.described and self.engine.roles.has("describing")):
            return made
        asked = self._said([unit for unit in waiting if unit.source not in self._tried], found)
        given = {"fields": self._shape(), "most": self.schema.most}
        for groups in self.engine.roles.rounds(_UNIT, asked, self._unit_entry):
            if self.spent.beyond:
                break
            tell("describe")
            some = [one for group in groups for one in group]
            self._tried |= {unit.source: False for unit, _ in some}
            for group, answer in self.engine.roles.about(_UNIT, some, self._unit_entry, self.spent, **given):
                for item in answer.items:
                    unit, notes = group[item.unit - 1]
                    try:
                        drafts = extracted(self.schema, item.blocks, notes)
                    except ValueError as fault:
                        self._refused(answer.model, f"made blocks of notes otherwise than it was asked to: {fault}")
                        continue
                    self._tried[unit.source] = not drafts
                    if not drafts or self._stored(unit, drafts, answer.model, found, write):
                        made[unit.source] = self._of(unit, drafts)
        return made

    def _said(self, some: Sequence[_Unit], found: Found) -> list[tuple[_Unit, list[Note]]]:
        """Return units with their notes; one of which a note has changed since is left out."""
        stamps = [[found.stamps[found.notes[at].id] for at in unit.places] for unit in some]
        read = cached(self.engine, [self.scope], stamps)
        self.engine.notes.complete(self.engine.db, [self.scope], [*read.values()])
        return [
            (unit, [read[stamp].note() for stamp in own])
            for unit, own in zip(some, stamps, strict=True)
            if all(stamp in read and read[stamp].whole for stamp in own)
        ]

    def _unit_entry(self, asked: tuple[_Unit, Sequence[Note]]) -> Entry:
        return super()._entry([Shown(shown_text(one, self._language), one.said_at, one.session) for one in asked[1]])

    def _of(self, unit: _Unit, drafts: Sequence[Draft]) -> list[Leaf]:
        return [Leaf([unit.places[at] for at in places], unit.source) for places, _ in drafts]

    def _stored(self, unit: _Unit, drafts: Sequence[Draft], model: str, found: Found, write: Write) -> bool:
        """Store what a model made of a unit, and tell whether it is: not where a note of it changed meanwhile."""
        made = self._of(unit, drafts)
        nodes = [leaf_node(self.scope, [found.notes[at] for at in leaf.places], leaf.source) for leaf in made]
        write(nodes, normalised(np.stack([normalised(found.vectors[leaf.places]).sum(axis=0) for leaf in made])))
        ids = [found.notes[at].id for at in unit.places]
        shown = [{"id": id, "stamp": found.stamps[id]} for id in ids]
        more = {"described_by": model, "source": f"{unit.source} {len(drafts)}", "shown": shown}
        rows: list[Row] = [
            {"id": node.id, "made_from": node.made_from, "described": told, **more}
            for node, (_, told) in zip(nodes, drafts, strict=True)
        ]
        if len(block_graph.describe(self.engine.db, self.scope, self.schema.key, rows)) < len(rows):
            return False
        self._done |= {(node.id, node.made_from) for node in nodes}
        return True

    def _is_embedded(self, node: Node, stored: Mapping[str, Stored]) -> bool:
        return kept(node, stored) and stored[node.id].embedded_as == self.schema.key

    def _widest(self, made: Tree) -> int:
        return sum(root.notes for root in made.roots)

    def _embed(self, nodes: Sequence[Node]) -> None:
        """Give blocks the vectors of what they tell; one that tells nothing keeps the mean."""
        some = {node.id: node.made_from for node in nodes}
        told = {id: fields(self.schema, one, self._language) for id, one in self._contents(nodes).items()}
        texts = {id: text for id, one in told.items() if (text := spoken(self.schema, one))}
        vectors = self.engine.embedder.embed_documents([*texts.values()])
        rows: list[Row] = [
            {"id": id, "made_from": some[id], "vector": vector} for id, vector in zip(texts, vectors, strict=True)
        ]
        block_graph.embed(self.engine.db, self.scope, self.schema.key, rows)

    # ---- parents ----------------------------------------------------------------------------

    def _shown(self, nodes: Sequence[Node]) -> dict[str, tuple[tuple[str, tuple[SalientNote, ...]], ...]]:
        """Return by the ids of blocks the fields and facts of the two that each holds; not of one that isn't whole."""
        held = self._contents([*nodes, *(self._nodes[part] for node in nodes for part in node.parts)])
        told = {id: fields(self.schema, one, self._language) for id, one in held.items() if one.held.whole}
        whole = [node for node in nodes if told.keys() >= {node.id, *node.parts}]
        return {node.id: tuple(self._part(told[part]) for part in node.parts) for node in whole}

    def _part(self, told: Mapping[str, Any]) -> tuple[str, tuple[SalientNote, ...]]:
        own = {one.name: told[one.name] for one in self.schema.described}
        facts = next((told[one.name] for one in self.schema.written if one.type == "salient"), ())
        return json.dumps(own, ensure_ascii=False), facts

    def _shape(self) -> list[Entry]:
        every = (one.model_dump(include={"name", "type", "meaning", "merge"}) for one in self.schema.written)
        return [{key: value for key, value in one.items() if value} for one in every]

    def _entry(self, shown: Sequence[Any]) -> Entry:
        number, parts = 0, list[Entry]()
        for told, facts in shown:
            salient = [
                {"fact": at, "text": one.text, "event": one.event_time, "said": f"{one.note_time:%Y-%m-%d}"}
                for at, one in enumerate(facts, number + 1)
            ]
            number += len(salient)
            parts.append({"fields": json.loads(told), "salient": salient})
        return {"parts": parts}

    def _read(self, shown: Sequence[Any], item: Any) -> Described:
        return merged(self.schema, item, [facts for _, facts in shown])


def extracted(schema: Schema, blocks: Sequence[Any], notes: Sequence[Note]) -> list[Draft]:
    """Return the blocks that a model made of a unit's notes; a note that several cite is of the first.

    Raises ValueError where they are not what was asked for, in none of their words.
    """
    if len(blocks) > schema.most:
        raise ValueError(f"it made {len(blocks)} blocks of a unit, more than {schema.most}")
    found, taken = list[Draft](), set[int]()
    for block in blocks:
        cited = {*block.notes, *(number for one in block.salient for number in one.notes)}
        if strange := sorted(cited - {*range(1, len(notes) + 1)}):
            raise ValueError(f"a block cites the note {strange[0]}, and there are {len(notes)}")
        if not (own := sorted({number - 1 for number in cited} - taken)):
            raise ValueError("a block cites no note of its own")
        if not all(one.notes for one in block.salient):
            raise ValueError("a fact cites no note")
        if not all(_EVENT.fullmatch(one.event_time) for one in block.salient):
            raise ValueError("the time of a fact is not YYYY, YYYY-MM or YYYY-MM-DD")
        taken |= {*own}
        of = [(one, [notes[number - 1] for number in sorted({*one.notes})]) for one in block.salient]
        facts = [(one.text, one.event_time, max(each.said_at for each in some), [each.id for each in some])
                 for one, some in of]  # fmt: skip
        found.append((own, _told(schema, block.fields, facts)))
    return found


def merged(schema: Schema, block: Any, parts: Sequence[Sequence[SalientNote]]) -> Described:
    """Return what a model wrote of a block, by the facts of its two parts; times and notes are those of what it keeps.

    Raises ValueError where it is not what was asked for, or keeps nothing of a part, in none of its words.
    """
    shown = [(number, one) for number, part in enumerate(parts, 1) for one in part]
    facts, held = list[tuple[str, str, Any, Sequence[str]]](), set[int]()
    for one in block.salient:
        if not one.salient or not {*one.salient} <= {*range(1, len(shown) + 1)}:
            raise ValueError("a fact keeps none of those that were shown")
        held |= {shown[number - 1][0] for number in one.salient}
        of = sorted((shown[number - 1][1] for number in {*one.salient}), key=lambda each: each.note_time)
        event = next((each.event_time for each in reversed(of) if each.event_time), "")
        facts.append((one.text, event, of[-1].note_time, [note for each in of for note in each.notes]))
    if lost := sorted({number for number, _ in shown} - held):
        raise ValueError(f"it keeps no fact of part {lost[0]}")
    return _told(schema, block.fields, facts)


def _told(schema: Schema, given: Sequence[Any], facts: Sequence[tuple[str, str, Any, Sequence[str]]]) -> Described:
    """Return the fields that a model wrote, by name, and its facts, none twice, where the schema has such a field."""
    if len(facts) > MOST_ITEMS:
        raise ValueError(f"it has {len(facts)} facts, more than {MOST_ITEMS}")
    once: dict[tuple[str, str], SalientNote] = {}
    for text, event, said, notes in facts:
        one = SalientNote(line(text, _LONGEST_FACT, "salient"), event, said, tuple(dict.fromkeys(notes)))
        same = once.setdefault((one.text.casefold(), event), one)
        every = tuple(dict.fromkeys((*same.notes, *one.notes)))
        once[one.text.casefold(), event] = SalientNote(same.text, event, max(same.note_time, said), every)
    salient = {one.name: tuple(once.values()) for one in schema.written if one.type == "salient"}
    return {**checked(schema, given), **salient}

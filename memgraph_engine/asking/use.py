"""Count what readers were shown."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from memgraph_engine.asking.write_behind import WriteBehind
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import usage
from memgraph_engine.lifecycle import utility
from memgraph_engine.model.memory import Note
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.usage import Usage

Shown = tuple[Note, datetime]
"""A note, and when it was shown."""


class Recorder(WriteBehind[Shown]):
    """Counts what readers were shown, where anything asks for it (the setting `use.record`)."""

    lost = "The use of {} is not counted"

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine

    def shown(self, reader: Scope, notes: Iterable[Note]) -> None:
        """Count that a reader was shown some notes."""
        if self._engine.counts_use:
            now = self._engine.now()
            self._came(reader, [(note, now) for note in notes])

    def _write(self, reader: Scope, waiting: Sequence[Shown]) -> None:
        times, last = Counter(note.id for note, _ in waiting), {note.id: at for note, at in waiting}
        policies = self._engine.policies
        # as it was when it was shown first
        fresh = {note.id: utility.fresh(policies.known(note.policy), note) for note, _ in reversed(waiting)}

        def changed(note: str, before: Usage) -> Usage:
            return utility.shown(before, last[note], times[note])

        usage.change(self._engine.db, reader.name, [one.name for one in reader.readable], fresh, changed)

"""Count what readers were shown."""

from collections.abc import Iterable
from datetime import datetime

from memgraph_engine.asking.write_behind import WriteBehind
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import usage
from memgraph_engine.lifecycle import utility
from memgraph_engine.model.memory import Note
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.usage import Usage

_Shown = dict[str, tuple[Usage, int, datetime]]


class Recorder(WriteBehind[_Shown]):
    """Counts what readers were shown, where anything asks for it (the setting `use.record`)."""

    lost = "The use of {} is not counted"

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine

    def shown(self, reader: Scope, notes: Iterable[Note]) -> None:
        """Count that a reader was shown some notes."""
        if not self._engine.counts_use:
            return
        at, policies = self._engine.now(), self._engine.policies

        def put(own: _Shown) -> int:
            number = 0
            for note in notes:
                start, times, _ = own.get(note.id) or (utility.fresh(policies.known(note.policy), note), 0, at)
                own[note.id] = start, times + 1, at
                number += 1
            return number

        self._came(reader, put)

    def _none(self) -> _Shown:
        return {}

    def _write(self, reader: Scope, waiting: _Shown) -> None:
        def changed(note: str, before: Usage) -> Usage:
            _, times, at = waiting[note]
            return utility.shown(before, at, times)

        fresh = {note: start for note, (start, *_) in waiting.items()}
        usage.change(self._engine.db, reader.name, [one.name for one in reader.readable], fresh, changed)

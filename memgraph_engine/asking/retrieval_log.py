"""Record which notes were given to whom (the setting `audit.retrievals`)."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

from memgraph_engine.asking.write_behind import WriteBehind
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import erasures, retrievals
from memgraph_engine.graph.database import SKEW, Row, Runner
from memgraph_engine.language.terms import DEFAULT_LANGUAGE
from memgraph_engine.model.marker import seen
from memgraph_engine.model.memory import NEVER, UNKNOWN_PAST, Note
from memgraph_engine.model.scope import Scope


class Log(WriteBehind[Row]):
    """Records the calls that gave notes to readers.

    What was asked before an erasure is not written behind it: not a word of it, and nothing where all of the reader's
    memory was erased.
    """

    lost = "What {} was given is not recorded"

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self._on = engine.settings.audit.retrievals

    def given(self, reader: Scope, call: str, question: str, notes: Iterable[Note], asked: Mapping[str, Any]) -> None:
        """Record that a call gave a reader some notes, if any; `asked` may hold the `agent` and the `session`."""
        if not self._on:
            return
        told = [{"id": note.id, "recorded_at": note.recorded_at} for note in notes]
        if not told:
            return
        names = {name: asked.get(name) or "" for name in ("agent", "session")}
        properties = {"call": call, "at": self._engine.now(), **names}
        words = seen(question) if self._on == "text" else None  # an erasure looks for words in it
        row = {"id": uuid4().hex, "properties": properties, "notes": told, "question": words}
        self._came(reader, [row])

    def _write(self, reader: Scope, waiting: Sequence[Row]) -> None:
        language = self._engine.settings.language or DEFAULT_LANGUAGE
        retrievals.write(self._engine.db, reader, language, partial(_left, reader, waiting))


def _left(reader: Scope, rows: Sequence[Row], tx: Runner) -> list[Row]:
    """Return what is left of rows by the erasures of what the reader reads.

    Clocks of clients differ: a question of up to SKEW behind the end of an erasure may be of before it.
    """
    since = min(row["properties"]["at"] for row in rows) - SKEW
    own, *others = (erasures.lately(tx, scope, since) for scope in reader.readable)
    whole = max((one.begun for one in own if one.everything), default=UNKNOWN_PAST)
    some = max((one.ended or NEVER - SKEW for each in (own, *others) for one in each), default=UNKNOWN_PAST) + SKEW
    left = [row for row in rows if row["properties"]["at"] > whole]
    return [row if row["properties"]["at"] > some else _wordless(row) for row in left]


def _wordless(row: Row) -> Row:
    """Return a row without what may say something: the question, and what the session is called."""
    return {**row, "question": None, "properties": {**row["properties"], "session": ""}}

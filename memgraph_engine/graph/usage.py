"""How readers have used notes. It has no version and no edges: no write waits for it, and no undo changes it."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from memgraph_engine.graph.database import Database, Runner
from memgraph_engine.graph.rows import made
from memgraph_engine.model.usage import Usage

_ROWS = 1000  # nodes in one transaction


@dataclass(frozen=True, slots=True)
class Weighed:
    """What is weighed of a note beside its words.

    Its class, when it was created, whether a `message` tells it, its `usage`, None where it was never counted, and how
    many sources more say the same; a summary has none of its own.
    """

    policy: str
    created: datetime
    message: bool
    usage: Usage | None
    restated: int = 0


def weighed(tx: Runner, reader: str, scopes: Sequence[str], ids: Sequence[str]) -> dict[str, Weighed]:
    """Return what a search weighs of notes of the scopes that a reader reads, by their ids."""
    rows = tx.run("usage/pool", scope=reader, scopes=list(scopes), ids=list(ids)) if ids else []
    return {row["id"]: made(Weighed, row) for row in rows}


def prunable(db: Database, scope: str, before: datetime) -> Iterator[tuple[str, Weighed]]:
    """Yield the active notes of a scope that were created before, and are not pinned, by their ids."""
    return ((row["id"], made(Weighed, row)) for row in db.stream("usage/prunable", scope=scope, before=before))


def of_readers(db: Database, readers: Sequence[str]) -> dict[str, list[Usage]]:
    """Return how each of some readers has used notes, by their ids."""
    found: defaultdict[str, list[Usage]] = defaultdict(list)
    for row in db.stream("usage/readers", scopes=list(readers)):
        found[row["id"]].append(made(Usage, row["usage"]))
    return found


def change(
    db: Database, reader: str, scopes: Sequence[str], fresh: Mapping[str, Usage], changed: Callable[[str, Usage], Usage]
) -> dict[str, tuple[Usage, Usage]]:
    """Change how a reader has used some notes of the scopes that it reads; return what was before, and what is now.

    What was never counted begins as `fresh`. A note that can't be read any more is left out, and so is a reader without
    a memory of his own. If the answer of the server is lost, a change may be made twice.
    """

    def work(tx: Runner) -> dict[str, tuple[Usage, Usage]]:
        rows = tx.run("usage/lock", scope=reader, scopes=list(scopes), ids=sorted(fresh))
        usages = ((row["id"], row["usage"]) for row in rows)
        before = {id: fresh[id] if one["utility"] is None else made(Usage, one) for id, one in usages}
        after = {note: changed(note, usage) for note, usage in before.items()}
        tx.run("usage/write", scope=reader, rows=[{"id": id, "properties": asdict(one)} for id, one in after.items()])
        return {note: (before[note], after[note]) for note in before}

    return db.write(work) if fresh else {}


def forget_all(db: Database, scope: str, erasure: str, begun: datetime) -> None:
    """Forget how others used the notes that an erasure of everything has set aside, when it was begun."""
    db.commit("usage/forget_all", scope=scope, erasure=erasure, begun=begun, rows=_ROWS)

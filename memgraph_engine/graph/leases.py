"""Leases: one holder at a time, among all processes of all machines, by the server's clock."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from uuid import uuid4

from memgraph_engine.errors import StoreError
from memgraph_engine.graph.database import Database

_SECONDS = 10.0  # for which a lease outlives its holder
_WAIT = 0.1


def acquire(db: Database, name: str, holder: str, *, seconds: float) -> bool:
    """Take or extend a lease; False while another holds it."""
    return bool(
        db.write(lambda tx: tx.run("leases/acquire", name=name, holder=holder, milliseconds=int(seconds * 1000)))
    )


def release(db: Database, name: str, holder: str) -> None:
    """Give a lease back; nothing happens if it is held no more."""
    db.write(lambda tx: tx.run("leases/release", name=name, holder=holder))


@contextmanager
def held(db: Database, name: str) -> Iterator[None]:
    """Wait for a lease and hold it for as long as the block takes; 10 seconds after a holder's death it is free."""
    holder = uuid4().hex
    while not acquire(db, name, holder, seconds=_SECONDS):
        time.sleep(_WAIT)
    done = Event()
    extending = Thread(target=_extend, args=(db, name, holder, done), name="memgraph-engine-lease", daemon=True)
    extending.start()
    try:
        yield
    finally:
        done.set()
        extending.join()
        release(db, name, holder)


def _extend(db: Database, name: str, holder: str, done: Event) -> None:
    while not done.wait(_SECONDS / 3):
        try:
            acquire(db, name, holder, seconds=_SECONDS)
        except StoreError:  # a lease only saves work: the write itself will tell what is wrong
            return

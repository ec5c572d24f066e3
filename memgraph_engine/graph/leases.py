"""Leases: one holder at a time, among all processes of all machines, by the server's clock.

A holder extends its lease as long as it works, so a lease is short: 10 seconds after a holder's death it is free.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from math import inf
from threading import Event, Thread
from uuid import uuid4

from memgraph_engine.errors import StoreError, WriteConflict
from memgraph_engine.graph.database import Database, Runner
from memgraph_engine.graph.rows import made

_SECONDS = 10.0  # for which a lease outlives its holder
_WAIT = 0.1


class Overtaken(Exception):
    """Another run, a writer or an erasure of everything came since a run read its scope; nothing was written."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease that was not given back: until when it is held, and whether that has `lapsed` by the server's clock."""

    name: str
    until: datetime
    lapsed: bool


def begun(tx: Runner, prefix: str) -> list[Lease]:
    """Return the leases that are held, or whose holders are gone, by the beginning of their names."""
    rows = tx.run("leases/list", prefix=prefix)
    return [made(Lease, row) for row in rows]


def acquire(db: Database, name: str, holder: str, *, seconds: float) -> bool:
    """Take or extend a lease; False while another holds it."""
    return bool(db.commit("leases/acquire", name=name, holder=holder, milliseconds=int(seconds * 1000)))


def release(db: Database, name: str, holder: str) -> None:
    """Give a lease back; nothing happens if it is held no more."""
    db.commit("leases/release", name=name, holder=holder)


@contextmanager
def held(
    db: Database, name: str, *, patience: float = inf, waiting: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Wait for a lease and hold it for as long as the block takes.

    While it waits it calls `waiting`, which may end that by raising. Raises WriteConflict after so many seconds.
    """
    holder, begun = uuid4().hex, time.monotonic()
    while not acquire(db, name, holder, seconds=_SECONDS):
        if time.monotonic() - begun > patience:
            raise WriteConflict(f"Another process has held the lease {name!r} for {patience:.0f} s. Try again later.")
        waiting()
        time.sleep(_WAIT)
    with _extended(db, name, holder):
        yield


@contextmanager
def held_if_free(db: Database, name: str) -> Iterator[bool]:
    """Hold a lease for as long as the block takes, if nobody else does; yields whether it is held."""
    holder = uuid4().hex
    if not acquire(db, name, holder, seconds=_SECONDS):
        yield False
        return
    with _extended(db, name, holder):
        yield True


@contextmanager
def _extended(db: Database, name: str, holder: str) -> Iterator[None]:
    """Extend a lease until the block ends, and give it back."""
    done = Event()

    def extend() -> None:
        while not done.wait(_SECONDS / 3):
            with suppress(StoreError):  # a lease only saves work: the write itself will tell what is wrong
                acquire(db, name, holder, seconds=_SECONDS)

    extending = Thread(target=extend, name="memgraph-engine-lease", daemon=True)
    extending.start()
    try:
        yield
    finally:
        done.set()
        extending.join()
        release(db, name, holder)

"""What a process has for itself: a child that it forks begins with it anew, and leaves its parent's alone.

A child has all of its parent's memory and open files, and of its threads the one that forked. So whatever is a
connection, a lock, a thread, or waits to be written by one, is made again in it, here and nowhere else.
"""

import os
from collections.abc import Callable
from ctypes import py_object, pythonapi
from itertools import count
from threading import Lock
from typing import TypeVar
from weakref import ref

T = TypeVar("T")

_begun: dict[int, Callable[[], None]] = {}
_number = count()


def begun(owner: T, begin: Callable[[T], object]) -> T:
    """Call `begin` with the owner, now and in each child that this process forks while the owner is there; return it.

    >>> class Counts:
    ...     def __init__(self):
    ...         begun(self, Counts.begin)
    ...     def begin(self):
    ...         self.reads, self.lock = 0, Lock()
    >>> Counts().reads
    0
    """
    place = next(_number)
    weak = ref(owner, lambda _: _begun.pop(place, None))

    def again() -> None:
        if (one := weak()) is not None:
            begin(one)

    begin(owner)
    _begun[place] = again
    return owner


def lock() -> Lock:
    """Return a lock that no child begins with as held by one of its parent's threads."""
    return begun(Lock(), lambda one: one._at_fork_reinit())  # type: ignore[attr-defined]  # as the library's own are


def leave(*things: object) -> None:
    """Never let go of what a child has of its parent's, not at its end either.

    A client would say goodbye on a connection that its parent uses, and a model wait for threads that are not there.
    """
    for thing in things:
        pythonapi.Py_IncRef(py_object(thing))


def _begin_again() -> None:
    for again in list(_begun.values()):
        again()


if hasattr(os, "register_at_fork"):  # else there are no forks
    os.register_at_fork(after_in_child=_begin_again)

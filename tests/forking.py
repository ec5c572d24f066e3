"""As a program: a client whose children ask as other users, at once and beside it, on the database of the run.

`python -m tests.forking` prints, as one line of JSON, what it and its children were given that was not theirs.
"""

import gc
import json
import os
import sys
import threading
import time
from contextlib import suppress
from itertools import islice

import psutil

from memgraph_engine import Memory, Settings

USERS = [f"user{n}" for n in range(6)]
SAID = "The word of {} is a secret, the buoy is green."
LOCK = type(threading.Lock())


def wrong(memory, user, times):
    """Ask as a user, so often; return what is not their own."""
    told = []
    for n in range(times):
        hits = memory.search(f"What is the word of {user}, asked for the {n}th time?", user_id=user)
        told += [hit.note.text for hit in hits if hit.note.text != SAID.format(user)] or ([] if hits else ["nothing"])
    return told


def in_child(work):
    """Fork a child that does some work; returns its pid and where what it returns can be read."""
    reads, writes = os.pipe()
    if not (pid := os.fork()):
        said = ["it ended before it was done"]
        try:
            said = work()
        except BaseException as error:  # noqa: BLE001  the parent is told
            said = [repr(error)]
        finally:
            os.write(writes, json.dumps(said).encode())
            os._exit(0)
    os.close(writes)
    return pid, reads


def said_by(child):
    pid, reads = child
    with os.fdopen(reads) as pipe:
        said = json.loads(pipe.read())
    os.waitpid(pid, 0)
    return said


def sockets():
    """The ports of this process's own ends of connections."""
    return [one.laddr.port for one in psutil.Process().net_connections("tcp") if one.status == "ESTABLISHED"]


def many(memory):
    """Children ask, write and close, at once with the threads of their parent; twice as many as there are users."""
    over, told, asking = threading.Event(), [], threading.Barrier(4)

    def asks(user):
        for _ in range(3):  # at once, so that none opens a connection later, when it forks
            asking.wait()
            told.extend(wrong(memory, user, 1))
        asking.wait()
        while not over.is_set():
            told.extend(wrong(memory, user, 1))

    def works(user):
        before = sockets()
        found = wrong(memory, user, 6)
        memory.add(f"A child of {user} was here.", user_id=f"{user}'s")
        memory.close()
        return found + [f"a connection of its parent, {port}" for port in before]

    threads = [threading.Thread(target=asks, args=(user,)) for user in USERS[:3]]
    for one in threads:
        one.start()
    for _ in range(4):
        asking.wait()
    children = [in_child(lambda user=user: works(user)) for user in USERS * 2]
    told += [one for child in children for one in said_by(child)]
    over.set()
    for one in threads:
        one.join()
    return told + wrong(memory, USERS[0], 3)


def halfway(memory):
    """A child goes on with what its parent had begun to read, which it can't; the parent can."""
    rows = memory.engine.db.stream("copy/nodes")
    first = next(rows)

    def goes_on():
        with suppress(Exception):
            return [f"read {len(list(rows))} rows of its parent's"]
        return wrong(memory, USERS[1], 2)

    child = said_by(in_child(goes_on))
    rest = list(islice(rows, 2000))  # more than come at once, and not all that a run of tests has stored
    rows.close()
    return child + ([] if first and rest else ["the parent can't go on"])


def locks():
    """Each lock that an object of the package has, with whose it is."""
    for one in gc.get_objects():
        kind = type(one)
        if str(kind.__module__).startswith("memgraph_engine"):
            for name, lock in getattr(one, "__dict__", {}).items():
                if isinstance(lock, LOCK):
                    yield f"{kind.__name__}.{name}", lock


def taken():
    """Take each lock that nobody has."""
    return [(name, lock) for name, lock in locks() if lock.acquire(blocking=False)]


def held(memory):
    """A child begins while threads of its parent hold every lock that there is."""
    until, mine = time.monotonic() + 60, taken()
    while len(mine) < len(list(locks())) and time.monotonic() < until:
        for _, lock in mine:  # what writes in the background has one, and may wait for another
            lock.release()
        mine = taken()

    def works():
        left = [f"{name} is held" for name, lock in locks() if lock.locked()]
        return left or wrong(memory, USERS[2], 2)

    child = in_child(works)
    for _, lock in mine:
        lock.release()
    return said_by(child) + ([] if len(mine) > 8 else [f"only {mine} were held"])


def counted(memory):
    """What waits to be written is written once, by whose it is."""
    memory.flush()
    before = len(memory.audit.retrievals(user_id=USERS[3]))
    wrong(memory, USERS[3], 3)
    children = [in_child(lambda: wrong(memory, USERS[3], 2) or memory.flush() or []) for _ in range(4)]
    told = [one for child in children for one in said_by(child)]
    memory.flush()
    number = len(memory.audit.retrievals(user_id=USERS[3])) - before
    return told + ([] if number == 3 + 4 * 2 else [f"{number} retrievals"])


def main():
    """Fork in every way, and tell what was wrong."""
    settings = Settings.load(tenant=sys.argv[1], audit={"retrievals": "ids"}, recall={"busy": 50})
    with Memory.connect(settings=settings) as memory:
        for user in USERS:
            memory.add(SAID.format(user), user_id=user)
        print(json.dumps({work.__name__: work(memory) for work in (many, halfway, held, counted)}))


if __name__ == "__main__":
    main()

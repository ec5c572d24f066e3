"""A life of a memory that can be cut off anywhere and gone on with; as a program, clients that are killed at it.

`python -m tests.attacker` reads a job a line from stdin and answers each, when its client is gone, with a line. A
client writes down what was acknowledged, and kills itself before, within or after the n-th message that it sends to
the server.
"""

import json
import os
import random
import signal
import socket
import sys
from pathlib import Path

from memgraph_engine import Memory
from memgraph_engine.errors import NotFound, UndoRefused
from memgraph_engine.graph import leases

LINES = [
    "I live in Lisbon with my sister.",
    "Our beekeeper sold two hives to the monastery.",
    "The bakery next door burnt its bread.",
    "The beekeeper of ours sold two of the hives to the monastery.",
    "My dentist plays the cello in an orchestra.",
    "I no longer live in Lisbon with my sister, I moved to Madeira.",
    "Two yellow trams pass the lighthouse of Madeira.",
    "The ferry to Madeira leaves at noon from the old harbour.",
    "A monastery above the harbour sells honey and candles.",
    "The orchestra rehearses in the old bakery on Mondays.",
    "My sister repairs yellow trams in Lisbon.",
    "The lighthouse keeper bakes rye bread for the ferry.",
]
HOW = ("before", "within", "after")


def script(seed):
    """Return the steps of a life: every kind of write, in an order and on texts of its own."""
    chance = random.Random(seed)
    lines = chance.sample(range(len(LINES)), 10)
    middle = [("defer", lines[3:6]), ("update", lines[0], chance.randrange(99)), ("delete", lines[1]), ("topics",)]
    chance.shuffle(middle)
    undone = chance.choice([n for n, step in enumerate(middle, 1) if step[0] in ("update", "delete")])
    return [
        ("add", lines[:3]),
        *middle,
        ("process",),
        ("undo", undone),
        ("add", lines[6:10]),
        ("defer", lines[:2] + lines[9:]),  # known already
        ("topics",),
    ]


def take(memory, user, step, acknowledged):
    """Take a step, again or for the first time; returns the decision that a later step may undo."""
    kind, *given = step
    try:
        if kind in ("add", "defer"):
            talk = [
                {
                    "id": f"m{n}",
                    "text": LINES[n],
                    "speaker": "Ana",
                    "session": f"s{n % 2}",
                    "time": f"2023-05-08T12:{n:02}",
                }
                for n in given[0]
            ]
            memory.add_many(talk, user_id=user, wait=kind == "add")
        elif kind == "process":
            memory.process(user_id=user)
        elif kind == "topics":
            memory.rebuild_topics(user_id=user)
        elif kind == "update":
            note = memory.get(f"m{given[0]}", user_id=user).id  # which may hold other sources too
            return memory.update(note, f"Number {given[1]} is painted on our blue door.", user_id=user).id
        elif kind == "delete":
            return memory.delete(memory.get(f"m{given[0]}", user_id=user).id, user_id=user).id
        elif kind == "undo":
            memory.undo(acknowledged[given[0]], cascade=True, user_id=user)
    except (NotFound, UndoRefused):  # done by a client that died before it knew
        found = [one.id for one in memory.decisions(user_id=user, limit=1000) if one.kind == kind and not one.undone_by]
        if not found:
            raise
        return found[0]
    return None


def live(memory, user, seed, acknowledged, done):
    """Take the steps that were not acknowledged; `done` is told the decision of each."""
    for step in script(seed)[len(acknowledged) :]:
        acknowledged.append(take(memory, user, step, acknowledged))
        done(acknowledged[-1])


def dies_at(number, how):
    """Let this process kill itself at its n-th message to the server; returns the count of messages."""
    sent, send = [0], socket.socket.sendall

    def counted(self, data, *flags):
        sent[0] += 1
        if sent[0] == number and how == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        if sent[0] == number and how == "within":
            send(self, bytes(data)[: len(data) // 2], *flags)
            os.kill(os.getpid(), signal.SIGKILL)
        send(self, data, *flags)
        if sent[0] == number:
            os.kill(os.getpid(), signal.SIGKILL)

    socket.socket.sendall = counted
    return sent


def client(job):
    """Live as a client that dies; the number of messages is the last line of what it leaves."""
    from tests.vectors import Remembering

    with (
        Path(job["file"]).open("w", buffering=1) as file,
        Memory.connect(tenant=job["tenant"], embedder=Remembering()) as memory,
    ):
        sent = dies_at(job["number"], job["how"])
        live(memory, job["user"], job["seed"], [], lambda decision: file.write(json.dumps(decision) + "\n"))
        file.write(f"{sent[0]}\n")


def main():
    """Be the parent of clients: what they import is imported once. What a dead one held is free after a second."""
    leases._SECONDS = 1.0
    for line in sys.stdin:
        child = os.fork()
        if not child:
            client(json.loads(line))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()

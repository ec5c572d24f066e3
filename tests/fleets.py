"""What tests of a fleet write, by one process and by many, and how both memories are compared."""

import json
import os
from collections import Counter
from datetime import UTC, datetime

import numpy as np

from memgraph_engine import Memory, Settings
from memgraph_engine.testing import purge
from tests.snapshots import of_scope, snapshot

USERS = ("ana", "bo", "cy")
_TOLD = [
    "I moved to Lisbon in March.",
    "My sister Petra lives in Bolzano with her two cats.",
    "She told me about it yesterday.",
    "The boat sails to Faro on Monday, and the harbour is closed on Sundays.",
    "I no longer live in Lisbon, I moved to Porto.",
    "I moved to Lisbon in March.",
    "Thanks!",
    "The lighthouse keeper paints the northern wall every spring. " * 25,
    "We had dinner at the harbour with Petra last week.",
    "My favourite colour is green.",
    "I started to learn the cello in January.",
    "My favourite colour is blue now, not green.",
]


def records(users=USERS, rounds=1):
    """What users say in turn, each in sessions of his own."""
    return [
        (
            user,
            {
                "id": f"{user}-{number}-{turn}",
                "text": text if turn == 0 else f"{text} That was in {1990 + turn}.",
                "speaker": user.title(),
                "session": f"{number // 5}-{turn}",
                "time": f"2024-0{1 + number % 9}-1{turn}T10:00:00",
            },
        )
        for turn in range(rounds)
        for number, text in enumerate(_TOLD)
        for user in users
    ]


def file_of(folder, some):
    """Write records as JSON lines, among them one that can't be read."""
    lines = [json.dumps({**message, "user_id": user}) for user, message in some]
    path = folder / "chats.jsonl"
    path.write_text("\n".join([*lines[:5], '{"text": ', *lines[5:]]), encoding="utf-8")
    return path


def settings_of(tenant, **given):
    """Return the settings of a tenant, with small batches."""
    return Settings.load(tenant=tenant, ingest_batch=4, **given)


def whole(memory, users=USERS):
    """All that is stored of users, without what tells the moment or the order between users; and all vectors."""
    found = dict[str, object]()
    vectors = dict[str, np.ndarray]()
    for user in users:
        found[user] = snapshot(memory, user, vectors=False), _decisions(memory, user)
        vectors |= _vectors(memory, user)
    return found, vectors


def _decisions(memory, user):
    scope = f"{memory.engine.settings.tenant}/{user}"
    with memory.engine.db._session() as session:
        rows = session.run(
            f"{of_scope('Decision')} OPTIONAL MATCH (n)-[r:ABOUT]->(b) "
            "WITH n, collect(coalesce(b.id, '') + ' ' + coalesce(r.role, '')) AS about "
            "RETURN n.kind AS kind, n.version AS version, n.place AS place, about",
            scope=scope,
        ).data()
    assert rows
    return Counter((row["kind"], row["version"], row["place"], *sorted(row["about"])) for row in rows)


def _vectors(memory, user):
    scope = f"{memory.engine.settings.tenant}/{user}"
    with memory.engine.db._session() as session:
        rows = session.run(f"{of_scope('Note')} RETURN n.id AS id, properties(n) AS given", scope=scope).data()
    assert rows
    return {
        f"{row['id']} {name}": np.array(value)
        for row in rows
        for name, value in row["given"].items()
        if name.endswith("embedding") and value is not None
    }


def assert_same(one, other):
    """Assert that both memories are the same, node by node; the vectors to a millionth."""
    (nodes, vectors), (others, other_vectors) = one, other
    for user, ((found, ties), decisions) in nodes.items():
        (there, tied), decided = others[user]
        assert found == there, (user, found - there, there - found)
        assert ties == tied, (user, ties - tied, tied - ties)
        assert decisions == decided, (user, decisions - decided, decided - decisions)
    assert vectors
    assert vectors.keys() == other_vectors.keys()
    for name, vector in vectors.items():
        np.testing.assert_allclose(vector, other_vectors[name], atol=1e-6)


def noon():
    """Tell the time of what has none of its own: the same in all processes."""
    return datetime(2026, 1, 1, 12, tzinfo=UTC)


def die(_engine):
    """End the process that is asked to work."""
    os._exit(1)


def by_one_process(settings, work):
    """Let one process do it; return what is stored, which is removed again."""
    with Memory.connect(settings=settings, clock=noon) as memory:
        work(memory)
        found = whole(memory)
    purge(settings.tenant, settings=settings)
    return found

"""What other memories have kept comes over: mem0's memories, the items of LangGraph's stores, chats of any shape."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from memgraph_engine import InvalidInput, Memory, NotFound
from memgraph_engine.asking.items import ItemReader
from memgraph_engine.cli import app
from memgraph_engine.importers import import_jsonl, import_langgraph, import_mem0, values
from memgraph_engine.importers.values import Values
from memgraph_engine.integrations import mem0
from memgraph_engine.interface.whose import user_of
from memgraph_engine.model.scope import Scope
from memgraph_engine.testing import purge
from tests.snapshots import same, snapshot
from tests.test_mem0 import twin  # noqa: F401  a fixture

ANA, BEN = {"user_id": "ana"}, {"user_id": "ben"}
BAD = json.dumps({"id": "b1", "memory": "NUL \0 here", "user_id": "ana"})


def written(path, *records):
    """Write JSON lines; a text is a line as it is."""
    lines = (one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in records)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def memory_of(number, text, user="ana", **fields):
    return {
        "id": f"00000000-0000-0000-0000-{number:012}",
        "memory": text,
        "hash": "0",
        "created_at": "2024-05-01T10:00:00.123456-07:00",
        "updated_at": "2024-05-01T10:00:00.123456-07:00",
        "user_id": user,
        **fields,
    }


def texts(memory, **whose):
    return sorted(note.text for note in memory.get_all(**whose))


def state(memory, *users):
    """Return all that is stored of some users, and which decisions were made."""
    return [
        (snapshot(memory, quote(user, safe="")), [one.id for one in memory.decisions(user_id=user)]) for user in users
    ]


# ---- reading JSON -------------------------------------------------------------------------------

SOME = [{"id": str(n), "memory": 'a "q" \\ {[ ü 🛶 \n' * n, "n": [1, {"x": None}]} for n in range(5)]


@pytest.mark.parametrize("piece", [1, 2, 7, 64, 1 << 20])
@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_a_page_and_values_one_after_another_are_the_same(tmp_path, monkeypatch, piece, indent):
    monkeypatch.setattr(values, "_PIECE", piece)
    forms = [
        json.dumps(SOME, indent=indent),
        json.dumps({"count": 5, "next": None, "results": SOME}, indent=indent, ensure_ascii=False),
        "\n".join(json.dumps(one, indent=indent) for one in SOME),
        "\n".join(json.dumps({"results": SOME[n : n + 2]}, indent=indent) for n in (0, 2, 4)),
    ]
    for form in forms:
        (tmp_path / "x").write_text(form, "utf-8")
        assert [one for _, one in Values(tmp_path / "x", ["results"])] == SOME


@pytest.mark.parametrize(
    ("text", "good", "faults"),
    [
        ("", 0, {}),
        ("\n \n", 0, {}),
        ("[]", 0, {}),
        ("hello\nworld", 0, {1: "no JSON", 2: "no JSON"}),
        ('{"a":1}\n{"b":\n{"c":3}', 2, {2: "no JSON"}),
        ('[{"a":1}', 1, {1: "not closed"}),
        ('[{"a":1},\n{"b":tru},\n{"c":3}]', 2, {2: "no JSON"}),
        ('{"results":[{"a":1}\n{"b":2}]}', 1, {2: "comma"}),
        ('{"a":NaN}\n{"b":1}', 1, {1: "NaN"}),
        ('[{"a":' + "[" * 200_000 + "]" * 200_000 + '},\n{"b":1}]', 1, {1: "nested too deeply"}),
        ('{\n"a":1,\n"\\q":2\n}', 0, {3: "a name can't be read"}),
        ('{"a":"' + "x" * 1_100_000 + '"}\n{"b":\n{"c":3}', 2, {2: "no JSON"}),
        ("\ufeff" + '{"a":1}\n', 1, {}),
        (b'{"a":"\xe9"}\n{"b":1}', 1, {1: "not UTF-8"}),
        ('{"a":1}\n{"b":2}\n'.encode("utf-16"), 2, {}),
    ],
    ids=range(15),
)
def test_what_can_t_be_read_is_told_with_its_line(tmp_path, text, good, faults):
    (tmp_path / "x").write_bytes(text if isinstance(text, bytes) else text.encode())
    found = list(Values(tmp_path / "x", ["results"]))
    bad = {line: str(one) for line, one in found if isinstance(one, str)}
    assert len(found) - len(bad) == good
    assert bad.keys() == faults.keys()
    assert all(why in bad[line] for line, why in faults.items())


def test_a_value_that_is_too_long_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(values, "_LONGEST", 100)
    for form in ('{"a":"%s"}\n{"b":1}\n', '[{"a":"%s"},\n{"b":1}]'):
        (tmp_path / "x").write_text(form % ("x" * 300))
        (_, long), (line, good) = Values(tmp_path / "x")
        assert (str(long).startswith("longer"), line, good) == (True, 2, {"b": 1})


def test_an_object_over_many_lines_that_is_too_long_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(values, "_LONGEST", 100)
    monkeypatch.setattr(values, "_PIECE", 16)
    (tmp_path / "x").write_text(json.dumps({f"n{n}": "x" * 20 for n in range(20)}, indent=1) + '\n{"b": 1}')
    (_, long), (_, good) = Values(tmp_path / "x")
    assert (str(long).startswith("longer"), good) == (True, {"b": 1})


def test_a_long_file_on_one_line_is_read_in_pieces(tmp_path):
    path = tmp_path / "x"
    with path.open("w") as file:
        file.write('{"results": [')
        file.write(", ".join(json.dumps({"id": n, "memory": "x" * 1000}) for n in range(20_000)))
        file.write("]}")
    code = """if True:
        import resource, sys
        from pathlib import Path
        from memgraph_engine.importers.values import Values
        unit = 1 if sys.platform == "linux" else 1024
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit
        before = peak()
        print(sum(1 for _ in Values(Path(sys.argv[1]), ["results"])), peak() - before)
    """
    out = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True).stdout.split()
    assert out[0] == "20000"
    assert int(out[1]) < 13_000  # kB, of a file of 21,000


# ---- mem0 ---------------------------------------------------------------------------------------


def test_a_memory_of_mem0_keeps_its_id_times_and_metadata(memory, tmp_path):
    path = tmp_path / "all.json"
    one = memory_of(
        1, "Moved to Lisbon in March.", agent_id="bank", run_id="r1", actor_id="Ana", role="user",
        metadata={"place": "Porto"}, categories=["travel"], expiration_date="2999-01-01",
        updated_at="2024-06-01T00:00:00Z",
    )  # fmt: skip
    path.write_text(json.dumps({"results": [one]}))
    done = import_mem0(memory, path)
    assert (done.done.added, dict(done.users), done.faulty, done.read) == (1, {"ana": 1}, 0, path.stat().st_size)
    source = memory.source(one["id"], **ANA)
    assert (source.text, source.agent, source.session, source.speaker, source.role) == (
        "Moved to Lisbon in March.", "bank", "r1", "Ana", "user",
    )  # fmt: skip
    assert source.said_at == datetime(2024, 5, 1, 17, 0, 0, 123000, UTC)
    assert (source.tags, source.metadata["place"], source.metadata["mem0"]["updated_at"]) == (
        ("travel",), "Porto", "2024-06-01T00:00:00Z",
    )  # fmt: skip
    note = memory.get(one["id"], **ANA)
    assert note.expires_at.date().isoformat() == "2999-01-01"
    theirs = mem0.Memory(memory=memory)
    assert [found["memory"] for found in theirs.get_all(filters={**ANA, "agent_id": "bank", "run_id": "r1"})["results"]]
    assert theirs.get(f"ana:{one['id']}")["memory"] == one["memory"]


def test_what_mem0_kept_apart_stays_apart(memory, tmp_path):
    path = written(tmp_path / "x", *(memory_of(n, "I live in Lisbon.") for n in range(3)))
    assert import_mem0(memory, path).done.added == 3
    assert texts(memory, **ANA) == ["I live in Lisbon."] * 3


def test_each_memory_comes_to_the_user_whom_it_names(memory, tmp_path):
    path = written(
        tmp_path / "x",
        memory_of(1, "The code is 4711."),
        memory_of(2, "The code is 0815.", "ben"),
        memory_of(3, "The code is 1234.", None, agent_id="bank"),
        memory_of(4, "The code is 9999.", None, run_id="r1"),
        memory_of(5, "The code is 5555.", None),
    )
    done = import_mem0(memory, path)
    assert dict(done.users) == {"ana": 1, "ben": 1, "agent bank": 1, "run r1": 1}
    (fault,) = done.done.faults
    assert (fault.line, "names no user" in fault.reason) == (5, True)
    assert texts(memory, **ANA) == ["The code is 4711."]
    assert texts(memory, **BEN) == ["The code is 0815."]
    assert [one["memory"] for one in mem0.Memory(memory=memory).get_all(filters={"agent_id": "bank"})["results"]] == [
        "The code is 1234."
    ]


def test_with_a_user_only_what_is_hers_or_nobody_s_comes_and_the_rest_is_told(memory, tmp_path):
    path = written(
        tmp_path / "x",
        memory_of(1, "The code is 4711."),
        memory_of(2, "The code is 0815.", "ben"),
        memory_of(3, "The code is 1234.", None, agent_id="bank"),
        memory_of(4, "The code is 5555.", None),
    )
    done = import_mem0(memory, path, **ANA)
    assert dict(done.left) == {"of user 'ben'": 1, "of user 'agent bank'": 1}
    assert texts(memory, **ANA) == ["The code is 4711.", "The code is 5555."]
    assert [user.id for user in memory.users()] == ["ana"]


def test_importing_again_changes_nothing(memory, tmp_path):
    path = written(tmp_path / "x", *(memory_of(n, f"Fact {n} is true.", ("ana", "ben")[n % 2]) for n in range(6)))
    import_mem0(memory, path)
    memory.delete(memory_of(2, "")["id"], **ANA)
    memory.update(memory_of(4, "")["id"], "Fact 4 is false.", **ANA)
    before = state(memory, "ana", "ben")
    done = import_mem0(memory, path)
    assert state(memory, "ana", "ben") == before
    assert (done.done.repeats, done.done.added, done.done.updated, done.faulty) == (6, 0, 0, 0)


def test_what_mem0_has_changed_since_is_updated_and_what_was_changed_here_is_not(memory, tmp_path):
    import_mem0(memory, written(tmp_path / "x", *(memory_of(n, f"Fact {n} is true.") for n in range(3))))
    memory.update(memory_of(1, "")["id"], "My own words.", **ANA)
    memory.delete(memory_of(2, "")["id"], **ANA)
    newer = [memory_of(n, f"Fact {n} is false.", updated_at="2024-07-01T00:00:00Z") for n in range(3)]
    path = written(tmp_path / "y", *newer)
    for updated in (1, 0):
        done = import_mem0(memory, path)
        assert (done.done.updated, dict(done.left), done.faulty) == (updated, {"changed here since it came": 1}, 0)
    assert texts(memory, **ANA) == ["Fact 0 is false.", "My own words."]
    assert [version.note.text for version in memory.history(memory_of(0, "")["id"], **ANA)] == [
        "Fact 0 is true.", "Fact 0 is false.",
    ]  # fmt: skip


def test_an_id_that_comes_twice_with_different_texts_is_told(memory, tmp_path):
    path = written(tmp_path / "x", memory_of(1, "Tea."), memory_of(1, "Coffee."), memory_of(1, "Tea."))
    for _ in range(2):
        done = import_mem0(memory, path)
        assert [(one.line, "another text" in one.reason) for one in done.done.faults] == [(2, True)]
    assert texts(memory, **ANA) == ["Tea."]


def history_of(path, *rows):
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, "
            "created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)"
        )
        for n, (number, old, new, event, day) in enumerate(rows):
            at = f"2024-05-{day:02}T00:00:00+00:00"
            own = (memory_of(number, "")["id"], old, new, event, "2024-05-01T00:00:00+00:00", at)
            db.execute("INSERT INTO history VALUES (?,?,?,?,?,?,?,0,NULL,NULL)", (str(n), *own))
    db.close()
    return path


HISTORY = [
    (1, None, "Tea.", "ADD", 1),
    (1, "Tea.", "Coffee.", "UPDATE", 2),
    (1, "Coffee.", "Coffee.", "UPDATE", 3),  # of metadata alone
    (1, "Coffee.", "Tea.", "UPDATE", 4),
    (2, "Milk.", "Juice.", "UPDATE", 2),  # its beginning is older than the history
    (2, "Juice.", "Water.", "UPDATE", 5),
    (2, "Water.", "Wine.", "UPDATE", 6),  # what came after the memories were written down
    (3, None, "Gone.", "ADD", 1),
    (3, "Gone.", None, "DELETE", 2),
]


def test_former_texts_are_former_versions_with_mem0_s_times(memory, tmp_path):
    history = history_of(tmp_path / "history.db", *HISTORY)
    path = written(
        tmp_path / "x",
        memory_of(1, "Tea.", updated_at="2024-05-04T00:00:00+00:00"),
        memory_of(2, "Water.", updated_at="2024-05-05T00:00:00+00:00"),
    )
    done = import_mem0(memory, path, history_db=history)
    assert (done.done.added, done.done.updated, done.done.repeats) == (2, 0, 0)
    told = {
        n: [
            (one.note.text, one.note.metadata["mem0"]["updated_at"][:10])
            for one in memory.history(memory_of(n, "")["id"], **ANA)
        ]
        for n in (1, 2)
    }  # fmt: skip
    assert told == {
        1: [("Tea.", "2024-05-01"), ("Coffee.", "2024-05-02"), ("Tea.", "2024-05-04")],
        2: [("Milk.", "2024-05-01"), ("Juice.", "2024-05-02"), ("Water.", "2024-05-05")],
    }
    before = state(memory, "ana")
    again = import_mem0(memory, path, history_db=history)
    assert (again.done.repeats, again.faulty, state(memory, "ana")) == (2, 0, before)


def test_the_history_of_an_id_tells_nothing_to_another_user(memory, tmp_path):
    history = history_of(tmp_path / "history.db", *HISTORY)
    path = written(tmp_path / "x", memory_of(1, "Tea."), memory_of(1, "Tea.", "ben"), memory_of(2, "Beer.", "eve"))
    done = import_mem0(memory, path, history_db=history)
    assert (dict(done.users), done.faulty) == ({"ana": 1, "ben": 1, "eve": 1}, 0)
    for user, number, expected in (("ana", 1, 1), ("ben", 1, 1), ("eve", 2, 1)):  # it may be Ana's or Ben's
        told = [one.note.text for one in memory.history(memory_of(number, "")["id"], user_id=user)]
        assert len(told) == expected, user
    with pytest.raises(NotFound):
        memory.source(memory_of(2, "")["id"], **BEN)
    memory.erase(memory.forget(**BEN, everything=True))
    import_mem0(memory, path, **BEN, history_db=history)
    assert len(memory.history(memory_of(1, "")["id"], **BEN)) == 1


def test_former_texts_that_were_not_written_yet_come_with_the_next_run(memory, tmp_path, monkeypatch):
    from memgraph_engine.importers import mem0 as importer

    history = history_of(tmp_path / "history.db", *HISTORY)
    path = written(tmp_path / "x", memory_of(1, "Tea.", updated_at="2024-05-04T00:00:00+00:00"))
    calls = []

    update = importer.update

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return update(*given)

    monkeypatch.setattr(importer, "update", interrupted)
    with pytest.raises(KeyboardInterrupt):
        import_mem0(memory, path, history_db=history)
    assert texts(memory, **ANA) == ["Coffee."]
    import_mem0(memory, path, history_db=history)
    assert [v.note.text for v in memory.history(memory_of(1, "")["id"], **ANA)] == ["Tea.", "Coffee.", "Tea."]


def test_rows_of_a_vector_store_are_memories_too(memory, tmp_path):
    payload = {
        "data": "Likes tea.",
        "hash": "0",
        "user_id": "ana",
        "created_at": "2024-05-01T00:00:00Z",
        "place": "Porto",
    }
    import_mem0(memory, written(tmp_path / "x", {"id": "a", "payload": payload, "score": None}))
    source = memory.source("a", **ANA)
    assert (source.text, source.metadata["place"], source.said_at.year) == ("Likes tea.", "Porto", 2024)


def test_what_a_user_calls_like_mem0_s_own_fields_stays_metadata(memory, tmp_path):
    own = {"memory": "16 GB", "id": "T-1", "score": 5, "event": "fair", "role": "user"}
    rows = [{"id": n, "payload": {**own, "data": f"Ticket {n}.", "user_id": "ana"}} for n in ("a", "b")]
    done = import_mem0(memory, written(tmp_path / "x", *rows))
    assert (done.faulty, dict(done.users)) == (0, {"ana": 2})
    assert texts(memory, **ANA) == ["Ticket a.", "Ticket b."]
    kept = memory.source("a", **ANA).metadata
    assert {name: kept[name] for name in ("memory", "id", "score", "event")} == {
        "memory": "16 GB",
        "id": "T-1",
        "score": 5,
        "event": "fair",
    }


def test_what_can_t_come_is_told_and_the_rest_comes(memory, tmp_path):
    path = written(
        tmp_path / "x",
        memory_of(1, "Good."),
        "{",
        BAD,
        memory_of(2, "x" * 10_000_000),
        memory_of(3, "A bad time.", created_at="yesterday"),
        memory_of(4, "An epoch.", created_at=1714557600),
        memory_of(5, ""),
        {"id": 7, "user_id": "ana"},
        memory_of(8, "A name with a space.", "ana lee"),
        memory_of(9, "Ended.", expiration_date="2020-01-01"),
        [1],
        memory_of(10, "Good too."),
        memory_of(11, "Whose?", {"a": 1}),
        memory_of(12, "Whose?", ["ana"]),
        memory_of(13, "Whose?", " ana"),
        memory_of(14, "When?", created_at="Mon, 08 May 2023 13:56:00 +99999999999999"),
        memory_of(15, "When?", created_at=[]),
        memory_of(16, "Until today.", expiration_date=f"{datetime.now(UTC):%Y-%m-%d}T00:00:00Z"),
        '{"id": "deep", "memory": "Deep.", "user_id": "ana", "metadata": ' + '{"a":' * 950 + "1" + "}" * 951,
    )
    done = import_mem0(memory, path)
    assert [one.line for one in done.done.faults] == [2, 3, 4, 5, 7, 8, 9, 11, 13, 14, 15, 16, 17, 19]
    assert dict(done.left) == {"expired": 1}
    assert texts(memory, **ANA) == ["An epoch.", "Good too.", "Good.", "Until today."]
    assert memory.source(memory_of(4, "")["id"], **ANA).said_at == datetime(2024, 5, 1, 10, tzinfo=UTC)


def sqlite_with(path, statement):
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()
    return path


def test_files_of_other_kinds_are_refused_with_what_to_do(memory, tmp_path):
    folder = tmp_path / "qdrant"
    folder.mkdir()
    points = sqlite_with(tmp_path / "storage.sqlite", "CREATE TABLE points (id TEXT, point BLOB)")
    history = history_of(tmp_path / "history.db")
    other = sqlite_with(tmp_path / "other.db", "CREATE TABLE t (x)")
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    for path, why in ((folder, "pickled"), (points, "pickled"), (history, "--history-db"), (other, "none of mem0's")):
        with pytest.raises(InvalidInput, match=why):
            import_mem0(memory, path)
    for path in (damaged, tmp_path / "none"):
        for call in (import_mem0, import_langgraph, import_jsonl):
            with pytest.raises(InvalidInput):
                call(memory, path, **ANA)
    lines = written(tmp_path / "x", memory_of(1, "Tea."))
    for path in (other, lines, damaged):
        with pytest.raises(InvalidInput):
            import_mem0(memory, lines, history_db=path)
    with pytest.raises(InvalidInput, match="no table `store`"):
        import_langgraph(memory, other)
    with pytest.raises(InvalidInput, match="SQLite"):
        import_jsonl(memory, other, **ANA)
    wrong = written(tmp_path / "wrong", *({"x": n} for n in range(1000)))
    for call in (import_mem0, import_langgraph, import_jsonl):
        with pytest.raises(InvalidInput, match="none of the first 100"):
            call(memory, wrong, **ANA)
    assert memory.users() == []


# ---- LangGraph ----------------------------------------------------------------------------------


def store_of(path, *rows):
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL, created_at TIMESTAMP, "
            "updated_at TIMESTAMP, expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key))"
        )
        db.executemany("INSERT INTO store VALUES (?,?,?,?,?,?,?)", rows)
    db.close()
    return path


def item(memory, namespace, key):
    reader, scope = ItemReader(memory.engine), Scope(memory.engine.settings.tenant, user_of(namespace))
    return reader.find(scope, [key]).get(key)


def test_items_come_with_namespace_key_value_times_and_ttl(memory, tmp_path):
    ends = (datetime.now(UTC) + timedelta(hours=1)).replace(microsecond=0)
    path = store_of(
        tmp_path / "store.db",
        (
            "users.ana",
            "drinks",
            b'{"z":1,"a":[true,null,2.5]}',
            "2024-05-01 10:00:00",
            "2024-05-02 10:00:00",
            None,
            None,
        ),
        (
            "users.ben",
            "drinks",
            '{"x":"\\ud800 \\u0000"}',
            "2024-05-01 10:00:00",
            "2024-05-02 10:00:00",
            str(ends),
            120.0,
        ),
        ("users.ben", "old", "{}", "2024-05-01 10:00:00", "2024-05-02 10:00:00", "2024-05-03 10:00:00", 1.0),
        ("a/b.100%", "k", "{}", "2024-05-01 10:00:00", "2024-05-02 10:00:00", None, None),
    )
    done = import_langgraph(memory, path)
    assert (done.done.added, dict(done.left), done.faulty) == (3, {"expired": 1}, 0)
    first, second = item(memory, ("users", "ana"), "drinks"), item(memory, ("users", "ben"), "drinks")
    assert list(json.loads(first.value).items()) == [("z", 1), ("a", [True, None, 2.5])]
    assert (first.created_at, first.updated_at) == (
        datetime(2024, 5, 1, 10, tzinfo=UTC), datetime(2024, 5, 2, 10, tzinfo=UTC),
    )  # fmt: skip
    assert json.loads(second.value) == {"x": "\ud800 \0"}
    assert (second.ttl, second.expires_at) == (timedelta(hours=2), ends)
    assert item(memory, ("a/b", "100%"), "k")
    assert [fault for user in memory.users() for fault in memory.verify(user_id=user.id)] == []


def test_items_again_change_nothing_and_what_is_newer_counts(memory, tmp_path):
    old = {"prefix": "users.ana", "created_at": "2024-05-01T00:00:00Z", "updated_at": "2024-05-01T00:00:00Z"}
    path = written(tmp_path / "x", *({**old, "key": str(n), "value": {"n": n}, "ttl": 10**6} for n in range(3)))
    import_langgraph(memory, path)
    memory.delete("item:2", user_id="users/ana")
    before = state(memory, "users/ana")
    done = import_langgraph(memory, path)
    assert (done.done.repeats, state(memory, "users/ana")) == (3, before)
    newer = {"namespace": ["users", "ana"], "updated_at": "2024-06-01T00:00:00Z"}
    later = written(
        tmp_path / "y",
        {**newer, "key": "0", "value": {"n": "new"}},
        {**newer, "key": "1", "value": {"n": "older"}, "updated_at": "2024-04-01T00:00:00Z"},
        {**old, "key": "1", "value": {"n": "another"}},
    )
    for updated in (1, 0):
        done = import_langgraph(memory, later)
        assert (done.done.updated, [one.line for one in done.done.faults]) == (updated, [3])
    assert item(memory, ("users", "ana"), "0").value == '{"n": "new"}'
    assert [v.note.text for v in memory.history("item:0", user_id="users/ana")] == ['{"n": 0}', '{"n": "new"}']
    import_langgraph(memory, path)
    assert item(memory, ("users", "ana"), "0").value == '{"n": "new"}'
    assert item(memory, ("users", "ana"), "2") is None


def test_items_that_can_t_come_are_told(memory, tmp_path):
    good = {"namespace": ["a"], "key": "k", "value": {"a": 1}}
    path = written(
        tmp_path / "x",
        good,
        {**good, "namespace": []},
        {**good, "namespace": ["a.b"]},
        {**good, "namespace": "a..b"},
        {**good, "key": 1},
        {**good, "value": [1]},
        {**good, "value": {"x": "y" * 1_100_000}},
        {**good, "ttl": "x"},
        {**good, "created_at": "x"},
        {"key": "k"},
        '{"namespace":["a"],"key":"deep","value":{"a":' + "[" * 100_000 + "]" * 100_000 + "}}",
        '{"namespace":["a"],"key":"deep","value":{"a":' + "[" * 300 + "]" * 300 + "}}",
    )
    done = import_langgraph(memory, path)
    assert [one.line for one in done.done.faults] == [*range(2, 13)]
    assert done.done.added == 1


def test_what_can_be_read_of_a_damaged_database_comes(memory, tmp_path):
    at = "2024-05-01 10:00:00"
    path = tmp_path / "s.db"
    store_of(path, *(("a", str(n), json.dumps({"x": "y" * 3000}), at, at, None, None) for n in range(40)))
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * (size // 2))
    done = import_langgraph(memory, path)
    assert done.faulty >= 1
    assert 0 < done.done.added < 40


def test_only_the_namespace_that_is_asked_for_comes(memory, tmp_path):
    rows = [{"prefix": f"users.{name}", "key": "k", "value": {"of": name}} for name in ("ana", "ben")]
    done = import_langgraph(memory, written(tmp_path / "x", *rows), user_id="users/ana")
    assert (dict(done.users), dict(done.left)) == ({"users/ana": 1}, {"of user 'users/ben'": 1})


def test_what_a_store_did_not_index_is_not_found_by_its_words(memory, tmp_path):
    at = "2024-05-01 10:00:00"
    path = store_of(tmp_path / "s.db", *(("a", key, '{"x":"herons"}', at, at, None, None) for key in ("yes", "no")))
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE store_vectors (prefix text, key text, field_name text)")
        db.execute("INSERT INTO store_vectors VALUES ('a', 'yes', '$')")
    db.close()
    import_langgraph(memory, path)
    assert [item(memory, ("a",), key).value for key in ("yes", "no")] == ['{"x": "herons"}'] * 2
    assert [hit.note.text for hit in memory.search("herons no", user_id="a")] == ['{"x": "herons"}']


# ---- chats --------------------------------------------------------------------------------------


def test_a_fine_tuning_file_comes_conversation_by_conversation(memory, tmp_path):
    talk = [
        {"role": "system", "content": "You are helpful."},
        {"role": "user", "content": "I moved to Lisbon in March."},
        {"role": "assistant", "content": "Lisbon has seven hills and a castle.", "weight": 0},
        {"role": "user", "content": "My dentist there is Dr Silva."},
        {"role": "user", "content": "My dentist there is Dr Silva."},
    ]
    path = written(tmp_path / "x", {"messages": talk, "tools": []}, {"id": "c2", "messages": talk[:2]}, talk[3:4])
    done = import_jsonl(memory, path, **ANA)
    assert (done.faulty, dict(done.users)) == (0, {"ana": 8})
    sessions = {one.id for one in memory.sessions(**ANA)}
    assert (len(sessions), "c2" in sessions) == (3, True)
    assert memory.source("c2#1", **ANA).speaker == "ana"
    before = state(memory, "ana")
    assert (import_jsonl(memory, path, **ANA).done.repeats, state(memory, "ana")) == (8, before)


def test_a_conversation_that_has_grown_brings_what_is_new(memory, tmp_path):
    talk = [{"role": "user", "content": f"Berth {n} is free."} for n in range(4)]
    import_jsonl(memory, written(tmp_path / "x", {"id": "c", "messages": talk[:2]}), **ANA)
    done = import_jsonl(memory, written(tmp_path / "x", {"id": "c", "messages": talk}), **ANA)
    assert (done.done.inputs, done.done.repeats) == (4, 2)


def test_exports_of_chats_are_read(memory, tmp_path):
    spoken = [{"from": "human", "value": "I sail on Sundays."}, {"from": "gpt", "value": "Nice wind then."}]
    sharegpt = {"id": "s", "conversations": spoken}
    at, parts = "2024-05-01T10:00:00.5Z", [{"type": "text", "text": "A fine name."}]
    claude = {
        "uuid": "c", "name": "Boats", "chat_messages": [
            {"uuid": "c1", "text": "My boat is called Heron.", "sender": "human", "created_at": at, "files": []},
            {"uuid": "c2", "text": "", "content": parts, "sender": "assistant", "created_at": at},
        ],
    }  # fmt: skip

    def node(name, parent, role, text, **about):
        message = {
            "id": name, "author": {"role": role}, "create_time": 1714557600.25,
            "content": {"content_type": "text", "parts": [text, {"asset_pointer": "x"}]}, "metadata": about,
        }  # fmt: skip
        return {"id": name, "message": message if text is not None else None, "parent": parent, "children": []}

    chatgpt = {
        "title": "Plants", "conversation_id": "g", "current_node": "n4", "mapping": {
            "n0": node("n0", None, "system", None),
            "n1": node("n1", "n0", "system", "hidden", is_visually_hidden_from_conversation=True),
            "n2": node("n2", "n1", "user", "I have 17 plants."),
            "n3": node("n3", "n2", "assistant", "An answer that was thrown away."),
            "n4": node("n4", "n2", "assistant", "So many plants."),
        },
    }  # fmt: skip
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([sharegpt, claude, chatgpt]))
    done = import_jsonl(memory, path, **ANA)
    assert (done.faulty, done.done.inputs) == (0, 6)
    told = {name: memory.source(name, **ANA) for name in ("s#0", "s#1", "c1", "c2", "n2", "n4")}
    assert [(one.role, one.session, one.text) for one in told.values()] == [
        ("user", "s", "I sail on Sundays."),
        ("assistant", "s", "Nice wind then."),
        ("user", "c", "My boat is called Heron."),
        ("assistant", "c", "A fine name."),
        ("user", "g", "I have 17 plants."),
        ("assistant", "g", "So many plants."),
    ]
    assert told["n2"].said_at == datetime(2024, 5, 1, 10, 0, 0, 250_000, UTC)


def test_records_of_any_shape_come_by_the_names_of_their_fields(memory, tmp_path):
    record = {
        "_id": 17, "customer": {"id": 4, "name": "Ana"}, "body": {"plain": "My ferry leaves at nine.", "n": 1},
        "ts": "1714557600000", "thread": 9, "channel": "mail", "type": "user",
    }  # fmt: skip
    done = import_jsonl(
        memory, written(tmp_path / "x", record, {**record, "_id": 18, "customer": {}}),
        text_field="body.plain", user_field="customer.id", speaker_field="customer.name", time_field="ts",
        id_field="_id", session_field="thread", role_field="type",
    )  # fmt: skip
    assert (dict(done.users), [one.line for one in done.done.faults]) == ({"4": 1}, [2])
    source = memory.source("17", user_id="4")
    assert (source.text, source.speaker, source.session, source.role) == (
        "My ferry leaves at nine.",
        "Ana",
        "9",
        "user",
    )
    assert source.said_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert source.metadata == {"channel": "mail", "body": {"n": 1}}


def test_lines_that_ingest_reads_come_the_same(memory, tmp_path):
    path = written(tmp_path / "x.jsonl", {"text": "The heron eats fish."}, {"role": "user", "content": "I sail."})
    memory.ingest(path, **ANA)
    assert import_jsonl(memory, path, **ANA).done.repeats == 2


@pytest.mark.parametrize("named", [{"user_field": "to.nam"}, {"time_field": "when"}, {"id_field": "to.id"}])
def test_a_field_that_no_record_has_is_told_before_anything_is_written(memory, tmp_path, named):
    path = written(tmp_path / "x", {"body": "My code is 4711.", "to": {"name": "eve"}, "at": 1714557600})
    with pytest.raises(InvalidInput, match="none of the first 1 records has the field"):
        import_jsonl(memory, path, text_field="body", **named, **ANA)
    assert memory.users() == []


def test_messages_of_several_users_never_mix(memory, tmp_path):
    path = written(
        tmp_path / "x",
        *({"text": f"Code {n} is secret.", "user_id": f"user{n % 7}"} for n in range(70)),
        {"messages": [{"role": "user", "content": "Mine alone."}], "user_id": "ana"},
        {"text": "Whose is it?"},
        {"text": "Whose is it?", "user_id": {"a": 1}},
    )
    done = import_jsonl(memory, path)
    assert [one.line for one in done.done.faults] == [72, 73]
    for n in range(7):
        assert texts(memory, user_id=f"user{n}") == sorted(f"Code {k} is secret." for k in range(70) if k % 7 == n)
    assert texts(memory, **ANA) == ["Mine alone."]
    shared = import_jsonl(memory, path, shared=True)
    assert (sum(shared.left.values()), dict(shared.users)) == (71, {"": 1})
    assert texts(memory, shared=True) == ["Whose is it?"]


# ---- all of them --------------------------------------------------------------------------------


def test_a_dry_run_writes_nothing_and_tells_what_would_come(memory, tmp_path):
    lines = written(tmp_path / "m", memory_of(1, "Tea."), memory_of(2, "Coffee."), BAD)
    chats = written(
        tmp_path / "c", {"id": "1", "text": "Tea."}, {"id": "1", "text": "Tea."}, {"id": "2", "text": "No."}
    )
    items = written(tmp_path / "i", {"prefix": "a", "key": "k", "value": {}})
    for call, path, new, faulty in (
        (import_mem0, lines, 2, 1),
        (import_jsonl, chats, 2, 0),
        (import_langgraph, items, 1, 0),
    ):
        given = {} if call is import_langgraph else ANA
        done = call(memory, path, **given, dry_run=True)
        assert (done.dry_run, done.done.added, done.faulty) == (True, new, faulty)
        assert memory.users() == []
    import_mem0(memory, lines)
    assert import_mem0(memory, lines, dry_run=True).done.repeats == 2
    newer = written(tmp_path / "n", memory_of(1, "Milk.", updated_at="2025-01-01T00:00:00Z"))
    before = state(memory, "ana")
    assert import_mem0(memory, newer, dry_run=True).done.updated == 1
    assert state(memory, "ana") == before


def test_progress_tells_of_batches_and_of_bytes(memory, tmp_path):
    path = written(tmp_path / "x", *(memory_of(n, f"Fact {n}.") for n in range(3)), "{")
    seen = []
    import_mem0(memory, path, progress=seen.append)
    assert (seen[-1].read, seen[-1].size, seen[-1].faulty) == (path.stat().st_size, path.stat().st_size, 1)
    with pytest.raises(InvalidInput, match="progress"):
        import_mem0(memory, path, progress=7)


def run(*args):
    return CliRunner().invoke(app, [str(one) for one in args])


def test_the_command_line_imports_and_tells(tenant, memory, tmp_path, monkeypatch):
    path = written(tmp_path / "x", memory_of(1, "Tea."), memory_of(2, "Code.", "ben"), "{")
    result = run("import", "mem0", path, "--user", "ana", "--tenant", tenant)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "1 new, 0 known already, 1 passed over", "user 'ana': 1 record", "left out, of user 'ben': 1 record",
    ]  # fmt: skip
    assert f"{path}:3: no JSON" in result.stderr.replace("\n", "")
    again = json.loads(run("import", "mem0", path, "--json", "--tenant", tenant).stdout)
    assert (again["done"]["added"], again["done"]["repeats"], again["users"]) == (1, 1, {"ana": 1, "ben": 1})
    items = written(tmp_path / "i", {"prefix": "a", "key": "k", "value": {}})
    assert run("import", "langgraph", items, "--dry-run", "--tenant", tenant).exit_code == 0
    chats = written(tmp_path / "c", {"said": "The heron eats fish."})
    assert run("import", "jsonl", chats, "--shared", "--text-field", "said", "--tenant", tenant).exit_code == 0
    assert texts(memory, shared=True) == ["The heron eats fish."]
    assert run("import", "jsonl", chats, "--shared", "--user", "ana").exit_code == 2
    assert run("import", "mem0", tmp_path / "none").exit_code == 2
    assert run("import", "mem0", tmp_path, "--tenant", tenant).exit_code == 2
    (tmp_path / "empty").touch()
    empty = run("import", "mem0", tmp_path / "empty", "--tenant", tenant)
    assert (empty.exit_code, empty.stdout) == (0, "0 new, 0 known already\n")


def test_import_alone_reads_an_export_also_one_that_is_called_like_a_command(tenant, memory, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    memory.add("The heron eats fish.", **ANA)
    memory.export("mem0", **ANA)
    memory.export("ana.jsonl", **ANA)
    for n, given in enumerate((["./mem0"], ["file", "mem0"], ["ana.jsonl"])):
        done = run("import", *given, "--user", f"copy{n}", "--tenant", tenant)
        assert (done.exit_code, done.stdout.startswith("Imported ")) == (0, True)
    assert run("import", "--user", "copy3", "--tenant", tenant, "ana.jsonl").exit_code == 0
    assert run("import", "mem0", "--user", "copy4").exit_code == 2
    mistyped = run("import", "memo", "ana.jsonl")
    assert (mistyped.exit_code, "There is no file 'memo'. Did you mean" in mistyped.stderr) == (2, True)
    for kind in ("mem0", "langgraph", "jsonl"):
        wrong = run("import", kind, "ana.jsonl", "--user", "eve", "--tenant", tenant)
        assert (wrong.exit_code, "is an export of this engine" in wrong.stderr) == (2, True)
    other = run("import", written(tmp_path / "x", memory_of(1, "Tea.")), "--user", "eve", "--tenant", tenant)
    assert (other.exit_code, "`import mem0`" in other.stderr) == (2, True)
    assert "eve" not in [user.id for user in memory.users()]


KILLED = """
import sys
from memgraph_engine import Memory, Settings, importers
tenant, kind, path, *history = sys.argv[1:]
with Memory.connect(settings=Settings.load(tenant=tenant, ingest_batch=5)) as memory:
    given = {"history": history[0]} if history else {}
    getattr(importers, f"import_{kind}")(memory, path, progress=lambda done: print(done.read, flush=True), **given)
"""


def killed(*args, after):
    """Run an import in a process of its own, and kill it after some batches."""
    begun = subprocess.Popen([sys.executable, "-c", KILLED, *args], stdout=subprocess.PIPE, text=True)
    for _, _ in zip(range(after), iter(begun.stdout.readline, ""), strict=False):
        pass
    time.sleep(0.02 * after)
    os.kill(begun.pid, signal.SIGKILL)
    begun.communicate()


def finished(*args):
    subprocess.run([sys.executable, "-c", KILLED, *args], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.slow
def test_an_import_that_was_killed_and_made_again_gives_the_same(server, tenant, embedder, tmp_path):
    numbers = range(60)
    path = written(
        tmp_path / "x",
        *(memory_of(n, f"Buoy {n} is green.", f"user{n % 3}", updated_at="2024-05-02T00:00:00+00:00") for n in numbers),
    )
    rows = [
        row
        for n in numbers
        for row in (
            (n, None, f"Buoy {n} is red.", "ADD", 1),
            (n, f"Buoy {n} is red.", f"Buoy {n} is green.", "UPDATE", 2),
        )
    ]
    history = history_of(tmp_path / "history.db", *rows)
    for after in (1, 3, 5):
        killed(tenant, "mem0", path, history, after=after)
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        done = import_mem0(memory, path, history_db=history)
        assert done.faulty == 0
        for user in range(3):
            whose = {"user_id": f"user{user}"}
            assert texts(memory, **whose) == sorted(f"Buoy {n} is green." for n in numbers if n % 3 == user)
            assert memory.verify(**whose) == []
            for n in (n for n in numbers if n % 3 == user):
                told = [version.note.text for version in memory.history(memory_of(n, "")["id"], **whose)]
                assert told == [f"Buoy {n} is red.", f"Buoy {n} is green."]
        before = state(memory, "user0", "user1", "user2")
        assert import_mem0(memory, path, history_db=history).done.repeats == 60
        assert state(memory, "user0", "user1", "user2") == before


@pytest.mark.slow
def test_chats_of_which_an_import_was_killed_become_the_same_memory(server, tenant, embedder, tmp_path):
    said = [f"Buoy {n} is green and lies {n} miles off Faro." for n in range(30)] * 2  # each is said again
    lines = (
        {"text": text, "user_id": f"user{n % 2}", "session": "s", "time": f"2024-05-01T10:{n:02}:00"}
        for n, text in enumerate(said)
    )
    path = written(tmp_path / "x", *lines)
    found = []
    for killings in ((2, 4, 6), ()):
        for after in killings:
            killed(tenant, "jsonl", path, after=after)
        finished(tenant, "jsonl", path)
        with Memory.connect(tenant=tenant, embedder=embedder) as memory:
            found.append([snapshot(memory, user) for user in ("user0", "user1")])
            assert [fault for user in memory.users() for fault in memory.verify(user_id=user.id)] == []
        purge(tenant)
    for one, other in zip(*found, strict=True):
        same(one, other)


@pytest.mark.slow
def test_items_of_which_an_import_was_killed_are_all_there_once(server, tenant, embedder, tmp_path):
    at = "2024-05-01 10:00:00"
    rows = [(f"users.u{n % 3}", str(n), json.dumps({"n": n}), at, at, None, None) for n in range(60)]
    path = store_of(tmp_path / "s.db", *rows)
    for after in (2, 4, 6):
        killed(tenant, "langgraph", path, after=after)
    finished(tenant, "langgraph", path)
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        assert {json.loads(item(memory, ("users", f"u{n % 3}"), str(n)).value)["n"] for n in range(60)} == {*range(60)}
        assert all(len(memory.history(f"item:{n}", user_id=f"users/u{n % 3}")) == 1 for n in range(60))
        assert [fault for user in memory.users() for fault in memory.verify(user_id=user.id)] == []


# ---- what the other programs really write -------------------------------------------------------


def docs_lines(root, number, **names):
    """Run a program that docs/import.md shows for another package, in the present folder."""
    block = re.findall(r"```python\n(.*?)```", (root / "docs" / "import.md").read_text(), re.DOTALL)[number]
    exec(compile(textwrap.dedent(block), "import.md", "exec"), names)


@pytest.mark.mem0
@pytest.mark.filterwarnings("ignore")
def test_what_mem0_itself_holds_comes_with_its_history(memory, twin, tmp_path, root, monkeypatch):  # noqa: F811
    for user, text in (("ana", "I moved to Lisbon."), ("ana", "My dentist is Dr Silva."), ("ben", "I sail.")):
        twin.add(text, user_id=user, run_id="r1", metadata={"place": "Porto"}, infer=False)
    twin.add("The bank opens at nine.", agent_id="bank", infer=False)
    twin.add("For a while.", **ANA, infer=False, expiration_date="2999-01-01")
    listed = {user: twin.get_all(filters={"user_id": user})["results"] for user in ("ana", "ben")}
    first = next(one for one in listed["ana"] if "Lisbon" in one["memory"])
    twin.update(first["id"], "I moved to Porto.")
    twin.update(first["id"], "I moved to Faro.")
    listed = {user: twin.get_all(filters={"user_id": user}) for user in ("ana", "ben")}
    pages = [tmp_path / user for user in listed]
    for path, (_, page) in zip(pages, listed.items(), strict=True):
        path.write_text(json.dumps(page))
    monkeypatch.chdir(tmp_path)
    docs_lines(root, 0, memory=twin)
    path = tmp_path / "mem0.jsonl"
    done = import_mem0(memory, pages, history_db=tmp_path / "history.db")
    assert (dict(done.users), done.faulty, dict(done.left)) == ({"ana": 3, "ben": 1}, 0, {})
    whole = import_mem0(memory, path, history_db=tmp_path / "history.db")
    assert (dict(whole.users), whole.faulty, whole.done.added, whole.done.repeats, dict(whole.left)) == (
        {"ana": 3, "ben": 1, "agent bank": 1}, 0, 1, 4, {},
    )  # fmt: skip
    ours = mem0.Memory(memory=memory)
    for user, page in listed.items():
        own = {memory.source(one["id"], user_id=user).text: one for one in page["results"]}
        assert own.keys() == {one["memory"] for one in ours.get_all(filters={"user_id": user})["results"]}
        for one in page["results"]:
            source = memory.source(one["id"], user_id=user)
            assert source.said_at == datetime.fromisoformat(one["created_at"]).astimezone(UTC).replace(
                microsecond=source.said_at.microsecond
            )
            assert source.metadata["mem0"]["updated_at"] == one["updated_at"]
            assert source.metadata["mem0"]["hash"] == one["hash"]
    told = memory.history(first["id"], **ANA)
    assert [one.note.text for one in told] == ["I moved to Lisbon.", "I moved to Porto.", "I moved to Faro."]
    with pytest.raises(InvalidInput, match="pickled"):
        import_mem0(memory, tmp_path / "store" / "collection" / "twin" / "storage.sqlite")


@pytest.mark.langgraph
def test_what_langgraph_s_own_stores_hold_is_read_by_ours(memory, tmp_path, root, monkeypatch):
    sqlite = pytest.importorskip("langgraph.store.sqlite", reason="run by make test-langgraph")
    from langgraph.store.memory import InMemoryStore

    from memgraph_engine.integrations.langgraph import MemgraphStore

    def fill(store, **ttl):
        store.put(("users", "ana"), "drinks", {"content": "Ana prefers tea.", "z": [1, None]})
        store.put(("users", "ben"), "drinks", {"content": "Ben prefers milk."}, **ttl)
        store.put(("users", "ben", "a/b 100%"), "ü🛶", {"n": 2.5})

    with sqlite.SqliteStore.from_conn_string(str(tmp_path / "store.db"), ttl={"refresh_on_read": False}) as theirs:
        theirs.setup()
        fill(theirs, ttl=60)
        theirs.put(("users", "ben"), "gone", {}, ttl=0.02)
        held = {(one.namespace, one.key): one for one in theirs.search((), limit=100)}
    time.sleep(1.3)  # until one has expired
    done = import_langgraph(memory, tmp_path / "store.db", fields=["content"])
    assert (done.done.added, done.faulty) == (3, 0)
    ours = MemgraphStore(memory, index={"fields": ["content"]})
    found = {(one.namespace, one.key): one for one in ours.search((), limit=100)}
    del held[("users", "ben"), "gone"]
    assert {place: (one.value, one.created_at, one.updated_at) for place, one in found.items()} == {
        place: (one.value, one.created_at.astimezone(UTC), one.updated_at.astimezone(UTC))
        for place, one in held.items()
    }
    assert ours.search(("users",), query="What does Ana drink?")[0].value["content"] == "Ana prefers tea."
    before = found[("users", "ana"), "drinks"]
    ours.put(("users", "ana"), "drinks", before.value)
    assert ours.get(("users", "ana"), "drinks").updated_at == before.updated_at
    kept = InMemoryStore()
    fill(kept)
    monkeypatch.chdir(tmp_path)
    docs_lines(root, 1, store=kept, json=json)
    done = import_langgraph(memory, tmp_path / "items.jsonl", fields=["content"])
    assert (done.done.repeats, done.done.updated, done.faulty) == (2, 1, 0)  # one has no time to live there


@pytest.mark.parametrize(("zone", "left"), [("America/New_York", 0), ("UTC", 1), ("Asia/Tokyo", 1)])
def test_the_last_day_of_a_memory_of_mem0_is_one_of_the_setting_timezone(memory, tmp_path, zone, left):
    now = datetime(2026, 5, 11, 2, tzinfo=UTC)
    settings = memory.engine.settings.model_copy(update={"timezone": zone})
    one = Memory(replace(memory.engine, settings=settings, clock=lambda: now))
    (tmp_path / "mem0.json").write_text(json.dumps([memory_of(1, "Ends today.", expiration_date="2026-05-10")]))
    assert sum(import_mem0(one, tmp_path / "mem0.json", dry_run=True).left.values()) == left


def test_without_ray_it_is_told_which_extra_is_missing(server, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    for name in [name for name in sys.modules if name.startswith("memgraph_engine.fleet")]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / "chats.jsonl").write_text('{"text": "The tide turns.", "user_id": "ana"}')
    done = CliRunner().invoke(app, ["import", "jsonl", str(tmp_path / "chats.jsonl"), "--ray", "auto"])
    assert done.exit_code
    assert "pip install 'memgraph-engine[ray]'" in done.stderr

"""Keys are made once, stored as hashes, and end: by their time, by hand, or with what they open."""

import json
from datetime import timedelta

import neo4j
import pytest
from typer.testing import CliRunner

from memgraph_engine import InvalidInput, Memory
from memgraph_engine.cli import app
from memgraph_engine.graph import keys
from memgraph_engine.model.key import new_key
from memgraph_engine.model.scope import Scope
from memgraph_engine.testing import purge
from tests.clocks import BEGIN
from tests.keys import issue


def nodes(server, tenant):
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        found = driver.execute_query("MATCH (k:Key {tenant: $tenant}) RETURN properties(k) AS of", tenant=tenant)
        return [row["of"] for row in found.records]


def test_of_a_secret_only_a_hash_is_stored(server, memory, tenant):
    made = issue(memory, "ana")
    (stored,) = nodes(server, tenant)
    assert made.secret not in str(stored)
    assert made.secret[4:20] not in str(stored)
    assert len(stored["hash"]) == 64


def test_a_key_is_found_by_its_secret_and_by_nothing_else(memory):
    made = issue(memory, "ana", ["read"])
    assert keys.find(memory.engine.db, made.secret) == made.key
    assert keys.find(memory.engine.db, made.secret[:-1]) is None
    assert keys.find(memory.engine.db, made.key.id) is None


def test_no_two_secrets_are_the_same(memory):
    assert len({issue(memory, "ana").secret for _ in range(5)}) == 5


def test_a_result_is_told_without_its_secret(memory):
    made = issue(memory, "ana")
    assert made.secret not in repr(made)


@pytest.mark.parametrize(
    ("name", "rights", "days", "fault"),
    [
        ("phone", ["read", "rule"], 1, "There is no right 'rule'; the rights are read, write, forget"),
        ("phone", [], 1, "without a right opens nothing"),
        ("", ["read"], 1, "one line of 1 to 200 characters"),
        ("two\nlines", ["read"], 1, "one line"),
        (17, ["read"], 1, "must be a text, not the number 17"),
        ("phone", ["read"], -1, "that is past"),
    ],
)
def test_what_can_be_no_key_is_refused(name, rights, days, fault):
    with pytest.raises(InvalidInput, match=fault):
        new_key(name, Scope("acme", "ana"), rights, now=BEGIN, expires_at=BEGIN + timedelta(days=days))


def test_a_key_ends_by_its_time_or_by_hand():
    key = new_key("phone", Scope("acme", "ana"), ["read"], now=BEGIN, expires_at=BEGIN + timedelta(days=1)).key
    assert key.opens(BEGIN)
    assert not key.opens(BEGIN + timedelta(days=1))


def test_a_key_that_is_revoked_twice_keeps_the_first_time(memory, tenant):
    made = issue(memory, "ana")
    now = memory.engine.now()
    first = keys.revoke(memory.engine.db, tenant, made.key.id, now)
    again = keys.revoke(memory.engine.db, tenant, made.key.id, now + timedelta(hours=1))
    assert first.revoked_at == again.revoked_at == now
    assert not again.opens(now)


def test_a_tenant_lists_and_revokes_only_its_own_keys(memory, tenant):
    made, other = issue(memory, "ana"), f"{tenant}-other"
    try:
        issue(memory, "ana", tenant=other)
        assert keys.every(memory.engine.db, tenant) == [made.key]
        assert keys.revoke(memory.engine.db, other, made.key.id, memory.engine.now()) is None
    finally:
        purge(other)


def test_whether_there_is_a_key_is_known(memory, tenant):
    made = issue(memory, "ana")
    assert keys.some(memory.engine.db)
    keys.revoke(memory.engine.db, tenant, made.key.id, memory.engine.now())
    assert keys.some(memory.engine.db, ended=True)


def test_a_purge_takes_the_keys_of_the_tenant(server, memory, tenant):
    issue(memory, "ana")
    issue(memory)
    purge(tenant)
    assert nodes(server, tenant) == []


def test_erasing_everything_of_a_user_takes_the_users_keys_and_no_other(memory, tenant):
    for user in ("ana", "ben", None):
        issue(memory, user)
    memory.add("The boat sails.", user_id="ana", session="sea")
    memory.add("The buoy is green.", user_id="ana")
    memory.erase(memory.forget(user_id="ana", session="sea"))
    assert len(keys.every(memory.engine.db, tenant)) == 3
    memory.erase(memory.forget(user_id="ana", everything=True))
    assert [key.user_id for key in keys.every(memory.engine.db, tenant)] == ["ben", None]


def test_that_there_was_a_key_is_known_when_it_is_gone(server, memory, tenant):
    """Else whoever erases everything of his own would open a server that asks for keys."""
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        driver.execute_query("MATCH (s:Store {name: 'store'}) REMOVE s.keyed")  # of keys of other tests
        issue(memory, "ana")
        memory.add("The boat sails.", user_id="ana")
        memory.erase(memory.forget(user_id="ana", everything=True))
        assert keys.every(memory.engine.db, tenant) == []
        (store,) = driver.execute_query("MATCH (s:Store {name: 'store'}) RETURN s.keyed AS keyed").records
    assert store["keyed"] is True
    assert keys.some(memory.engine.db, ended=True)


def test_erasing_the_shared_memory_takes_no_key(memory, tenant):
    issue(memory)
    memory.add("The boat sails.", shared=True)
    memory.erase(memory.forget(shared=True, everything=True))
    assert len(keys.every(memory.engine.db, tenant)) == 1


def test_an_export_tells_nothing_of_keys(memory, tmp_path):
    made = issue(memory, "ana")
    memory.add("The boat sails.", user_id="ana")
    memory.export(tmp_path / "ana.jsonl", user_id="ana")
    written = (tmp_path / "ana.jsonl").read_text("utf-8")
    assert made.key.id not in written
    assert '"Key"' not in written
    assert memory.verify(user_id="ana") == []


# ---- the command line -------------------------------------------------------------------------


@pytest.fixture
def cli(tenant, embedder, monkeypatch):
    """Run a command of `keys` for the test's tenant."""
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", tenant)

    def run(*arguments, code=0):
        result = CliRunner().invoke(app, ["keys", *arguments])
        assert result.exit_code == code, result.output
        return result

    return run


def test_a_secret_is_printed_alone_and_once(cli, tenant, embedder):
    made = cli("add", "phone", "--user", "ana", "--right", "read")
    secret = made.stdout.strip()
    assert secret.startswith("mge_")
    assert "is not shown again" in made.stderr
    assert secret not in made.stderr
    listed = cli("list")
    assert secret not in listed.output + cli("list", "--json").output
    assert f"phone: read for user 'ana' of tenant '{tenant}'" in listed.stdout
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        assert keys.find(memory.engine.db, secret).name == "phone"


def test_a_key_is_made_listed_and_revoked_as_json(cli):
    made = json.loads(cli("add", "phone", "--whole-tenant", "--expires", "2999-01-01", "--json").stdout)
    assert made["key"]["user_id"] is None
    assert made["key"]["rights"] == ["read", "write"]
    assert made["key"]["expires_at"].startswith("2999-01-01T23:59")
    (listed,) = json.loads(cli("list", "--json").stdout)
    assert listed == made["key"]
    revoked = json.loads(cli("revoke", listed["id"], "--json").stdout)
    assert revoked["revoked_at"] is not None
    assert "revoked" in cli("list").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("add", "phone"), 2, "say whose memory it opens"),
        (("add", "phone", "--user", "ana", "--whole-tenant"), 2, "say whose memory it opens"),
        (("add", "phone", "--user", "ana", "--right", "rule"), 2, "There is no right 'rule'"),
        (("add", "phone", "--user", "ana", "--expires", "2001-01-01"), 2, "that is past"),
        (("add", "phone", "--user", "ana", "--expires", "soon"), 2, "--expires"),
        (("revoke", "4711"), 1, "has no key '4711'"),
    ],
)
def test_what_can_not_be_done_is_told(cli, arguments, code, told):
    assert told in cli(*arguments, code=code).stderr


def test_a_tenant_without_keys_says_so(cli):
    assert "has no keys" in cli("list").stderr

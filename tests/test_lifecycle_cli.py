"""Policies, expiry, pins and holds on the command line."""

import json

import pytest

from tests.test_cli import cli, typed  # noqa: F401  fixtures

WORDS = "The boat sails to Madeira."


def test_a_policy_file_is_checked(cli, tmp_path):  # noqa: F811
    file = tmp_path / "policies.yaml"
    file.write_text("default: a\nclasses:\n  a: {ttl: 0d}\n")
    told = cli("policy", "check", str(file), user=None, code=1)
    assert f"{file}, line 3, column 12: '0d' is no duration" in told.stderr
    said = cli("policy", "check", "default", user=None).stdout
    assert "factual (the default): has no end" in said
    assert "ephemeral: can be read for 1 day, then is archived, and erased after 30 days more" in said
    assert json.loads(cli("policy", "check", "default", "--json", user=None).stdout)["default"] == "factual"


def test_a_note_that_expires_is_pinned_and_unpinned(cli):  # noqa: F811
    cli("add", WORDS, "--id", "a", "--policy", "ephemeral")
    assert json.loads(cli("get", "a", "--json").stdout)["policy"] == "ephemeral"
    assert cli("pin", "a").stdout.startswith("Pinned a (decision ")
    assert json.loads(cli("get", "a", "--json").stdout)["expires_at"] is None
    assert json.loads(cli("unpin", "a", "--json").stdout)["kind"] == "pin"
    assert "not expired" in cli("restore", "a", code=2).stderr
    assert cli("policy", "set", "a", "canonical").stdout.startswith("Gave a the policy canonical (decision ")
    assert json.loads(cli("policy", "set", "a", "factual", "--json").stdout)["kind"] == "policy"
    assert "there is no policy" in cli("policy", "set", "a", "none-such", code=2).stderr.casefold()
    assert cli("sweep").stdout == "Archived 0 notes.\n"


def test_what_is_shown_if_asked_is_asked_for_by_its_policy(cli):  # noqa: F811
    cli("add", WORDS, "--id", "a", "--policy", "private")
    assert json.loads(cli("search", "Where does the boat sail?", "--json").stdout) == []
    (hit,) = json.loads(cli("search", "Where does the boat sail?", "--include", "private", "--json").stdout)
    assert hit["note"]["apart"] == "private"
    assert WORDS not in cli("context", "Where does the boat sail?").stdout
    assert WORDS in cli("context", "Where does the boat sail?", "--include", "private").stdout
    assert "no policy 'secret'" in cli("search", "Where?", "--include", "secret", code=2).stderr
    said = cli("policy", "check", "default", user=None).stdout
    assert "then is erased; no chat model sees it; it is found only where it is asked for" in said


def test_a_memory_is_limited_and_evicted(cli, memory):  # noqa: F811
    for n in range(3):
        cli("add", f"The boat has {n} sails.", "--id", f"b{n}", "--speaker", "Ana")
    assert cli("limit", "2").stdout == "The cap is 2 notes.\n"
    assert json.loads(cli("limit", "2", "--json").stdout) == {"cap": 2}
    assert "number of notes" in cli("limit", "few", code=2).stderr
    assert cli("evict").stdout == "3 notes left; the cap is 2.\n"  # all are younger than a day
    with memory.engine.db._session() as session:
        scope = f"{memory.engine.settings.tenant}/ana"
        session.run("MATCH (n:Note {scope: $scope}) SET n.recorded_at = datetime('2020')", scope=scope).consume()
    dry = cli("evict", "--dry-run").stdout
    assert dry == "Would archive 3 notes, for which 1 summary stands.\n1 note left; the cap is 2.\n"
    done = cli("evict")
    assert done.stdout == dry.replace("Would archive", "Archived")
    decision = done.stderr.rpartition(" undo ")[2].split()[0]
    (hit, *_) = json.loads(cli("search", "2 sails", "--json").stdout)
    assert len(hit["note"]["sums"]) == 3
    assert len(json.loads(cli("search", "2 sails", "--archived", "--json").stdout)) > 1
    cli("undo", decision)
    assert json.loads(cli("stats", "--json").stdout)["notes"] == {"active": 3}
    assert cli("limit", "default").stdout == "The cap is that of the settings.\n"
    assert cli("evict").stdout == "3 notes left; there is no cap.\n"


def test_a_session_is_ended(cli, tmp_path, monkeypatch):  # noqa: F811
    file = tmp_path / "policies.yaml"
    file.write_text("default: talk\nclasses:\n  talk: {ttl: session}\n")
    told = cli("policy", "check", str(file), user=None).stdout
    assert "talk (the default): can be read as long as its session, which ends after 30 minutes without a turn" in told
    monkeypatch.setenv("MEMGRAPH_ENGINE_LIFECYCLE__POLICIES", str(file))
    cli("add", WORDS, "--id", "a", "--session", "s")
    assert cli("end-session", "s").stdout.startswith("Ended session s (decision ")
    assert "expired" in cli("get", "a", code=1).stderr
    assert "as long as the session" in cli("end-session", "s", code=1).stderr


def test_a_sweep_tells_what_it_erased(cli, memory, tmp_path, monkeypatch):  # noqa: F811
    file = tmp_path / "policies.yaml"
    file.write_text("default: brief\nclasses:\n  brief: {ttl: 1h, at_end: erase}\n")
    monkeypatch.setenv("MEMGRAPH_ENGINE_LIFECYCLE__POLICIES", str(file))
    cli("add", WORDS, "--id", "a")
    hold = json.loads(cli("hold", "A dispute.", "--json").stdout)
    ended = "MATCH (x:Note|Source {scope: $scope}) SET x.expires_at = datetime('2020'), x.erase_at = datetime('2020')"
    with memory.engine.db._session() as session:
        session.run(ended, scope=f"{memory.engine.settings.tenant}/ana").consume()
    cli("get", "a", code=1)
    swept = cli("sweep")
    assert (swept.stdout, f"since hold {hold['id']} keeps it: A dispute." in swept.stderr) == (
        "Archived 1 note.\n",
        True,
    )
    cli("release", hold["id"])
    assert "Erased 1 source and 1 note; 0 pieces left." in cli("sweep").stdout


@pytest.mark.parametrize(
    ("option", "said"),
    [(("--policy", "none-such"), "there is no policy 'none-such'"), (("--expires", "2020-01-01"), "is past")],
)
def test_a_life_that_can_not_be_is_wrong_input(cli, option, said):  # noqa: F811
    assert said in cli("add", WORDS, *option, code=2).stderr


def test_what_is_held_is_listed(cli):  # noqa: F811
    cli("add", WORDS, "--session", "s")
    assert cli("hold").stderr == "Nothing is held.\n"
    hold = json.loads(cli("hold", "A dispute.", "--session", "s", "--json").stdout)
    assert f"{hold['id']}  " in cli("hold").stdout
    assert "session s: A dispute." in cli("hold").stdout
    assert cli("release", hold["id"]).stdout == f"Released {hold['id']}.\n"
    assert "no hold" in cli("release", hold["id"], code=1).stderr


def test_policies_are_applied(cli, tmp_path, monkeypatch):  # noqa: F811
    cli("add", WORDS, "--id", "a")
    assert "Nothing changes" in cli("policy", "apply").stdout
    file = tmp_path / "policies.yaml"
    file.write_text("default: week\nclasses:\n  week: {ttl: 7d}\n")
    monkeypatch.setenv("MEMGRAPH_ENGINE_LIFECYCLE__POLICIES", str(file))
    assert cli("policy", "apply", "--dry-run").stdout == "1 note would become week.\n"
    assert json.loads(cli("policy", "apply", "--json").stdout)["classes"] == {"week": 1}
    assert json.loads(cli("get", "a", "--json").stdout)["policy"] == "week"


def test_an_erasure_is_planned_made_and_proved(cli, tmp_path):  # noqa: F811
    cli("add", WORDS, "--id", "a", "--session", "s")
    assert "say what is meant" in cli("forget", code=2).stderr
    plan = json.loads(cli("forget", "--session", "s", "--dry-run", "--json").stdout)
    assert (plan["sources"], plan["notes"], plan["chosen"][0]["text"]) == (["a"], 1, WORDS)
    told = cli("forget", "--query", WORDS.split()[-1], "--dry-run").stdout
    assert WORDS in told
    assert "It holds" in told
    near = ("forget", "--query", f"{WORDS.split()[-1]} zebra")
    (shown,) = json.loads(cli(*near, "--dry-run", "--json").stdout)["near"]
    assert (shown["source"], shown["text"]) == ("a", WORDS)
    refused = cli(*near, "--yes", code=1).stderr
    assert all(one in refused for one in (f"  a  {WORDS}", "Sources that are near: 1"))
    assert "no note or source 'b' (keep)" in cli("forget", "--session", "s", "--keep", "b", code=1).stderr
    assert "1 source and 1 note go" in cli("forget", "--session", "s", "--dry-run").stdout
    words = tmp_path / "words.txt"
    words.write_text(WORDS)
    assert "still holds 1 of the runs" in cli("verify-erasure", "--probe", str(words), code=1).stdout
    receipt = cli("forget", "--session", "s", "--yes").stdout
    assert receipt.startswith("Erased 1 source and 1 note; 0 pieces left.")
    assert "`memgraph-engine db compact`" in receipt
    assert cli("verify-erasure", "--probe", str(words)).stdout == "No faults.\n"
    assert (
        "only the files of the managed server" in cli("verify-erasure", "--probe", str(words), "--files", code=2).stderr
    )
    assert "1 source, 1 note; 0 left" in cli("receipts", user=None).stdout
    assert json.loads(cli("receipts", "--json", user=None).stdout)[0]["number"] == 1

"""The command line: results on stdout, everything else on stderr, and an exit code that says how it went."""

import importlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import neo4j
import pytest
from typer.testing import CliRunner

from memgraph_engine import Settings, __version__
from memgraph_engine.cli import app
from memgraph_engine.cost import Cost
from memgraph_engine.llm.roles import Roles
from memgraph_engine.model.ports import Reply
from memgraph_engine.testing import ScriptedChat
from tests.models import extracted, memory_with

COMMAND = str(Path(sys.executable).with_name("memgraph-engine"))


@pytest.fixture
def cli(tenant, embedder, monkeypatch, typed):
    """Run a command for user ana of the test's tenant."""
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", tenant)
    return typed


@pytest.fixture
def typed():
    """Run a command for user ana of whatever memory there is."""

    def run(*arguments, user="ana", code=0, **options):
        whose = ["--user", user] if user else []
        result = CliRunner().invoke(app, [*arguments, *whose], **options)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return run


def lisbon(cli, **options):
    return cli(
        "add", "I moved to Lisbon.", "--speaker", "Ana", "--id", "D1:3", "--session", "s1", "--time",
        "2023-05-08T13:56", "--tag", "home", "--metadata", "floor=2", **options,
    )  # fmt: skip


# ---- writing and reading --------------------------------------------------------------------


def test_what_is_added_is_found(cli):
    lisbon(cli)
    found = cli("search", "Where does Ana live?")
    assert "D1:3" in found.stdout
    assert "2023-05-08 13:56" in found.stdout
    assert "Ana: I moved to Lisbon." in found.stdout
    assert found.stderr == ""


def test_a_repeat_is_said_to_be_one(cli):
    assert lisbon(cli).stdout.startswith("Added note ")
    assert lisbon(cli).stdout.startswith("Known already: note ")


def test_what_became_of_a_text_is_said(cli):
    lisbon(cli)
    said = {
        "I moved  to Lisbon.": "Repeats note ",
        "Well, I moved to Lisbon, you know!": "Merged into note ",
        "Thanks!": "Kept source ",
    }
    for text, begins in said.items():
        assert cli("add", text, "--speaker", "Ana", "--id", text).stdout.startswith(begins), text
    assert cli("add", "Thanks!", "--speaker", "Ana", "--id", "Thanks!").stdout == (
        "Known already: source Thanks!, without a note.\n"
    )
    assert "without a note" in cli("get", "Thanks!", code=1).stderr


def test_a_text_is_read_from_stdin(cli):
    cli("add", "-", input="The tide turns\nat noon.\n")
    (note,) = json.loads(cli("list", "--json").stdout)
    assert note["sources"][0]["text"] == "The tide turns\nat noon."


def test_a_context_is_printed_between_its_marks(cli):
    lisbon(cli)
    found = cli("context", "Where does Ana live?", "--budget", "300")
    assert found.stdout == ("<recalled-memory>\n[1] 2023-05-08 (Mon): Ana: I moved to Lisbon.\n</recalled-memory>\n")
    document = json.loads(cli("context", "Where does Ana live?", "--json").stdout)
    assert [source["id"] for source in document["entries"][0]["sources"]] == ["D1:3"]
    nothing = cli("context", "Where does Ana live?", "--tag", "none")
    assert (nothing.stdout, nothing.stderr) == ("", "Nothing found.\n")
    assert "from 200" in cli("context", "Where?", "--budget", "9", code=2).stderr


def test_without_a_model_a_question_is_answered_by_its_context(cli):
    lisbon(cli)
    found = cli("ask", "Where does Ana live?")
    assert found.stdout == "[1] 2023-05-08 (Mon): Ana: I moved to Lisbon.  D1:3\n"
    assert "llm.model" in found.stderr
    assert json.loads(cli("ask", "Where does Ana live?", "--json").stdout)["text"] is None
    assert "Nothing found." in cli("ask", "Where?", "--speaker", "Bo").stderr


def test_an_answer_is_printed_with_what_it_cites(cli, monkeypatch):
    lisbon(cli)
    cli("add", "The tide turns at noon.")
    chat = ScriptedChat(["In Lisbon\x1b[2J [1].", "In Lisbon.", "UNKNOWN", "In Lisbon [1]."])
    monkeypatch.setattr("memgraph_engine.engine.wiring.Roles", lambda settings, llm: Roles(settings, llm=chat))
    for role in ("PLANNING", "SUFFICIENCY"):
        monkeypatch.setenv(f"MEMGRAPH_ENGINE_LLM__ROLES__{role}__MODEL", "")
    found = cli("ask", "Where does Ana live?")
    answer, cited = found.stdout.splitlines()
    assert answer == "In Lisbon�[2J [1]."
    assert cited.startswith("[1] 2023-05-08 (Mon): Ana: I moved to Lisbon.")
    assert found.stderr == ""
    assert "cites nothing" in cli("ask", "Where does Ana live?").stderr
    assert cli("ask", "Where does Ana live?").stdout == "I don't know.\n"
    assert json.loads(cli("ask", "Where does Ana live?", "--json").stdout)["supported"] is True


def test_filters_narrow_a_search(cli):
    lisbon(cli)
    cli("add", "I moved to Porto.", "--speaker", "Bo", "--id", "D2:1", "--time", "2024-01-01")
    for filters in (
        ["--speaker", "Ana"],
        ["--session", "s1"],
        ["--until", "2023-12-31"],
        ["--tag", "home"],
        ["--metadata", "floor=2"],
        ["--tag", "floor=2", "--metadata", "floor=2"],
    ):
        hits = json.loads(cli("search", "Who moved?", *filters, "--json").stdout)
        assert [hit["note"]["sources"][0]["id"] for hit in hits] == ["D1:3"]
    nothing = cli("search", "Who moved?", "--min-similarity", "0.99")
    assert (nothing.stdout, nothing.stderr) == ("", "Nothing found.\n")


def test_a_search_looks_back(cli):
    lisbon(cli)
    recorded = json.loads(cli("get", "D1:3", "--json").stdout)["recorded_at"]
    cli("update", "D1:3", "I moved to Faro.")
    assert "I moved to Lisbon." in cli("search", "Where does Ana live?", "--known-at", recorded).stdout
    assert "I moved to Faro." in cli("search", "Where does Ana live?", "--as-of", "2023-05-08").stdout
    assert cli("search", "Where does Ana live?", "--as-of", "2023-05-07").stdout == ""
    assert "as_of" in cli("search", "Where does Ana live?", "--as-of", "yesterday", code=2).stderr


def test_explain_shows_the_channels(cli):
    lisbon(cli)
    shown = cli("search", "Where does Ana live?", "--explain").stdout
    for word in ("channel", "raw", "normalised", "weighted", "lexical_raw", "dense_context", "proposed by"):
        assert word in shown
    (hit,) = json.loads(cli("search", "Where does Ana live?", "--explain", "--json").stdout)
    assert hit["explanation"]["channels"]["dense_raw"].keys() == {"raw", "normalised", "weighted"}


def test_what_joins_another_note_or_none_says_so(cli):
    lisbon(cli)
    assert cli("add", "I moved to Lisbon.", "--speaker", "Ana", "--id", "again").stdout.startswith("Repeats note ")
    assert cli("add", "Haha, thanks!", "--id", "x").stdout == "Kept source x, without a note (`decisions` tells why).\n"


def test_what_is_stored_without_waiting_is_constructed_later(cli, tmp_path):
    assert lisbon_later(cli).stdout.endswith("; it is to be constructed.\n")
    assert "pending" in cli("search", "Lisbon").stdout
    file = tmp_path / "chat.jsonl"
    file.write_text('{"text": "The tide turns at noon."}\n{"text": "Haha!"}\n')
    counted = "0 new, 1 discarded, 1 to be constructed, 0 known already\n"
    assert cli("ingest", str(file), "--no-wait").stdout == counted
    assert json.loads(cli("stats", "--json").stdout)["notes"] == {"pending": 2}
    assert cli("process").stdout == "2 new, 0 known already\n"
    assert json.loads(cli("process", "--json").stdout)["added"] == 0
    assert json.loads(cli("stats", "--json").stdout)["notes"] == {"active": 2}


def lisbon_later(cli):
    return cli("add", "I moved to Lisbon.", "--speaker", "Ana", "--no-wait")


def test_costs_are_shown_by_day_with_their_sum(cli, tenant, embedder):
    cli("add", "The tide turns at noon.")
    nothing = cli("cost")
    assert (nothing.stdout, nothing.stderr) == ("", "No chat model was asked.\n")
    for day, money in ((1, 0.25), (2, None)):
        answer = Reply(json.dumps(extracted("A tide.")), Cost(1, 1000, 20, money))
        with memory_with(tenant, embedder, [answer], only=["extraction"]) as (memory, _):
            object.__setattr__(memory.engine, "clock", lambda day=day: datetime(2026, 3, day, tzinfo=UTC))
            memory.add(f"The tide turns at {day}.", user_id="ana")
    shown = [line.split() for line in cli("cost").stdout.splitlines()]
    assert shown == [
        ["day", "calls", "tokens", "read", "written", "money"],
        ["2026-03-02", "1", "1,000", "20", "of", "unknown", "price"],
        ["2026-03-01", "1", "1,000", "20", "$0.2500"],
        ["total", "2", "2,000", "40", "of", "unknown", "price"],
    ]
    days = json.loads(cli("cost", "--json", "--since", "2026-03-02").stdout)
    assert [(day["day"], day["cost"]["calls"], day["cost"]["money"]) for day in days] == [("2026-03-02", 1, None)]
    assert "since" in cli("cost", "--since", "yesterday", code=2).stderr
    assert cli("cost", user=None, code=2).stdout == ""


def test_a_note_is_shown_updated_and_deleted_with_its_history(cli):
    lisbon(cli)
    assert "I moved to Lisbon." in cli("get", "D1:3").stdout
    assert cli("update", "D1:3", "I moved to Faro.").stdout.startswith("Updated note ")
    assert cli("delete", "D1:3").stdout.startswith("Deleted note ")
    shown = cli("history", "D1:3").stdout
    assert shown.index("Lisbon") < shown.index("Faro") < shown.index("(deleted)")
    versions = json.loads(cli("history", "D1:3", "--json").stdout)
    assert [version["decision"]["kind"] for version in versions] == ["append", "update", "delete"]
    assert cli("get", "D1:3", code=1).stdout == ""


def test_a_note_is_shown_in_its_own_words_once_and_unpadded(cli):
    fields = ("--speaker", "Ana", "--time", "2023-05-08")
    for id_, text in (
        ("1", "I moved to Lisbon."),
        ("2", "I moved  to Lisbon."),
        ("3", "Well, I moved to Lisbon, you know!"),
    ):
        cli("add", text, "--id", id_, *fields)
    for command in (["list"], ["search", "Lisbon"]):
        shown = cli(*command).stdout
        assert shown.endswith("    Ana: I moved to Lisbon.\n    Ana: Well, I moved to Lisbon, you know!\n")
    cli("update", json.loads(cli("list", "--json").stdout)[0]["id"], "I moved to Porto.")
    for command in (["list"], ["search", "Porto"]):
        shown = cli(*command).stdout
        assert "Ana: I moved to Porto." in shown
        assert "Lisbon" not in shown


def corrected(cli):
    """Say where Ana lives, and that it is so no more; return the decisions on notes, oldest first."""
    cli("add", "I live in Lisbon.", "--speaker", "Ana", "--id", "old", "--time", "2023-05-08")
    cli("add", "I live  in Lisbon.", "--speaker", "Ana", "--id", "again", "--time", "2023-05-09")
    cli(
        "add", "I no longer live in Lisbon, I moved to Faro.", "--speaker", "Ana", "--id", "new", "--time", "2023-06-01"
    )
    return [one for one in json.loads(cli("decisions", "--json").stdout)[::-1] if one["kind"] != "profile"]


def test_explain_tells_the_story_of_a_note(cli):
    corrected(cli)
    shown = cli("explain", "old").stdout
    for word in (
        "superseded",
        "2 sources",
        "append",
        "reinforce",
        "redundancy 1.00",
        "merge above 0.7",
        'says "no longer"',
    ):
        assert word in shown
    assert "(this note)" in shown
    ties = shown[shown.index("\nties") :]
    assert "supersede 1.00" in ties
    assert "I moved to Faro." in ties
    story = json.loads(cli("explain", "old", "--json").stdout)
    made = [decision for decision in story["decisions"] if decision["kind"] != "profile"]
    assert [decision["kind"] for decision in made] == ["append", "reinforce", "supersede"]
    assert made[1]["considered"][0]["relation"] == "same"
    assert story["ties"][0]["kind"] == "supersede"


def test_explain_shows_nothing_of_a_considered_note_that_was_deleted(cli):
    cli("add", "The blue boat leaks at the bow.", "--id", "old")
    cli("add", "The blue boat does not leak at the bow.", "--id", "new")
    assert "The blue boat leaks at the bow." in cli("explain", "new").stdout
    cli("delete", "old")
    decisions = cli("explain", "new").stdout.partition("\ndecisions")[2].partition("\nties")[0]
    assert "(deleted)" in decisions
    assert "The blue boat leaks" not in decisions


def test_decisions_are_listed_newest_first_and_say_what_is_undone(cli):
    made = corrected(cli)
    shown = cli("decisions").stdout
    assert shown.index("supersede") < shown.index("reinforce") < shown.index("append")
    assert 'in place of "Ana: I live in Lisbon. (8 May, 2023)"' in shown
    assert shown.count('\n    "Ana: I no longer live in Lisbon, I moved to Faro. (1 June, 2023)"') == 1
    newest = [d["id"] for d in json.loads(cli("decisions", "--limit", "2", "--json").stdout)]
    assert len(newest) == 2
    assert made[2]["id"] in newest
    assert json.loads(cli("decisions", "--until", "2020-01-01", "--json").stdout) == []
    cli("undo", made[2]["id"])
    assert "undone by" in cli("decisions").stdout
    assert "limit" in cli("decisions", "--limit", "0", code=2).stderr


def test_undo_takes_a_decision_back_and_later_ones_only_with_cascade(cli):
    first, _, _ = corrected(cli)
    refused = cli("undo", first["id"], code=1)
    assert "cascade" in refused.stderr
    assert refused.stdout == ""
    assert cli("undo", first["id"], "--cascade").stdout.startswith(f"Undid decision {first['id']}")
    assert cli("list").stdout == ""
    assert "already" in cli("undo", first["id"], code=1).stderr
    assert cli("undo", "nothing", code=1).stderr.startswith("Error: There is no decision 'nothing'")
    assert cli("verify").stdout == "No faults.\n"


def test_a_decision_says_that_it_tells_a_change(cli):
    cli("add", "My favourite tea is mint.", "--time", "2024-03-01", "--id", "old")
    cli("add", "My favourite tea is ginger now.", "--time", "2024-05-03", "--id", "new")
    old = json.loads(cli("get", "old", "--json").stdout)["id"]
    told = cli("decisions", "--limit", "1").stdout
    assert f"    It tells a change of note {old}. The new one says " in told
    why = json.loads(cli("decisions", "--json").stdout)[0]["considered"][0]["evidence"]
    assert why
    assert cli("explain", "new").stdout.count(why) == 1
    story, _, ties = cli("explain", "old").stdout.partition("\nties")
    assert why in story
    new = json.loads(cli("get", "new", "--json").stdout)["id"]
    assert f"to take it back: memgraph-engine untie {old} {new} --user ana\n" in ties


def test_a_tie_is_taken_back_and_told(cli):
    cli("add", "My favourite tea is mint.", "--time", "2024-03-01", "--id", "old")
    cli("add", "My favourite tea is ginger now.", "--time", "2024-05-03", "--id", "new")
    old, new = (json.loads(cli("get", name, "--json").stdout)["id"] for name in ("old", "new"))
    assert "\nties\n" in cli("explain", "new").stdout
    told = cli("untie", old, new).stdout
    decision = json.loads(cli("decisions", "--json").stdout)[0]
    assert told == f"Untied notes {old} and {new} (decision {decision['id']}).\n"
    evidence = f"Takes back a tie of the kind change, from {new} to {old}."
    assert decision["evidence"] == evidence
    listed = cli("decisions", "--limit", "1").stdout.splitlines()
    assert listed[0].endswith(f"untie      {decision['id']}")
    mint, ginger = "My favourite tea is mint. (1 March, 2024)", "My favourite tea is ginger now. (3 May, 2024)"
    assert listed[1:] == [f'    "{mint}"', f'    "{ginger}"', f"    {evidence}"]
    for name in ("old", "new"):
        story = cli("explain", name).stdout
        assert f"    {evidence}\n" in story
        assert "\nties\n" not in story
    refused = cli("untie", new, old, code=1)
    assert (refused.stdout, "already" in refused.stderr) == ("", True)
    cli("undo", decision["id"])
    assert json.loads(cli("untie", "new", "old", "--json").stdout)["kind"] == "untie"
    assert "no note 'nothing'" in cli("untie", "new", "nothing", code=1).stderr
    assert "the same note" in cli("untie", "new", new, code=2).stderr
    assert cli("verify").stdout == "No faults.\n"


def test_deleting_everything_asks_first(cli):
    lisbon(cli)
    refused = cli("delete", "--all", code=1, input="n\n")
    assert "Delete 1 note of user ana?" in refused.stderr
    assert "Deleted" not in refused.stdout
    deleted = cli("delete", "--all", input="y\n")
    assert deleted.stdout.endswith("Deleted 1 note.\n")
    undo = shlex.split(deleted.stderr.rpartition("memgraph-engine ")[2])
    assert json.loads(cli("delete", "--all", "--yes", "--json").stdout) == {"notes": 0, "decisions": []}
    cli(*undo, user=None)
    assert "Lisbon" in cli("list").stdout


def test_what_the_options_leave_is_listed_and_deleted(cli):
    lisbon(cli)
    cli("add", "The heron eats fish.", "--session", "lake", "--tag", "bird")
    cli("add", "The tide turns at noon.")
    assert "heron" not in cli("list", "--session", "s1").stdout
    assert len(json.loads(cli("list", "--tag", "bird", "--json").stdout)) == 1
    assert "Delete 1 note of user ana?" in cli("delete", "--all", "--tag", "bird", code=1, input="n\n").stderr
    deletion = json.loads(cli("delete", "--all", "--tag", "bird", "--yes", "--json").stdout)
    assert (deletion["notes"], len(deletion["decisions"])) == (1, 1)
    left = cli("list").stdout
    assert "Lisbon" in left
    assert "tide" in left
    assert "heron" not in left


def test_stats_and_verify(cli, tenant):
    lisbon(cli)
    assert json.loads(cli("stats", "--json").stdout)["notes"] == {"active": 1}
    assert "1 active" in cli("stats").stdout
    assert cli("verify").stdout == "No faults.\n"
    assert json.loads(cli("verify", "--json").stdout) == []


def test_verify_fails_with_a_line_for_each_fault(cli, tenant, server):
    lisbon(cli)
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        driver.execute_query("MATCH (s:Scope {tenant: $tenant}) SET s.notes = 7", tenant=tenant)
    assert cli("verify", code=1).stdout.count("\n") == 1
    assert "7" in json.loads(cli("verify", "--json", code=1).stdout)[0]


def test_the_shared_memory_is_read_beside_a_users_own(cli):
    cli("add", "The office is in Faro.", "--shared", user=None)
    found = cli("search", "Where is the office?")
    assert "Faro" in found.stdout
    assert "There is no user 'ana'" in found.stderr
    assert "The shared memory is asked." in found.stderr
    assert cli("list", code=1).stdout == ""
    assert "Faro" in cli("list", "--shared", user=None).stdout


def test_another_tenant_sees_nothing(cli, tenant):
    lisbon(cli)
    for command in (["list"], ["search", "Lisbon"]):
        unknown = cli(*command, "--tenant", f"{tenant}-other", code=1)
        assert unknown.stdout == ""
        assert "nor any other" in unknown.stderr


def test_json_is_one_document_with_iso_times(cli):
    lisbon(cli)
    assert json.loads(cli("list", "--session", "s9", "--json").stdout) == []
    cli("add", "The tide turns at noon.")
    notes = json.loads(cli("list", "--json").stdout)
    assert notes[0]["said_at"] == "2023-05-08T13:56:00+00:00"
    assert json.loads(cli("get", "D1:3", "--json").stdout) == notes[0]


def test_stored_text_gives_no_orders_to_the_terminal(cli):
    cli("add", "[bold]loud[/bold] :smile: \x1b[2J gone")
    shown = cli("list").stdout
    assert "[bold]loud[/bold] :smile: \ufffd[2J gone" in shown


ORDERS = "\x1b[2J\x07\x9b1A\r\u202e\u2066\u200f\u2028\U000e0041"


def test_nothing_that_is_stored_gives_orders_by_any_command_and_json_is_exact(cli):
    text, changed = f"The boat{ORDERS} sails to Madeira.", f"The boat{ORDERS} no longer sails to Madeira."
    user = "an\u202ea"
    cli(
        "add", text, "--speaker", f"A{ORDERS}", "--id", "x\u202e1", "--session", f"s{ORDERS}", "--tag", "t\u202eag",
        user=user,
    )  # fmt: skip
    cli("add", changed, "--speaker", f"A{ORDERS}", user=user)
    told = json.loads(cli("list", "--json", user=user).stdout)
    assert changed in {source["text"] for note in told for source in note["sources"]}
    note = told[0]["id"]
    alone = ("users", "tenants list")
    commands = [
        *alone, "list", "search boat --explain", "context boat", "ask boat", "sessions", "decisions", "topics list",
        "profile", "stats", "verify", "audit about boat", "audit deleted", "prompt boat", f"get {note}",
        f"history {note}", f"explain {note}", "forget --query boat --dry-run",
    ]  # fmt: skip
    for command in commands:
        for form in ([], ["--json"]):
            found = CliRunner().invoke(app, [*command.split(), *form, *([] if command in alone else ["--user", user])])
            assert found.exit_code in (0, 1, 2), command
            assert not set(ORDERS.replace("[2J", "").replace("1A", "")) & set(found.output), (command, form)
    assert json.loads(cli("users", "--json", user=None).stdout)[0]["id"] == user
    assert "an\ufffda" in cli("users", user=None).stdout
    assert r"an\u202ea" in cli("get", "none", user=user, code=1).stderr


# ---- files ----------------------------------------------------------------------------------


def write(path, *lines):
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return str(path)


def test_wrong_lines_are_named_and_the_rest_is_stored(cli, tmp_path):
    file = write(
        tmp_path / "chat.jsonl",
        {"id": "1", "text": "The heron eats fish."},
        '{"id": "2", "text":',
        {"id": "3", "text": "The ferry is late.", "time": "nonsense"},
        {"id": "1", "text": "Something else."},
        {"id": "5", "text": "The tide turns at noon."},
    )
    result = cli("ingest", file, code=1)
    assert result.stdout == "2 new, 0 known already, 3 passed over\n"
    assert f"{file}:2: no JSON" in result.stderr
    assert f"{file}:3: " in result.stderr
    assert "nonsense" in result.stderr
    assert "Source '1'" in result.stderr
    again = json.loads(cli("ingest", file, "--json", code=1).stdout)
    assert (again["added"], again["repeats"], len(again["faults"])) == (0, 2, 3)


def test_a_line_says_what_became_of_the_inputs(cli, tmp_path):
    texts = [
        "I live in Lisbon.",
        "I live  in Lisbon.",
        "Our beekeeper sold two hives of bees.",
        "By the way, our beekeeper sold 2 hives of bees!",
        "Thanks!",
        "I no longer live in Lisbon, I moved to Faro.",
    ]
    talk = [{"id": str(n), "text": text, "speaker": "Ana"} for n, text in enumerate(texts)]
    file = write(tmp_path / "chat.jsonl", *talk)
    said = "3 new (1 in place of an older one), 1 merged, 1 repeated, 1 discarded, 0 known already\n"
    assert cli("ingest", file).stdout == said
    assert cli("ingest", file).stdout == "0 new, 6 known already\n"
    again = write(tmp_path / "again.jsonl", *({**turn, "id": f"again-{turn['id']}"} for turn in talk))
    tally = json.loads(cli("ingest", again, "--json").stdout)
    kinds = {
        "added",
        "superseded",
        "merged",
        "reinforced",
        "discarded",
        "deferred",
        "repeats",
        "updated",
        "deleted",
        "restored",
    }
    assert kinds | {"files", "skipped", "faults", "fallbacks", "cost", "remarks"} == set(tally)


def test_several_files_of_several_formats(cli, tmp_path):
    chat = write(tmp_path / "chat.json", '[{"content": "The ferry is late.", "role": "user"}]')
    guide = write(tmp_path / "guide.md", "# Guide", "", "## Boats", "", "They float.")
    assert cli("ingest", chat, guide).stdout == "2 new, 0 known already\n"
    assert "They float." in cli("search", "What do boats do?").stdout


def test_a_file_that_can_not_be_read_at_all_does_not_stop_the_others(cli, tmp_path):
    strange = write(tmp_path / "strange.dat", "???")
    good = write(tmp_path / "good.txt", "The tide turns at noon.")
    result = cli("ingest", strange, good, code=1)
    assert "format" in result.stderr
    assert result.stdout == "1 new, 0 known already, 1 passed over\n"


def test_a_file_s_name_breaks_no_line_and_gives_no_orders(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_BLOCKS__SCHEMA_FILE", "repository")
    names = ("new\nline.py", "tab\there.py", "esc\x1b[2J.py", "turn\u202e.py")
    for name in (*names, "bad\nhex.py"):
        (tmp_path / name).write_bytes(b"def sail():\n    return 1\n" if name in names else b"x = '\0'\n\xff")
    options = ("--format", "code", *(str(tmp_path / name) for name in (*names, "bad\nhex.py")))
    assert "bad�hex.py" in cli("ingest", *options, code=1).stderr
    cli("blocks", "rebuild")
    commands = ("search sail", "blocks search sail", "blocks outline", "sessions", "decisions", "list")
    for command in commands:
        lines = cli(*command.split()).stdout.splitlines()
        assert not [line for line in lines if line.startswith(("line.py", "here.py"))], command
        assert not set("\t\x1b\u202e") & set("".join(lines)), command
    assert sum("new�line.py" in cli(*command.split()).stdout for command in commands) >= 3


def test_a_folder_is_ingested_and_followed(cli, tmp_path):
    notes = tmp_path / "notes"
    (notes / "boats").mkdir(parents=True)
    write(notes / "tide.txt", "The tide turns at noon.")
    write(notes / "boats" / "blue.md", "---", "title: Blue", "---", "The blue boat leaks.")
    write(notes / ".draft.md", "Not yet.")
    write(notes / "photo.jpeg", "")
    (notes / "boats" / "up").symlink_to("..")
    said = cli("ingest", str(notes))
    assert said.stdout == "2 new, 0 known already\nSkipped: 1 a link in a circle, 1 hidden, 1 of no known kind\n"
    assert said.stderr == f"{notes}/boats/up: a link in a circle; it is not followed\n"
    (notes / "boats" / "blue.md").unlink()
    assert cli("ingest", str(notes), "--update").stdout.startswith("0 new, 1 known already, 1 deleted\n")
    document = json.loads(cli("ingest", str(notes), "--update", "--json").stdout)
    assert (document["files"], document["repeats"], document["deleted"]) == (1, 1, 0)
    assert {"file": f"{notes}/.draft.md", "reason": "hidden"} in document["skipped"]
    decision = json.loads(cli("decisions", "--json", "-n", "1").stdout)[0]["id"]
    cli("undo", decision)
    assert "leaks" in cli("search", "blue boat").stdout


def test_a_text_in_another_encoding_is_read_as_the_option_says(cli, tmp_path):
    file = tmp_path / "dacha.txt"
    file.write_bytes("Завтра мы поедем на дачу.".encode("cp1251"))
    assert f"{file}:1: the file is not UTF-8" in cli("ingest", str(file), code=1).stderr
    assert cli("ingest", str(file), "--encoding", "cp1251").stdout == "1 new, 0 known already\n"
    assert "klingon" in cli("ingest", str(file), "--encoding", "klingon", code=2).stderr


def test_a_folder_with_a_circle_and_a_file_that_changes_is_ingested_as_far_as_it_can_be(cli, tmp_path, monkeypatch):
    notes = tmp_path / "notes"
    notes.mkdir()
    write(notes / "a.md", "The boat is blue.")
    write(notes / "b.md", "The tide turns at noon.")
    (notes / "up").symlink_to("..")
    (notes / "self").symlink_to(".")
    changing, times = (notes / "a.md").stat().st_ino, count()
    monkeypatch.setattr(
        "memgraph_engine.ingest.files.state",
        lambda file: (next(times) if os.fstat(file).st_ino == changing else 0, 0),
    )
    result = cli("ingest", str(notes), code=1)
    assert f"{notes / 'a.md'}: the file changed while it was read; ingest it again once it is complete" in result.stderr
    assert f"{notes / 'self'}" in result.stderr
    assert "a link in a circle" in result.stderr
    assert result.stdout.startswith("1 new, ")
    assert "tide" in cli("list").stdout


@pytest.mark.parametrize(
    ("content", "fault"), [(b"{", "no JSON"), (b"\xff\x00", "no JSON"), (b'{"people": {}}', "no object of user")]
)
def test_a_ranking_that_can_not_be_used_is_named(typed, tmp_path, monkeypatch, content, fault):
    monkeypatch.setenv("MEMGRAPH_ENGINE_URI", "bolt://127.0.0.1:1")  # so that nothing is started where it is not named
    file = tmp_path / "ranking.json"
    file.write_bytes(content)
    monkeypatch.setenv("MEMGRAPH_ENGINE_RECALL__RANKING", str(file))
    for command in (["search", "boat"], ["stats"], ["add", "The boat is blue."]):
        told = typed(*command, code=1)
        assert (told.stdout, told.stderr.count("\n")) == ("", 1)
        assert f"The ranking {str(file)!r} can't be used: it" in told.stderr
        assert fault in told.stderr


def test_a_missing_file_is_wrong_usage(typed):
    assert "does not exist" in typed("ingest", "no-such-file.jsonl", code=2).stderr


# ---- ready, and shown -----------------------------------------------------------------------


def test_init_says_what_it_does_and_what_to_do_next(cli, server):
    told = cli("init", user=None)
    steps = [told.stderr.index(step) for step in ("Connecting to Neo4j", "Loading the embedding model", "Ready.")]
    assert steps == sorted(steps)
    for line in told.stderr[steps[-1] :].splitlines()[:3]:
        command = shlex.split(line.partition("memgraph-engine ")[2])
        assert command == ["demo"] or cli(*command, user=None)
    ready = json.loads(cli("init", "--json", user=None).stdout)
    assert ready["neo4j"] == server.uri
    assert ready["dimensions"] == 384


def settings_in(table):
    for value in table.values():
        yield from settings_in(value) if isinstance(value, dict) else [value]


def test_init_writes_a_template_that_changes_nothing_and_overwrites_nothing(cli, tmp_path, monkeypatch):
    file = tmp_path / "mine.toml"
    cli("init", "--write-config", str(file), user=None)
    assert list(settings_in(tomllib.loads(file.read_text()))) == []
    before = Settings.load()
    monkeypatch.setenv("MEMGRAPH_ENGINE_CONFIG", str(file))
    assert Settings.load() == before
    file.write_text(file.read_text().replace("# pool = 150", "pool = 50"))
    assert Settings.load().recall.pool == 50
    assert "is there already" in cli("init", "--write-config", str(file), user=None, code=1).stderr
    assert Settings.load().recall.pool == 50


@pytest.fixture
def demo_tenant(tenant, monkeypatch):
    monkeypatch.setattr(importlib.import_module("memgraph_engine.cli.demo"), "_TENANT", tenant)


def test_the_demo_answers_its_questions_and_can_be_repeated(cli, demo_tenant, root):
    begun = cli("demo", user=None)
    first = begun.stdout
    assert begun.stderr.startswith("Making the embedding model and Neo4j ready")
    assert "0 known already" in first
    for question in (root / "config/sample/questions.txt").read_text().splitlines():
        assert question in first
    for answer in ("Pepper", "moved to Aveiro", "allergic to hazelnuts", "6 July", "village hall", "Aurora"):
        assert answer in first
    assert "MATCH" in first
    told = first[first.index("What has changed") : first.index("Go on")]
    assert told.index("6 September") < told.index("was true until 2024-08-25") < told.index("`undo`")
    assert told.partition("`undo`")[2].count("30 August") == 2  # the line, and the date that it names
    assert "6 September" not in told.partition("`undo`")[2]
    again = cli("demo", user=None).stdout
    assert "0 new" in again
    assert again.partition("\n")[2] == first.partition("\n")[2]


def test_the_demo_takes_the_first_conversation_of_a_locomo_file(cli, demo_tenant, tmp_path):
    turns = [
        {"speaker": "Ida", "dia_id": "D1:1", "text": "Did you find the key?"},
        {"speaker": "Otto", "dia_id": "D1:2", "text": "It was in the teapot."},
    ]
    samples = [
        {
            "sample_id": f"conv-{n}",
            "conversation": {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"},
            "qa": [
                {"question": "What is unknown?", "evidence": []},
                {"question": "Where was the key?", "evidence": ["D1:2"]},
            ],
        }
        for n in range(2)
    ]
    file = write(tmp_path / "locomo.json", json.dumps(samples))
    shown = cli("demo", file, user=None).stdout
    assert "2 messages in 1 session: 2 new" in shown
    assert "Where was the key?" in shown
    assert "It was in the teapot." in shown
    assert "What is unknown?" not in shown
    other = write(tmp_path / "other.json", '{"some": "thing"}')
    assert "no LoCoMo file" in cli("demo", other, user=None, code=2).stderr


def test_the_demo_says_how_to_go_on_in_its_own_memory(cli, demo_tenant, tenant):
    shown = cli("demo", user=None).stdout
    commands = [shlex.split(line)[1:] for line in shown.splitlines() if line.startswith("  memgraph-engine ")]
    assert len(commands) == 3
    for command in commands:
        assert command[command.index("--tenant") + 1] == tenant
        assert cli(*command, user=None).stdout


# ---- who and what there is ----------------------------------------------------------------------


def test_users_sessions_and_tenants_are_listed(cli, tenant):
    lisbon(cli)
    cli("add", "The tide turns at noon.", user="bo")
    assert cli("users", user=None).stdout == "ana  1 note\nbo  1 note\n"
    assert json.loads(cli("users", "--json", user=None).stdout) == [{"id": "ana", "notes": 1}, {"id": "bo", "notes": 1}]
    assert cli("sessions").stdout == "s1  1 source, 2023-05-08 13:56 UTC\n"
    assert cli("sessions", user="bo").stderr == "There are no sessions.\n"
    assert f"{tenant}  2 users, 2 notes\n" in cli("tenants", "list", user=None).stdout
    assert "has no users" in cli("users", "--tenant", f"{tenant}-other", user=None).stderr


def test_a_user_whose_notes_are_all_gone_has_none_until_all_is_erased(cli):
    lisbon(cli)
    cli("delete", "--all", "--yes")
    assert cli("users", user=None).stdout == "ana  0 notes\n"
    assert cli("list").stderr == cli("search", "Where?").stderr == "Nothing found.\n"
    cli("forget", "--all", "--yes")
    assert "has no users" in cli("users", user=None).stderr


@pytest.mark.parametrize("command", [["search", "x"], ["context", "x"], ["ask", "x"]])
def test_a_number_of_notes_that_can_not_be_is_told_by_its_option(typed, command):
    for number, most in (("0", "1"), ("-1", "1"), ("1001", "1000")):
        told = typed(*command, "--top-k", number, code=2).stderr
        assert "Invalid value for '--top-k'" in told
        assert most in told
        assert "get_all" not in told
    assert "--limit" in typed("decisions", "--limit", "0", code=2).stderr


def test_a_long_hit_is_printed_by_its_beginning_unless_all_of_it_is_asked_for(cli):
    text = "The ferry to Faro left at noon, and nobody was on it. " * 20
    cli("add", text, "--id", "long")
    told = cli("search", "ferry", user="ana").stdout
    assert "…" in told
    assert len(told) < 500
    assert text.strip() in cli("search", "ferry", "--whole").stdout
    assert json.loads(cli("search", "ferry", "--json").stdout)[0]["note"]["text"] == text.strip()


@pytest.mark.parametrize(
    ("option", "meant"),
    [
        ("--limit", "--top-k"),
        ("-k", "--top-k"),
        ("--size", "--top-k"),
        ("--sesion", "--session"),
        ("--where", "--metadata"),
    ],
)
def test_an_option_that_there_is_not_is_answered_with_the_one_that_is_meant(typed, option, meant):
    assert f"No such option: {option} (Possible options: {meant})" in typed("search", "x", option, "3", code=2).stderr


def test_an_option_in_front_of_its_command_is_told_where_it_belongs(typed):
    told = typed("topics", code=2).stderr
    assert "--user belongs behind a command of `memgraph-engine topics`: list, show, ties, runs, rebuild, diff." in told
    assert "--user belongs behind a command of `memgraph-engine`: add, " in typed(code=2).stderr
    nobodys = typed("topics", "--fish", user=None, code=2).stderr
    assert "No such option: --fish" in nobodys


READING = [
    ["search", "x"], ["ask", "x"], ["context", "x"], ["get", "x"], ["list"], ["history", "x"], ["explain", "x"],
    ["update", "x", "y"], ["delete", "x"], ["delete", "--all", "--yes"], ["decisions"], ["undo", "x"], ["stats"],
    ["untie", "x", "y"], ["cost"], ["verify"], ["sessions"], ["render"], ["process"], ["topics", "list"],
    ["topics", "rebuild"], ["topics", "show", "x"], ["topics", "diff"], ["blocks", "rebuild"], ["blocks", "list"],
    ["blocks", "show", "x"], ["blocks", "outline"], ["blocks", "search", "x"],
    ["claims", "consolidate"], ["claims", "list"], ["claims", "about", "x"], ["claims", "show", "x"],
]  # fmt: skip


def test_an_unknown_user_is_told_with_the_nearest_names(cli):
    lisbon(cli)
    for command in READING:
        unknown = cli(*command, user="Anna", code=1)
        assert unknown.stdout == "", command
        assert unknown.stderr.endswith("Did you mean 'ana'?\n"), command
        assert "`memgraph-engine users --tenant " in cli(*command, user="zoltan", code=1).stderr, command
    cli("stats", user="ana")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["version"], "Did you mean `memgraph-engine --version`?"),
        (["start"], "`memgraph-engine db start`"),
        (["serach"], "Did you mean `memgraph-engine search`?"),
        (["policy", "list"], "The commands of `memgraph-engine policy` are set, apply, check."),
        (["frobnicate"], "`memgraph-engine --help` lists the commands."),
    ],
)
def test_of_an_unknown_command_it_is_told_what_may_be_meant(command, said):
    told = CliRunner().invoke(app, command, prog_name="memgraph-engine")
    assert (told.exit_code, said in told.stderr) == (2, True)


def test_a_time_says_that_it_is_utc(cli):
    cli("add", "The heron eats fish.", "--time", "2024-05-01T10:00+02:00", "--id", "h", "--session", "lake")
    for command in (["get", "h"], ["list"], ["search", "heron"], ["sessions"], ["audit", "about", "heron"]):
        assert "2024-05-01 08:00 UTC" in cli(*command).stdout
    for command in (["history", "h"], ["explain", "h"], ["decisions"], ["audit", "changed", "h"]):
        assert " UTC" in cli(*command).stdout


def test_a_hint_names_the_memory_that_was_meant(cli, tenant):
    lisbon(cli, user="ana lee")
    whose = f"--user 'ana lee' --tenant {tenant}\n"
    for command in (["topics", "list"], ["topics", "diff"]):
        told = cli(*command, "--tenant", tenant, user="ana lee").stdout
        assert told.endswith(f"memgraph-engine topics rebuild {whose}")
    for command in (["blocks", "list"], ["blocks", "outline"]):
        told = cli(*command, "--tenant", tenant, user="ana lee").stdout
        assert told.endswith(f"memgraph-engine blocks rebuild {whose}")
    told = cli("claims", "list", "--tenant", tenant, user="ana lee").stdout
    assert told.endswith(f"memgraph-engine claims consolidate {whose}")
    assert cli("delete", "--all", "--yes", "--tenant", tenant, user="ana lee").stderr.endswith(whose)


def test_a_hit_says_until_when_it_was_true(cli):
    cli("add", "My favourite tea is mint.", "--time", "2024-03-01", "--id", "old")
    cli("add", "My favourite tea is ginger now.", "--time", "2024-05-03", "--id", "new")
    new = json.loads(cli("get", "new", "--json").stdout)["id"]
    then = f"until 2024-05-03, replaced by {new}\n"
    assert f"old  {then}" in cli("search", "favourite tea").stdout
    for command in (["get", "old"], ["list"], ["history", "old"], ["explain", "old"], ["audit", "about", "tea"]):
        assert cli(*command).stdout.count(then) == 1
    assert f"replaced_by: {new}" in cli("audit", "changed", "old").stdout
    hits = {hit["note"]["sources"][0]["id"]: hit for hit in json.loads(cli("search", "tea", "--json").stdout)}
    assert (hits["old"]["until"], hits["old"]["replaced_by"]) == ("2024-05-03T00:00:00+00:00", new)
    assert (hits["new"]["until"], hits["new"]["replaced_by"]) == (None, None)


def test_nothing_is_padded_with_blanks(cli, tmp_path):
    made = corrected(cli)
    cli("add", "The tide turns at noon.", "--no-wait", "--session", "s1")
    file = write(tmp_path / "chat.jsonl", {"text": "The heron eats fish."})
    note = made[0]["note"]
    for command in (
        ["search", "Where?", "--explain", "--rounds", "2"], ["ask", "Where?"], ["context", "Where?"], ["get", "new"],
        ["list"], ["history", note], ["explain", note], ["decisions"], ["stats"], ["cost"], ["verify"], ["sessions"],
        ["topics", "rebuild"], ["topics", "list"], ["topics", "diff"], ["process"], ["ingest", file], ["render"],
        ["blocks", "rebuild"], ["blocks", "list"], ["blocks", "outline"], ["blocks", "search", "Where?"],
        ["claims", "consolidate"], ["claims", "list"],
    ):  # fmt: skip
        shown = cli(*command)
        assert [line for line in shown.output.splitlines() if line != line.rstrip()] == [], command


def complete(words, **environment):
    """What the tab key offers at the end of a command line, in Bash."""
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_MEMGRAPH_ENGINE_COMPLETE": "complete_bash"}
    done = run(**asked, **environment)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.slow
def test_the_tab_key_completes_users_and_sessions(cli, tenant):
    cli("add", "I moved to Lisbon.", "--session", "spring")
    for user in ("anton", "bo", "a b", "a$(reboot)", "a;b"):  # a shell would run some of these
        cli("add", "The tide turns at noon.", "--session", "other", user=user)
    assert complete(f"memgraph-engine list --tenant {tenant} --user a") == ["ana", "anton"]
    assert complete("memgraph-engine list -u ", MEMGRAPH_ENGINE_TENANT=tenant) == ["ana", "anton", "bo"]
    assert complete("memgraph-engine list --user ana --session ", MEMGRAPH_ENGINE_TENANT=tenant) == ["spring"]
    assert complete("memgraph-engine list --session ", MEMGRAPH_ENGINE_TENANT=tenant) == []
    assert complete("memgraph-engine list --user a", MEMGRAPH_ENGINE_TENANT=f"{tenant}-other") == []
    assert complete("memgraph-engine ses") == ["sessions"]


def test_the_tab_key_starts_no_server_and_says_nothing_where_there_is_none(tmp_path):
    home = {"MEMGRAPH_ENGINE_URI": "", "MEMGRAPH_ENGINE_HOME": str(tmp_path / "home")}
    assert complete("memgraph-engine list --user a", **home) == []
    assert not (tmp_path / "home").exists()
    assert complete("memgraph-engine list --user a", MEMGRAPH_ENGINE_URI="bolt://127.0.0.1:1") == []
    assert complete("memgraph-engine list --user a", MEMGRAPH_ENGINE_RETRY_TIME="soon") == []


def test_a_shell_is_given_its_completion():
    # Typer looks which shell it was started from, and there may be none; told not to look, it takes the shell's name
    shown = run("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_MEMGRAPH_ENGINE_COMPLETE=complete_bash" in shown.stdout


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "memgraph_engine", "--version"], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == (f"memgraph-engine {__version__}\n", 0)


# ---- exit codes and start-up ------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "Who?"],
        ["search", "Who?", "--user", "ana", "--shared"],
        ["search", "Who?", "--user", "ana", "--metadata", "floor"],
        ["search", "Who?", "--user", "ana", "--top-k", "many"],
        ["delete", "--user", "ana"],
        ["reflect", "Who?", "Ana.", "--user", "ana"],
        ["delete", "D1:3", "--all", "--user", "ana"],
        ["ingest", __file__, __file__, "--id", "x", "--user", "ana"],
        ["nonsense"],
    ],
)
def test_wrong_usage_is_exit_code_2_and_reaches_no_server(arguments, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_URI", "bolt://127.0.0.1:1")
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "Error: " in result.stderr
    assert result.stdout == ""


def run(*arguments, **environment):
    return subprocess.run(
        [COMMAND, *arguments], capture_output=True, text=True, env={**os.environ, **environment}, timeout=60
    )


def test_an_error_is_one_line_without_a_traceback():
    gone = {"MEMGRAPH_ENGINE_URI": "bolt://127.0.0.1:1", "MEMGRAPH_ENGINE_RETRY_TIME": "0.1"}
    result = run("stats", "--user", "ana", **gone)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: No Neo4j answers at bolt://127.0.0.1:1")
    assert result.stderr.count("\n") == 1


def failed(**environment):
    """What a command says in an environment in which it fails."""
    result = CliRunner().invoke(app, ["stats", "--user", "ana"], env=environment)
    assert isinstance(result.exception, SystemExit)  # any other one would be told with a traceback
    assert (result.exit_code, result.stdout) == (1, "")
    return result.stderr


def test_a_wrong_setting_is_named():
    assert "retry_time" in failed(MEMGRAPH_ENGINE_RETRY_TIME="soon")


@pytest.mark.parametrize(
    ("content", "fault"),
    [(b"tenant = acme", "no TOML"), (b'tenant = "\xff"', "no TOML in UTF-8"), (b'tennant = "acme"', "no such setting")],
)
def test_a_settings_file_that_can_not_be_used_is_named(tmp_path, content, fault):
    (tmp_path / "mine.toml").write_bytes(content)
    said = failed(MEMGRAPH_ENGINE_CONFIG=str(tmp_path / "mine.toml"))
    assert str(tmp_path / "mine.toml") in said
    assert fault in said
    assert said.count("\n") == 1


def test_a_settings_file_that_can_not_be_read_is_named():
    unreadable = Path("/proc/self/mem")  # also for root
    if not unreadable.exists():
        pytest.skip("no such file here")
    said = failed(MEMGRAPH_ENGINE_CONFIG=str(unreadable))
    assert said.startswith("Error: The settings file /proc/self/mem can't be read: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_output_that_can_not_be_written_is_told():
    with open("/dev/full", "w") as full:
        told = subprocess.run([COMMAND, "db", "status"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert told.returncode == 1
    assert told.stderr.endswith("Error: The output can't be written: No space left on device.\n")


def test_a_variable_that_names_no_setting_is_told(tmp_path):
    own = {"MEMGRAPH_ENGINE_HOME": str(tmp_path / "home"), "MEMGRAPH_ENGINE_TEST_URI": ""}
    result = run("db", "status", MEMGRAPH_ENGINE_URL="bolt://127.0.0.1:1", **own)
    assert result.returncode == 3  # it does not run
    assert result.stderr.startswith("MEMGRAPH_ENGINE_URL names no setting; did you mean MEMGRAPH_ENGINE_URI?\n")
    assert "TEST_URI" not in result.stderr


def test_version_and_help():
    assert run("--version").stdout == f"memgraph-engine {__version__}\n"
    told = CliRunner().invoke(app, ["--help"]).stdout
    panels = re.findall(r"^([A-Z].*):$", told, re.MULTILINE)[1:]
    assert [panel.split()[0] for panel in panels] == ["Talk", "Look", "Change", "Erase", "Run", "From"]
    assert told.index("  search ") < told.index("  get ") < told.index("  update ") < told.index("  forget ")
    assert CliRunner().invoke(app, []).exit_code == 2


def test_help_loads_nothing_heavy():
    code = "import sys, memgraph_engine.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"neo4j", "numpy", "pydantic", "onnxruntime", "rich.console", "memgraph_engine.language.terms"}
    assert not heavy & set(loaded)


def test_a_progress_bar_counts_on_a_terminal(server, tenant, tmp_path):
    file = write(tmp_path / "chat.jsonl", {"text": "The heron eats fish."}, {"text": "The tide turns at noon."})
    ours, its = os.openpty()
    begun = subprocess.Popen(
        [COMMAND, "ingest", file, "--user", "ana", "--tenant", tenant],
        stdout=subprocess.PIPE, stderr=its, env={**os.environ, "TERM": "xterm"}, text=True,
    )  # fmt: skip
    os.close(its)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:  # how a terminal says on Linux that nobody is left at the other end
        assert seen
    finally:
        os.close(ours)
    assert begun.communicate(timeout=60)[0] == "2 new, 0 known already\n"
    assert b"0/2" in seen
    assert b"2/2" in seen


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(memory, tenant):
    memory.add_many([f"Buoy {n} is green." for n in range(2000)], user_id="ana", wait=False)  # more than a pipe holds
    shown = subprocess.run(
        f"{COMMAND} list --user ana --tenant {tenant} | head -1",
        shell=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (shown.stdout.count("\n"), shown.stderr) == (1, "")


@pytest.mark.slow
def test_an_interrupted_ingest_can_be_run_again(memory, tenant, tmp_path):
    file = write(tmp_path / "long.jsonl", *({"text": f"Buoy {n} is green.", "session": "s"} for n in range(240)))
    environment = {**os.environ, "MEMGRAPH_ENGINE_TENANT": tenant, "MEMGRAPH_ENGINE_INGEST_BATCH": "8"}
    begun = subprocess.Popen(
        [COMMAND, "ingest", file, "--user", "ana"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # a shell that runs the tests in the background has them ignore interrupts, and their children too
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    while not memory.stats(user_id="ana").notes and begun.poll() is None:
        time.sleep(0.05)
    begun.send_signal(signal.SIGINT)
    out, err = begun.communicate(timeout=60)
    assert (begun.returncode, out) == (130, "")
    assert "un the same command again" in err
    assert "Traceback" not in err
    stored = memory.stats(user_id="ana").notes["active"]
    assert 0 < stored < 240
    again = run("ingest", file, "--user", "ana", MEMGRAPH_ENGINE_TENANT=tenant)
    assert again.stdout == f"{240 - stored} new, {stored} known already\n"
    assert memory.verify(user_id="ana") == []


def test_a_changed_file_is_ingested_again_as_an_update(cli, tmp_path):
    file = tmp_path / "notes.md"
    file.write_text("# Boats\nThe blue boat leaks.\n")
    cli("ingest", str(file))
    file.write_text("# Boats\nThe blue boat is mended.\n")
    refused = cli("ingest", str(file), code=1)
    assert "--update" in refused.stderr
    assert "1 updated" in cli("ingest", str(file), "--update").stdout
    assert "mended" in cli("search", "blue boat").stdout
    assert "leaks" in cli("history", "notes.md#0").stdout
    assert "1 known already" in cli("ingest", str(file), "--update").stdout


def test_a_rule_alone_is_no_memory(cli, tmp_path):
    file = tmp_path / "rules.md"
    file.write_text("---\ntitle: Boats\n---\n\n# Blue\nIt leaks.\n\n***\n\n# Red\nIt sinks.\n")
    cli("ingest", str(file))
    texts = [note["sources"][0]["text"] for note in json.loads(cli("list", "--json").stdout)]
    assert all(any(letter.isalpha() for letter in text) for text in texts)

"""`memgraph-engine eval export-selector`: what a selector is trained on, on a real database."""

import json
import os
import stat

import pytest
from typer.testing import CliRunner

from memgraph_engine.cli import app
from tests import locomo
from tests.loopback import Say, chat_server, forget_clients

MODEL = "openai/gpt-4o-mini"


@pytest.fixture
def file(tmp_path):
    return locomo.write(tmp_path, locomo.sample(), locomo.sample("two", turns=10))


@pytest.fixture
def export(server, embedder, file, monkeypatch, tmp_path):
    """Run the command, and return its result and the examples that it has written."""
    monkeypatch.setattr("memgraph_engine.evaluation.examples.embedder_named", lambda settings: embedder)
    out = tmp_path / "examples.jsonl"

    def run(*arguments, code=0, to=out):
        given = ["eval", "export-selector", "--file", str(file), "--out", str(to), *arguments]
        result = CliRunner().invoke(app, given)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result, [json.loads(line) for line in out.read_text("utf-8").splitlines()] if out.exists() else []

    return run


@pytest.fixture
def chat(monkeypatch):
    with chat_server() as server:
        monkeypatch.setenv("MEMGRAPH_ENGINE_LLM__API_BASE", server.base)
        monkeypatch.setenv("MEMGRAPH_ENGINE_LLM__RETRIES", "0")
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        server.reply = planned
        yield server
    forget_clients()


def planned(request):
    if locomo.role(request) != "planning":
        return locomo.reply(request)
    (asked,) = locomo.given(request)
    plan = {"question": 1, "topic": "", "keywords": [], "since": None, "until": None}
    return Say(json.dumps({"questions": [plan | {"queries": [asked["text"], "Which pets are there?"]}]}))


def test_an_example_has_what_a_selector_reads_and_what_it_should_keep(export, stored, tmp_path):
    result, examples = export("--sample-id", "one", "--top-k", "3", "--json")
    told = json.loads(result.stdout)
    assert {one["conversation"] for one in examples} == {"one"}
    asked = {one["question"]: one for one in examples}
    assert set(asked) == {text for _, text, _, evidence in locomo.QUESTIONS if evidence}
    for one in examples:
        assert len(one["candidates"]) == 6
        assert [note["note"] for note in one["candidates"]] == [1, 2, 3, 4, 5, 6]
        assert one["queries"] == []
        held = [note["note"] for note in one["candidates"] if set(note["sources"]) & set(one["evidence"])]
        assert one["keep"] == held
    dog = asked["What is the name of Jonas's dog?"]
    assert dog["evidence"] == ["D1:4"]
    (kept,) = (dog["candidates"][number - 1] for number in dog["keep"])
    assert "Pepper" in kept["text"]
    assert kept["speaker"] == "Jonas"
    assert (told["examples"], told["left_out"], told["candidates"]) == (5, 1, 30)
    assert told["answerable"] == sum(bool(one["keep"]) for one in examples) / 5
    assert stored() == []
    assert stat.S_IMODE(os.stat(tmp_path / "examples.jsonl").st_mode) == 0o600


def test_all_conversations_are_exported_unless_some_are_named(export):
    _, examples = export()
    assert {one["conversation"] for one in examples} == {"one", "two"}


def test_a_model_makes_queries_of_questions_and_is_paid_once(export, chat):
    given = ("--sample-id", "one", "--model", MODEL, "--json")
    result, examples = export(*given)
    assert {tuple(one["queries"]) for one in examples} == {("Which pets are there?",)}
    made = {locomo.role(request) for request in chat.asked}
    assert {"extraction", "planning"} <= made
    assert made.isdisjoint({"sufficiency", "selecting"})
    spent, asked = json.loads(result.stdout)["spent"], len(chat.asked)
    assert spent["money"] > 0
    again, same = export(*given)
    assert same == examples
    assert len(chat.asked) == asked
    assert json.loads(again.stdout)["spent"] == spent


def test_nothing_is_written_half_without_the_model(export, chat, stored):
    chat.reply = lambda request: Say(status=503) if locomo.role(request) == "planning" else locomo.reply(request)
    result, examples = export("--model", MODEL, code=1)
    assert "Nothing is written, since the model failed: Reading the question" in result.stderr
    assert examples == []
    assert stored() == []


def test_an_export_ends_at_its_limit_and_asks_about_an_unknown_price(export, chat):
    result, examples = export("--model", MODEL, "--max-cost", "0", code=1)
    assert "were allowed" in result.stderr
    assert examples == []
    result, _ = export("--model", "openai/nobody-knows", code=2)
    assert "The price of openai/nobody-knows is not known, so no limit can stop it: say --yes." in result.stderr


def test_what_a_killed_export_left_is_no_part_of_the_next(export, stored, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("memgraph_engine.evaluation.examples.purge", lambda *_, **__: None)
        patch.setattr("memgraph_engine.evaluation.examples._Export._example", killed)
        export("--sample-id", "one", code=130)
    assert len(stored()) == 1
    _, examples = export("--sample-id", "two", "--top-k", "50")
    assert {source for one in examples for note in one["candidates"] for source in note["sources"]} <= {
        f"D1:{number}" for number in range(1, 11)
    }
    assert stored() == []


def test_wrong_usage_is_told(export, file, tmp_path):
    assert "there is no three" in export("--sample-id", "three", code=2)[0].stderr
    assert "it is the LoCoMo file itself" in export(to=file, code=2)[0].stderr
    assert "there is no folder" in export(to=tmp_path / "none" / "x.jsonl", code=2)[0].stderr
    assert file.read_text("utf-8").startswith("[")

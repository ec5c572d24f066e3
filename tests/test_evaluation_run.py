"""`memgraph-engine eval locomo` on a real database; the models are a server on loopback, through LiteLLM."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memgraph_engine.blocks.rebuild import Blocks
from memgraph_engine.cli import app
from memgraph_engine.errors import StoreError
from memgraph_engine.evaluation.kept import Journal
from memgraph_engine.llm.tokens import most_tokens
from memgraph_engine.providers import load_litellm
from tests import locomo
from tests.loopback import Say, chat_server, forget_clients

COMMAND = str(Path(sys.executable).with_name("memgraph-engine"))
MODEL, JUDGE = "openai/gpt-4o-mini", "openai/gpt-4o"


@pytest.fixture(scope="module")
def chat():
    """A model that answers whatever an evaluation asks."""
    with chat_server() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMGRAPH_ENGINE_LLM__API_BASE", server.base)
        patch.setenv("OPENAI_API_KEY", "any")
        yield server
    forget_clients()


@pytest.fixture
def model(chat):
    chat.asked.clear()
    chat.reply = locomo.reply
    return chat


@pytest.fixture
def drawn():
    """Taken by who looks at plots: to draw them is a third of a run's time, so others get empty files."""


@pytest.fixture
def evaluate(server, embedder, monkeypatch, tmp_path, request):
    """Run the command on a file, in a folder of the test's own; what it leaves in the database is removed."""
    monkeypatch.setattr("memgraph_engine.evaluation.run.embedder_named", lambda settings: embedder)
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr("memgraph_engine.evaluation.plots._write", lambda file, *_: file.touch())
    file = locomo.write(tmp_path)
    given = ["eval", "locomo", "--file", str(file), "--out", str(tmp_path / "run")]

    def run(*arguments, code=0, **options):
        result = CliRunner().invoke(app, [*given, *arguments], **options)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    yield run
    run("--forget")


def prompts(model):
    return Counter(locomo.role(request) for request in model.asked)


def test_without_a_model_the_retrieval_is_measured_and_nothing_is_left(evaluate, drawn, stored, tmp_path):
    locomo.write(tmp_path, locomo.sample(turns=36))
    given = ("--ablation", "without-surroundings", "--ablation", "bm25", "--json")
    shown = json.loads(evaluate(*given).stdout)
    figures = shown["figures"]
    assert stored() == []
    assert figures["memory.Recall@50.all"] > 90
    assert figures["memory.Hit rate@20.4"] == 100
    assert {name.split(".")[0] for name in figures} == {"memory", "rag", "bm25", "without-surroundings"}
    assert all(0 < figures[f"{name}.Recall@{k}.all"] <= 100 for name in ("rag", "bm25") for k in (2, 30))
    assert not any("F1" in name for name in figures)
    assert shown["questions"] == {"1": 1, "2": 1, "3": 1, "4": 2, "5": 1, "all": 6}
    report = (tmp_path / "run" / "report.md").read_text()
    assert "No LLM: retrieval only" in report
    assert "| without-surroundings |" in report
    sweep = next(line for line in report.splitlines() if line.startswith("| bm25, k = 30 |")).split(" | ")
    assert all(float(taken) > 0 for taken in sweep[-4:-2])  # half of the searches took so long, and 95 of 100
    assert [taken.strip(" |") for taken in sweep[-2:]] == ["–", "–"]  # nobody answered
    for plot in ("sweep.png", "ablations.png"):
        assert f"]({plot})" in report
        assert (tmp_path / "run" / plot).read_bytes().startswith(b"\x89PNG")


def test_a_model_constructs_answers_and_judges(evaluate, drawn, model, stored, tmp_path):
    shown = json.loads(evaluate("--model", MODEL, "--judge", JUDGE, "--top-k", "20", "--top-k", "5", "--json").stdout)
    figures = shown["figures"]
    assert figures["memory.F1@20.1"] == 100
    assert figures["memory.F1@20.2"] == pytest.approx(80)  # March 2024 for 4 March 2024
    assert figures["memory.F1@5.5"] == 100  # it was not mentioned
    assert figures["rag.BLEU-1@20.4"] == 50
    assert figures["full-context.Judge@0.all"] == 50
    assert figures["memory.SBERT@20.1"] == pytest.approx(100)
    assert shown["failures"] == 0
    assert stored() == []
    made = prompts(model)
    assert {"extraction", "gating", "labelling", "planning", "answering-brief", "judging"} <= set(made)
    report = (tmp_path / "run" / "report.md").read_text()
    assert "| **memory, k = 5** |" in report
    assert "| **rag, k = 5** |" in report
    assert "| memory | 5 | 5 | 5 | 5 | 5 |" in report  # by category the k of the best F1, the least of several
    assert "| MLA-ARC, GPT-4o | 40 | 40 | 50 | 50 | 40 |" in report
    assert "| MemFly, gpt-4o-mini (MemFly, table 1) | 32.1 | 46.6 | 24.0 | 44.7 | 51.5 | 43.8 | 41.5 |" in report
    assert "| LightMem, gpt-4o-mini (LightMem, table 1) | 78.0 | 66.5 | 56.6 | 84.9 | – | – | 78.0 |" in report
    assert "](answers.png)" in report
    assert (tmp_path / "run" / "answers.png").read_bytes().startswith(b"\x89PNG")


def test_ways_of_papers_are_measured_without_a_model_and_each_part_beside_its_own_whole(evaluate, tmp_path):
    locomo.write(tmp_path, locomo.sample(turns=36))
    given = ("--ablation", "slm", "--ablation", "memfly-without-topics", "--top-k", "3", "--json")
    shown = json.loads(evaluate(*given).stdout)
    figures, results = shown["figures"], Journal(tmp_path / "run" / "results.jsonl")
    for name in ("slm", "memfly-retrieval", "memfly-without-topics"):
        found = [entry["sources"] for key, entry in results.items() if key[:3] == ("found", name, 3)]
        assert found
        assert all(len(sources) <= 3 for sources in found)
    assert not any(name.startswith("slm.F1") for name in figures)
    (compared,) = (
        one["difference"]
        for one in shown["differences"]
        if (one["variant"], one["measure"], one["category"]) == ("memfly-without-topics", "Recall", "all")
    )
    gain = figures["memfly-without-topics.Recall@3.all"] - figures["memfly-retrieval.Recall@3.all"]
    assert compared["mean"] == pytest.approx(gain)
    assert compared["questions"] == 5
    report = (tmp_path / "run" / "report.md").read_text()
    assert "| memfly-without-topics | memfly-retrieval | Recall |" in report
    assert "was done without a model" not in report


def test_slm_plans_selects_and_tells_claims_and_each_can_be_left_out(evaluate, model, tmp_path):
    general = {"dia_id": "D2:90", "speaker": "Mira", "text": "Hazelnuts are nuts."}
    sample = locomo.sample()
    sample["conversation"]["session_2"].append(general)
    locomo.write(tmp_path, sample)
    parts = [argument for part in SLM_PARTS for argument in ("--ablation", part)]
    given = ("--model", MODEL, "--no-full-context", "--top-k", "4")
    evaluate(*given)
    alone = prompts(model)
    model.asked.clear()
    estimate = json.loads(evaluate(*given, *parts, "--estimate", "--json").stdout)
    shown = json.loads(evaluate(*given, *parts, "--json").stdout)
    assert {"slm.F1@4.all", *(f"{part}.F1@4.all" for part in SLM_PARTS)} <= set(shown["figures"])
    made = prompts(model)
    assert made["sufficiency"] == 0
    assert 0 < made["selecting"] <= 3 * 6
    assert made["planning"] <= alone["planning"]  # asked the same before, of the memory
    assert sum(made.values()) <= estimate["answers"]["calls"]
    told = [one for one in model.asked if locomo.role(one) == "answering-brief" and "hazelnut" in _question(one)]
    assert {any("Hazelnuts are nuts" in line and "general" in line for line in _said(one)) for one in told} == {
        True,
        False,
    }
    report = (tmp_path / "run" / "report.md").read_text()
    for part in SLM_PARTS:
        assert f"| {part} | slm | F1 |" in report
    assert "| slm | memory | F1 |" in report


SLM_PARTS = ("without-selector", "without-queries", "without-claims")


def test_it_is_told_how_often_a_weak_selector_was_done_without(evaluate, model, tmp_path):
    def weak(request):
        return Say("Notes 1 and 2!") if locomo.role(request) == "selecting" else locomo.reply(request)

    model.reply = weak
    evaluate("--model", MODEL, "--no-full-context", "--top-k", "4", "--ablation", "without-queries")
    report = (tmp_path / "run" / "report.md").read_text()
    for variant in ("slm", "without-queries"):
        assert f"In {variant}, for 6 of 6 questions: Selecting the notes was done without a model." in report
    assert "In memory, for" not in report


@pytest.mark.slow
def test_what_was_found_while_the_selector_was_away_is_looked_for_again(evaluate, model, tmp_path, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_LLM__RETRIES", "0")

    def away(request):
        return Say(status=503) if locomo.role(request) == "selecting" else locomo.reply(request)

    given = ("--model", MODEL, "--no-full-context", "--top-k", "4", "--ablation", "slm")
    model.reply = away
    assert "to be made again by the same command" in evaluate(*given, code=1).stderr
    model.reply = locomo.reply
    assert "slm.F1@4.all" in json.loads(evaluate(*given, "--json").stdout)["figures"]
    assert "Selecting the notes was done without" not in (tmp_path / "run" / "report.md").read_text()


@pytest.fixture
def built(monkeypatch):
    """The scopes whose blocks were built."""
    scopes = []

    run = Blocks.run

    def rebuild(blocks):
        made = run(blocks)
        scopes.append(blocks.scope.name)
        return made

    monkeypatch.setattr(Blocks, "run", rebuild)
    return scopes


def test_blocks_are_built_once_for_all_that_read_them_and_only_then(evaluate, built, tmp_path):
    locomo.write(tmp_path, locomo.sample(turns=36))
    evaluate("--ablation", "without-topics")
    assert built == []
    figures = json.loads(evaluate("--ablation", "blocks", "--ablation", "with-blocks", "--json").stdout)["figures"]
    assert len(built) == 1
    assert figures["blocks.Recall@20.all"] > 50  # nothing is found by blocks that are not there
    told = {name for name in figures if name.startswith(("blocks.", "with-blocks.")) and "@20." in name}
    assert {name.split("@")[1] for name in told} == {f"20.{category}" for category in (*range(1, 6), "all", "1-4")}
    assert "| with-blocks |" in (tmp_path / "run" / "report.md").read_text()


@pytest.mark.slow
def test_a_run_goes_on_with_the_memory_and_the_blocks_that_there_are(evaluate, model, stored, built, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_LLM__RETRIES", "0")

    def lost(*_):
        raise StoreError("The connection is lost.")

    def busy(request):
        asked = locomo.role(request) == "answering-brief" and "animals" in _question(request)
        return Say(status=503) if asked else locomo.reply(request)

    given = ("--model", MODEL, "--no-full-context", "--ablation", "blocks")
    with monkeypatch.context() as patch:
        patch.setattr(Blocks, "run", lost)
        assert "The connection is lost" in evaluate(*given, code=1).stderr
    extracted = prompts(model)["extraction"]
    model.reply = busy
    evaluate(*given, code=1)
    assert len(stored()) == 2  # the memory's and plain RAG's, which a question is still to be asked of
    model.reply = locomo.reply
    figures = json.loads(evaluate(*given, "--json").stdout)["figures"]
    assert len(built) == 1
    assert prompts(model)["extraction"] == extracted
    assert figures["blocks.F1@20.4"] == 50
    assert stored() == []


@pytest.mark.slow
def test_answers_by_blocks_can_be_added_and_are_judged_by_category(evaluate, model, tmp_path):
    given = ("--model", MODEL, "--judge", JUDGE, "--no-full-context", "--top-k", "8")
    evaluate(*given)
    first, model.asked[:] = list(model.asked), []
    by_blocks = (*given, "--ablation", "blocks", "--ablation", "with-blocks")
    expected = json.loads(evaluate(*by_blocks, "--estimate", "--json").stdout)
    figures = json.loads(evaluate(*by_blocks, "--json").stdout)["figures"]
    assert "extraction" not in prompts(model)
    assert prompts(model)["answering-brief"] + prompts(model)["planning"] <= expected["answers"]["calls"]
    assert figures["blocks.Judge@8.4"] == 50
    room = {_question(one): _tokens(one) for one in first if _is_answered(one) and _said(one)[0].startswith("[1]")}
    shown = [one for one in model.asked if _is_answered(one)]
    assert len(shown) >= 6
    assert all(_tokens(one) < 1.25 * room[_question(one)] for one in shown)
    report = (tmp_path / "run" / "report.md").read_text()
    assert report.count("| **blocks, k = 8** |") == report.count("| **memory, k = 8** |") > 0
    assert "|  | F1 | BLEU-1 | Judge | MemFly: F1 | MemFly: BLEU-1 |" in report


def test_the_protocol_is_kept(evaluate, model):
    """Temperatures; what each variant is shown; and the limit, which `--yes` lifts."""
    evaluate("--model", MODEL, "--top-k", "3", "--max-cost", "0.0001", "--yes")
    told = [request for request in model.asked if locomo.role(request) == "answering-brief"]
    degrees = {(_question(request) == "When did Mira adopt a dog?", request["temperature"]) for request in told}
    assert degrees == {(True, 0.5), (False, 0.7)}
    lengths = Counter(len(_said(request)) for request in told)
    assert lengths[18] == 6  # every turn, where there is no memory
    assert max(length for length in lengths if length != 18) == 3


def _question(request):
    return locomo.given(request)[0].get("question")


def _is_answered(request):
    return locomo.role(request) == "answering-brief"


def _tokens(request):
    return most_tokens("\n".join(_said(request)))


def _said(request):
    """The lines that an answer was to be made from."""
    data = request["messages"][-1]["content"].split("What was said:")[1]
    return [line for line in data.splitlines() if line and "data" not in line]


def test_what_is_known_is_not_done_again(evaluate, model):
    first = evaluate("--model", MODEL, "--json").stdout
    asked = len(model.asked)
    assert evaluate("--model", MODEL, "--json").stdout == first
    assert len(model.asked) == asked
    evaluate("--model", MODEL, "--judge", JUDGE)
    assert set(prompts(model)) - {"judging"} == {locomo.role(request) for request in model.asked[:asked]}
    assert {locomo.role(request) for request in model.asked[asked:]} == {"judging"}


@pytest.mark.slow
def test_a_killed_run_goes_on_and_pays_for_nothing_twice(evaluate, model, stored, tmp_path):
    def stuck(request):
        return Say(seconds=60.0) if prompts(model)["answering-brief"] > 4 else locomo.reply(request)

    model.reply = stuck
    given = ["eval", "locomo", "--file", str(tmp_path / "locomo.json"), "--out", str(tmp_path / "run")]
    one_by_one = {**os.environ, "MEMGRAPH_ENGINE_LLM__CONCURRENCY": "1"}
    begun = subprocess.Popen([COMMAND, *given, "--model", MODEL], env=one_by_one, stderr=subprocess.DEVNULL)
    while prompts(model)["answering-brief"] <= 4:
        assert begun.poll() is None
        time.sleep(0.05)
    begun.send_signal(signal.SIGKILL)
    begun.wait()
    assert len(stored()) == 1
    answered = [json.dumps(request) for request in model.asked[:-1]]
    model.asked.clear()
    model.reply = locomo.reply
    figures = json.loads(evaluate("--model", MODEL, "--json").stdout)["figures"]
    assert figures["memory.F1@20.4"] == 50
    assert prompts(model)["extraction"] == 0
    assert not set(answered) & {json.dumps(request) for request in model.asked}
    assert stored() == []


def test_the_estimate_asks_nothing_and_is_not_too_low(evaluate, model):
    given = ("--model", MODEL, "--judge", JUDGE)
    told = json.loads(evaluate(*given, "--estimate", "--json").stdout)
    total = told.pop("total")
    assert model.asked == []
    assert total["money"] == pytest.approx(sum(part["money"] for part in told.values())) != 0
    evaluate(*given)
    count = load_litellm("counting").token_counter
    read = sum(count(model="gpt-4o-mini", messages=request["messages"]) for request in model.asked)
    assert 0.5 * total["input_tokens"] < read < total["input_tokens"]
    # each context was enough after one round, where two might have been judged
    made = prompts(model)
    assert made["answering-brief"] + made["planning"] + 2 * made["sufficiency"] == told["answers"]["calls"]
    assert json.loads(evaluate(*given, "--estimate", "--json").stdout)["total"]["calls"] == 0


def test_a_run_above_the_limit_is_not_begun_unasked(evaluate, model):
    refused = evaluate("--model", MODEL, "--max-cost", "0.0001", code=2)
    assert "That is more than $0.00: say --yes, or --max-cost with more." in refused.stderr
    assert model.asked == []


def test_an_unknown_price_is_null_and_asked_for(evaluate, model):
    told = json.loads(evaluate("--model", "openai/nobody-knows", "--estimate", "--json").stdout)
    assert told["total"]["money"] is None
    assert told["total"]["input_tokens"] > 0
    assert "Its price is not known" in evaluate("--model", "openai/nobody-knows", code=2).stderr


def test_a_model_that_is_not_there_ends_the_run(evaluate, model, stored, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_LLM__RETRIES", "0")
    model.reply = lambda request: Say(status=401)
    assert "The memory is not built, since the model failed" in evaluate("--model", MODEL, code=1).stderr
    assert stored() == []


def test_a_memory_is_not_built_half_without_the_model(evaluate, model, stored, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_LLM__RETRIES", "0")
    model.reply = lambda request: Say(status=503) if locomo.role(request) == "gating" else locomo.reply(request)
    assert "Gating was done without a model" in evaluate("--model", MODEL, code=1).stderr
    assert stored() == []
    extracted = prompts(model)["extraction"]
    model.reply = locomo.reply
    evaluate("--model", MODEL)
    assert prompts(model)["extraction"] == extracted  # paid for, and kept


def test_answers_that_failed_in_passing_are_asked_for_by_the_next_run(evaluate, model, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_LLM__RETRIES", "0")

    def busy(request):
        asked = locomo.role(request) == "answering-brief" and "animals" in _question(request)
        return Say(status=503) if asked else locomo.reply(request)

    model.reply = busy
    failed = evaluate("--model", MODEL, code=1)
    assert "3 requests failed, to be made again by the same command" in failed.stderr
    model.reply = locomo.reply
    before = len(model.asked)
    evaluate("--model", MODEL)
    assert len(model.asked) - before == 3


def test_wrong_usage_is_told(evaluate):
    assert "there is no without-wings" in evaluate("--ablation", "without-wings", code=2).stderr
    assert "from 1 to 1,000" in evaluate("--top-k", "0", code=2).stderr

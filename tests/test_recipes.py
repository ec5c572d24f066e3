"""What blocks of recipes and of the tutorial do that tests/test_docs.py can't tell, or can't run: models, benches."""

import asyncio
import builtins
import json
import re
import shlex
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from bench import __main__ as bench
from bench.chats import EVERYDAY
from memgraph_engine import MemgraphEngineError, ModelRefused, ModelUnavailable, Unreachable
from tests.loopback import Say, chat_server, forget_clients
from tests.models import extracted

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "recipes.md"


@dataclass(frozen=True)
class Block:
    """A piece of code of the page."""

    language: str
    text: str

    def run(self, text=None):
        """Run Python as a program; return its names."""
        names = {"__name__": "recipe"}
        exec(compile(text or self.text, PAGE.name, "exec"), names)
        return names

    def commands(self):
        """Yield the variables and the words of each command line."""
        for line in self.text.splitlines():
            words = shlex.split(line)
            given = [word for word in words if re.match(r"[A-Z_]+=", word)]
            yield dict(word.split("=", 1) for word in given), words[len(given) :]


def blocks(page=PAGE):
    """Return the blocks by their recipe and number."""
    found = {}
    for recipe in page.read_text("utf-8").split("\n## ")[1:]:
        for number, block in enumerate(re.findall(r"```(\w+)\n(.*?)```", recipe, re.DOTALL), 1):
            found[recipe.partition("\n")[0], number] = Block(*block)
    return found


BLOCKS = blocks()


def recipe(title, number):
    return pytest.mark.parametrize("block", [BLOCKS[title, number]], ids=[f"{title}, {number}"])


@pytest.fixture(autouse=True)
def _tenant(tenant, embedder, monkeypatch):
    """Let programs that say nothing of it use the test's tenant and model."""
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", tenant)
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)


@pytest.fixture
def types(monkeypatch):
    """Type these lines, then an empty one, where a program asks for input."""

    def typed(*lines):
        left = iter([*lines, ""])
        monkeypatch.setattr(builtins, "input", lambda prompt: next(left))

    return typed


@pytest.fixture
def server(server):
    """The database, and no LiteLLM client that outlives the test."""
    yield server
    forget_clients()


# ---- the tutorial's agent, with a model -----------------------------------------------------


def test_the_agent_remembers_the_last_chat(memory, types, monkeypatch, capsys):
    tutorial = blocks(DOCS / "tutorial.md")
    model = "9. Put a real model in"
    parts = ("2. Connect", 1), ("3. The agent", 2), (model, 1), (model, 2)
    program = Block("python", "\n".join(tutorial[part].text for part in parts))
    with chat_server() as http:
        for name, value in {"API_BASE": http.base, "API_KEY": "none"}.items():
            monkeypatch.setenv(f"OPENAI_{name}", value)
        monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        http.say("What a nice name.", "Your dog is called Rex.")
        for said in ("My dog is called Rex.", "What is my dog called?"):
            types(said)
            program.run()["memory"].close()
    assert capsys.readouterr().out.splitlines() == ["What a nice name.", "Your dog is called Rex."]
    assert [one["content"] for one in http.asked[1]["messages"] if one["role"] == "user"] == [
        "My dog is called Rex.",
        "What is my dog called?",
    ]
    assert memory.stats(user_id="mia").sources == 4
    said_again = memory.decisions(user_id="mia", limit=1)[0]  # what the model only says again makes no note
    assert (said_again.kind, said_again.about[0].text) == ("discard", "Your dog is called Rex.")


# ---- a web service --------------------------------------------------------------------------


class FastAPI:
    """Keeps what a service declares, as FastAPI does; which arguments a request gives is left to the test."""

    def __init__(self, lifespan):
        self.lifespan, self.routes, self.handlers = lifespan, {}, {}
        self.state = ModuleType("state")
        self.app = self  # a request of it has the app, too

    def _declared(self, where, key):
        return lambda function: where.setdefault(key, function)

    def get(self, path):
        return self._declared(self.routes, f"GET {path}")

    def post(self, path):
        return self._declared(self.routes, f"POST {path}")

    def exception_handler(self, error):
        return self._declared(self.handlers, error)


@pytest.fixture
def fastapi(monkeypatch):
    package, responses = ModuleType("fastapi"), ModuleType("fastapi.responses")
    package.FastAPI, package.Request = FastAPI, object
    package.Depends, package.Header = (lambda function: function), (lambda: None)
    responses.JSONResponse = lambda content, status: (json.loads(json.dumps(content)), status)
    monkeypatch.setitem(sys.modules, "fastapi", package)
    monkeypatch.setitem(sys.modules, "fastapi.responses", responses)


@recipe("A web service", 1)
def test_a_service_keeps_users_apart_and_answers_errors(block, fastapi):
    names = block.run()
    service = names["app"]
    add, context = service.routes["POST /messages"], service.routes["GET /context"]

    async def failed(call):
        try:
            await call
        except (MemgraphEngineError, TimeoutError) as error:
            handle = next(handle for kind, handle in service.handlers.items() if isinstance(error, kind))
            return await handle(service, error)
        raise AssertionError("it did not fail")

    async def main():
        async with service.lifespan(service):
            message = {"id": "1", "text": "I moved to Lisbon in March."}
            (entry,) = (await add(service, message, "ana"))["entries"]
            assert (await add(service, message, "ana"))["entries"][0]["kind"] == "repeat"
            (line,) = (await context(service, "Where does Ana live?", "ana"))["entries"]
            assert line["note"]["id"] == entry["note"]
            assert json.dumps(line)
            assert (await context(service, "Where does Ana live?", "bo"))["entries"] == []
            told, status = await failed(add(service, {"text": ""}, "ana"))
            assert status == 400
            assert "text" in told["error"]
            names["SECONDS"] = 0.0001
            told, status = await failed(add(service, {"id": "2", "text": "The ferry is late."}, "ana"))
            assert (status, "longer" in told["error"]) == (503, True)
        told, status = await service.handlers[MemgraphEngineError](service, Unreachable("No server answers at …"))
        assert (status, told["error"]) == (503, "The memory can't be used now.")

    asyncio.run(main())


# ---- choosing thresholds --------------------------------------------------------------------


@recipe("Choosing thresholds", 1)
def test_a_context_says_which_questions_it_answers(block, memory, capsys):
    memory.add_many(["I moved to Lisbon in March.", "My dog is called Rex."], user_id="ana")
    block.run()
    told = [line for line in capsys.readouterr().out.splitlines() if line.endswith("sure")]
    assert ["not sure" in line for line in told] == [False, False, True, True]


def test_a_question_that_names_the_user_reaches_most_floors(memory):
    memory.add_many(["I moved to Lisbon in March.", "My dog is called Rex."], user_id="ana")
    mine, anas = (
        max(hit.relevance for hit in memory.search(question, user_id="ana"))
        for question in ("When is my exam?", "When is Ana's exam?")
    )
    assert mine < 0.12 < 0.5 < anas


def test_with_an_embedder_that_was_never_calibrated_a_word_of_the_question_is_enough(memory, monkeypatch):
    memory.add("I moved to Lisbon in March.", user_id="ana")
    monkeypatch.setattr("memgraph_engine.asking.reader.weights", lambda *_: None)
    assert memory.context("When did I move to Lisbon?", user_id="ana").sure
    assert not memory.context("What is my dog called?", user_id="ana").sure


CHATS = [
    {"id": "a", "turns": [["user", "I moved to Lisbon in March."]], "ask": "Where do I live now?", "current": "Lisbon"},
    {"id": "b", "turns": [["user", "My dog is called Rex."]], "ask": "What is my dog called?", "current": "Rex"},
]


def _chat(given):
    turns = [{"role": role, "content": text, "time": "2024-05-01", "session": "s"} for role, text in given["turns"]]
    wanted = {"current": [given["current"]], "former": [], "foreign": [], "nothing": False}
    none = {**wanted, "current": [], "nothing": True, "question": "When is the next eclipse of the moon?"}
    asks = [{**wanted, "question": given["ask"]}, none]
    return {"id": given["id"], "language": "english", "kind": "home", "turns": turns, "asks": asks}


@pytest.mark.slow
@recipe("Choosing thresholds", 2)
def test_the_bench_of_chats_fits_and_measures(block, memory, monkeypatch, tmp_path, capsys):
    (tmp_path / "chats.jsonl").write_text("\n".join(json.dumps(_chat(one)) for one in CHATS), "utf-8")
    weights = tmp_path / "relevance.json"
    weights.write_text("{}", "utf-8")
    some = [line for line in EVERYDAY.read_text("utf-8").splitlines() if json.loads(line)["kind"] == "quantities"]
    (tmp_path / "more.jsonl").write_text("\n".join(some[:3]), "utf-8")
    (tmp_path / "plain.jsonl").write_text("", "utf-8")

    @contextmanager
    def connected(settings):
        assert settings.embedder == "minilm"
        yield memory

    monkeypatch.chdir(tmp_path)
    for of in ("bench.asking", "bench.daily_fit"):
        monkeypatch.setattr(f"{of}.connected", connected)
    monkeypatch.setattr("bench.daily.EVERYDAY", tmp_path / "more.jsonl")
    monkeypatch.delenv("MEMGRAPH_ENGINE_ORDINARY", raising=False)
    for others in ("PLAIN", "SMALL"):
        monkeypatch.setattr(f"bench.daily.{others}", tmp_path / "plain.jsonl")
    monkeypatch.setattr("bench.daily_fit.resource", lambda *parts: tmp_path / parts[-1])
    fit, measure = block.commands()
    _bench(fit, monkeypatch)
    (fitted,) = json.loads(weights.read_text("utf-8")).values()
    assert set(fitted) == {"bias", "similarity", "coverage"}
    capsys.readouterr()
    _bench(measure, monkeypatch)
    assert "2 chats, 4 questions, minilm" in capsys.readouterr().out


@recipe("Choosing thresholds", 3)
def test_decisions_tell_the_pairs_near_a_threshold(block, memory, capsys):
    memory.add("My old bike was red and too small for me.", user_id="ana")
    memory.add("I bought a red bike last week.", user_id="ana")
    block.run()
    (line,) = capsys.readouterr().out.splitlines()
    redundancy, _, told = line.partition(" ")
    assert re.fullmatch(r"0\.8\d", redundancy)
    both = "'I bought a red bike last week.', beside 'My old bike was red and too small for me.'"
    assert told == f"link: {both}: They tell of different ones."


@recipe("Choosing thresholds", 4)
def test_the_bench_of_the_gate_takes_pairs_and_thresholds(block, embedder, monkeypatch, tmp_path, capsys):
    rows = [
        ("class", "language", "want", "old", "new"),
        ("colour", "english", "different", "The boat is blue.", "The boat is green."),
        ("again", "english", "same", "The tide turns at noon.", "The tide turns at noon."),
    ]
    (tmp_path / "pairs.tsv").write_text("\n".join("\t".join(row) for row in rows), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bench.gate.FiledEmbedder", lambda model: embedder)
    plain, higher = block.commands()
    assert "MERGE_THRESHOLD" in next(iter(higher[0]))
    for command in (plain, higher):
        _bench(command, monkeypatch)
        page = capsys.readouterr().out
        assert re.search(r"pairs.hidden \| 0.000", page)
        assert re.search(r"pairs.recognised \| 1.000", page)


def _bench(command, monkeypatch):
    given, (python, option, module, *arguments) = command
    assert (python, option, module) == ("python", "-m", "bench")
    with monkeypatch.context() as patch:
        for name, value in given.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", [module, *arguments])
        bench.main()


# ---- your own chat model --------------------------------------------------------------------


def _answer(request):
    """Answer as a model would, by the form that is asked for."""
    form = set(request.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("properties", ()))
    if "turns" in form:
        return Say(json.dumps(extracted("Ana moved to Lisbon on 5 May 2023.")))
    if "questions" in form:  # both how it is read and whether the notes answer it
        question = {"question": 1, "topic": "Ana's home", "keywords": ["Ana"], "first": None, "last": None}
        return Say(json.dumps({"questions": [{**question, "confidence": 1.0, "next": ""}]}))
    assert not form
    return Say("Ana lives in Lisbon [1].")


@recipe("Your own chat model", 1)
def test_a_model_of_ones_own_tells_cost_and_failures(block, memory, capsys):
    with chat_server() as http:
        http.reply = _answer
        names = block.run(block.text.replace("http://127.0.0.1:8080/v1", http.base))
        written, answered = capsys.readouterr().out.splitlines()
        assert written.startswith("Cost(calls=1, input_tokens=100, output_tokens=20, money=1.")
        assert written.endswith("()")
        assert "seconds=0.0)" not in written
        assert answered.startswith("Ana lives in Lisbon [1]. own/local Cost(calls=3, ")
        assert next(memory.get_all(user_id="ana")).context == "Ana moved to Lisbon on 5 May 2023."
        model = names["OwnModel"](http.base, "local", 1.0, 1.0)
        asked = {"temperature": 0.0, "max_tokens": 9, "timeout": 5.0}
        assert model.estimate([{"role": "user", "content": "Olá"}], 9).money == 13
        for said, error, after in (
            (Say(status=429, headers={"Retry-After": "7"}), ModelUnavailable, 7),
            (Say(status=503), ModelUnavailable, 0),
            (Say(hang_up=True), ModelUnavailable, 0),
            (Say(status=400), ModelRefused, None),
        ):
            http.say(said)
            with pytest.raises(error) as failed:
                model.chat([{"role": "user", "content": "Hi!"}], **asked)
            assert getattr(failed.value, "retry_after", None) == after


# ---- a reranker of one's own ------------------------------------------------------------------


@recipe("Your own reranker", 1)
def test_a_reranker_of_ones_own_orders_the_notes(block, memory, capsys):
    with chat_server() as http:
        text = block.text.replace("http://127.0.0.1:8081", http.base)
        http.reply = lambda request: Say(
            body=json.dumps([{"index": at, "score": float("roof" in text)} for at, text in enumerate(request["texts"])])
        )
        block.run(text)
        first, second, fallbacks = capsys.readouterr().out.splitlines()
        assert first.startswith("Reranked(place=2, ")
        assert first.endswith("score=1) The aquarium has a new roof.")
        assert second.startswith("Reranked(place=1, ")
        assert fallbacks == "()"
        http.reply = lambda request: Say(status=503)
        block.run(text)
        assert "own/reranker gave no scores" in capsys.readouterr().out.splitlines()[-1]

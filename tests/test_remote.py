"""Commands and a running server: what is asked of it, and what it takes to load where it is not."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from memgraph_engine import Memory, NotFound, SettingsError, Unreachable
from memgraph_engine.cli import app
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.errors import InvalidInput, KeyRefused
from memgraph_engine.interface.results import json_form, read
from memgraph_engine.model.memory import Note
from memgraph_engine.model.result import Hit
from memgraph_engine.remote import EMBEDS, Remote, settings
from tests.keys import issue
from tests.served import served


@pytest.fixture
def cli(tenant, embedder, monkeypatch):
    """Run a command for user ana of the test's tenant, and return what it prints."""
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", tenant)

    def run(*arguments, code=0):
        result = CliRunner().invoke(app, [*arguments, "--user", "ana"])
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.fixture
def remote(memory, monkeypatch):
    """A server that the settings name, with a key of user ana."""
    with served(memory) as url:
        key = issue(memory, "ana").secret
        monkeypatch.setenv("MEMGRAPH_ENGINE_REMOTE__URL", url)
        monkeypatch.setenv("MEMGRAPH_ENGINE_REMOTE__KEY", key)
        yield Remote(url, key)


def nobody(*_given, **_named):
    raise AssertionError("an embedder was loaded")


def fill(memory):
    memory.add("I moved to Lisbon in May.", id="m1", time="2023-05-08", user_id="ana", metadata={"floor": 2})
    memory.add("My sister has a boat.", id="m2", user_id="ana", tags=["family"])


# ---- what needs no embedder ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    ["list", "get m1", "source m1", "history m1", "explain m1", "decisions", "profile", "facts", "sessions", "stats",
     "delete m2", "pin m1", "forget --source m2 --dry-run"],
)  # fmt: skip
def test_what_needs_no_vector_loads_no_embedder(command, memory, cli, monkeypatch):
    fill(memory)
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", nobody)
    cli(*command.split())


def test_what_needs_one_loads_it_once(memory, embedder, cli, monkeypatch):
    fill(memory)
    loaded = []
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: loaded.append(1) or embedder)
    assert "Lisbon" in cli("search", "Where did I move?").stdout
    assert loaded == [1]


class Other:
    """Another model of the same name."""

    def __init__(self, inner):
        self.name, self._inner = inner.name, inner

    def embed_documents(self, texts):
        return -np.asarray(self._inner.embed_documents(texts))

    def embed_query(self, text):
        return -np.asarray(self._inner.embed_query(text))


def test_another_model_of_the_same_name_is_refused_at_the_first_vector(memory, embedder, cli, monkeypatch):
    fill(memory)
    other = Other(CheckedEmbedder(embedder))
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: other)
    assert "another model of the name" in cli("search", "Where did I move?", code=1).stderr


# ---- what a server is asked for --------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    ["search boat", "search boat --explain", "search boat --json", "context boat", "context boat --json",
     "ask boat", "prompt boat --json", "anchors boat", "search boat --tag family", "search boat --top-k 1"],
)  # fmt: skip
def test_a_server_prints_what_the_database_does(command, memory, cli, remote, monkeypatch):
    fill(memory)
    by_server = cli(*command.split())
    monkeypatch.delenv("MEMGRAPH_ENGINE_REMOTE__URL")
    alone = cli(*command.split())
    assert ("boat" in alone.stdout) or command == "anchors boat"
    assert (by_server.stdout, by_server.stderr) == (alone.stdout, alone.stderr)


def test_a_write_by_a_server_is_told_as_any_other(memory, cli, remote, monkeypatch):
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", nobody)
    assert cli("add", "I live in Porto.", "--id", "m3").stdout.startswith("Added note ")
    assert "Updated note" in cli("update", "m3", "I live in Faro.").stdout
    assert "Faro" in cli("search", "Where do I live?").stdout
    assert "Error: There is no note or source 'm9'" in cli("update", "m9", "x", code=1).stderr


def test_with_a_tenant_the_database_is_asked(memory, tenant, cli, remote, monkeypatch):
    fill(memory)
    monkeypatch.setenv("MEMGRAPH_ENGINE_REMOTE__URL", "http://127.0.0.1:1")
    assert "boat" in cli("search", "boat", "--tenant", tenant).stdout
    told = cli("search", "boat", code=1).stderr
    assert "No server of this engine answers at http://127.0.0.1:1" in told


def test_an_answer_of_a_server_loads_nothing_of_the_engine(memory, remote):
    fill(memory)
    program = (
        "import sys; from memgraph_engine.cli import app\n"
        "try: app()\n"
        "finally: print([one for one in ('neo4j', 'onnxruntime', 'memgraph_engine.client') if one in sys.modules])"
    )
    command = [sys.executable, "-c", program, "search", "boat", "--user", "ana"]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True)
    assert "My sister has a boat." in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_errors_are_those_that_the_server_tells_of(memory, remote):
    with pytest.raises(InvalidInput, match="top_k"):
        remote.search(query="boat", top_k=0)
    with pytest.raises(NotFound):
        remote.ask("get", id="a/b c?d#e")
    with pytest.raises(KeyRefused):
        Remote(remote._at.geturl(), "mge_wrong").search(query="boat")
    with pytest.raises(Unreachable, match="No server of this engine answers"):
        Remote("http://127.0.0.1:1").ask("stats")


@pytest.mark.parametrize("url", ["ftp://host", "host:8080", "http://", "http://ana:secret@host"])
def test_what_is_no_address_of_a_server_is_refused_without_telling_it(url):
    with pytest.raises(SettingsError) as told:
        Remote(url)
    assert "secret" not in str(told.value)


def test_a_result_is_read_back_from_its_json(memory):
    fill(memory)
    hits = memory.search("boat", user_id="ana", explain=True)
    for kind, one in (
        (Hit, hits[0]),
        (Note, memory.get("m1", user_id="ana")),
        (type(found := memory.context("boat", user_id="ana")), found),
        (type(story := memory.explain("m1", user_id="ana")), story),
    ):
        form = json.loads(json.dumps(json_form(one)))
        assert read(kind, form) == one


def test_each_method_that_is_asked_of_a_server_returns_what_is_read(memory):
    from typing import get_args, get_type_hints

    import memgraph_engine

    for name, returns in EMBEDS.items():
        hint = get_type_hints(getattr(Memory, name))["return"]
        assert getattr(memgraph_engine, returns, None) in (hint, *get_args(hint)) or returns == hint.__name__


# ---- settings --------------------------------------------------------------------------------------


def test_settings_come_from_the_environment_the_file_and_the_defaults(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert settings("hook") == {"deadline": 1.8}
    (tmp_path / "memgraph-engine.toml").write_text("[hook]\ndeadline = 1\n")
    assert settings("hook") == {"deadline": 1.0}
    monkeypatch.setenv("MEMGRAPH_ENGINE_HOOK__DEADLINE", "0.5")
    assert settings("hook") == {"deadline": 0.5}
    monkeypatch.setenv("MEMGRAPH_ENGINE_HOOK__DEADLINE", "soon")
    with pytest.raises(SettingsError, match="the table hook can't be read"):
        settings("hook")


def test_a_key_goes_to_no_server_but_that_named_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "memgraph-engine.toml").write_text('[remote]\nurl = "http://elsewhere:1"\n')
    monkeypatch.setenv("MEMGRAPH_ENGINE_REMOTE__KEY", "mge_own")
    assert settings("remote") == {"url": "http://elsewhere:1", "key": ""}
    monkeypatch.setenv("MEMGRAPH_ENGINE_REMOTE__URL", "http://here:1")
    assert settings("remote") == {"url": "http://here:1", "key": "mge_own"}
    (tmp_path / "memgraph-engine.toml").write_text("no TOML")
    with pytest.raises(SettingsError):
        settings("remote")

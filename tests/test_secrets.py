"""No error, log line or form of an object tells a password or a key."""

import logging
from pathlib import Path

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from memgraph_engine import Memory, Settings, artifacts
from memgraph_engine.artifacts import fetch
from memgraph_engine.cli import app
from memgraph_engine.errors import AuthenticationFailed, DownloadError, ModelError, SettingsError
from memgraph_engine.graph.database import Address
from memgraph_engine.llm.litellm import LiteLLMChat

SECRET = "amaranth"
URIS = [
    *(
        f"{scheme}://neo4j:{SECRET}{at}127.0.0.1:1"
        for scheme in ("bolt", "neo4j+s")
        for at in ("@", "%40", "%2540", ":")
    ),
    *(f"{scheme}://127.0.0.1:1{sign}password={SECRET}" for scheme in ("bolt", "neo4j") for sign in "?#/;&"),
    *(f"bolt://{host}" for host in (f"127.0.0.1:{SECRET}", f"[{SECRET}", f"{SECRET} h", f"{SECRET}..h", SECRET * 8)),
    f"bolt://{SECRET}:99999",
    f"http://{SECRET}",
]


@pytest.mark.parametrize("uri", URIS)
def test_an_address_with_a_password_is_refused_without_telling_it(uri, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    for give in (lambda: Memory.connect(uri), lambda: Settings.load(uri=uri), lambda: Settings(uri=uri)):
        with pytest.raises((SettingsError, ValidationError), match="user or password") as told:
            give()
        assert SECRET not in f"{told.value!r} {told.value} {caplog.text}"
    monkeypatch.setenv("MEMGRAPH_ENGINE_URI", uri)
    if uri not in URIS[:2]:
        return
    for command in ("health", "db status", "stats", "init", "search boat"):
        for form in ([], ["--json"]):
            done = CliRunner().invoke(app, [*command.split(), *form])
            assert SECRET not in f"{done.output}{done.exception}", command


@pytest.mark.parametrize("uri", ["bolt://h", "neo4j://a-b.c_d.example.:7687", "neo4j+s://h/", "bolt+ssc://[::1]:65535"])
def test_an_address_alone_is_taken(uri):
    assert Settings.load(uri=uri).uri == uri


def test_settings_and_addresses_are_shown_without_what_is_secret():
    given = {"password": SECRET, "maven_url": f"https://ana:{SECRET}@example.org", "uri": "bolt://127.0.0.1:1"}
    settings = Settings.load(**given, llm={"api_base": f"https://:{SECRET}@example.org/v1"})
    assert SECRET not in f"{settings} {settings!r} {settings.llm!r} {Address.of(settings)}"
    assert Address.of(settings).password == SECRET


def test_a_wrong_password_is_not_told(server, embedder, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_PASSWORD", SECRET)
    with pytest.raises(AuthenticationFailed) as told:
        Memory.connect(embedder=embedder)
    assert SECRET not in f"{told.value!r} {told.value.__cause__!r}"


@pytest.mark.parametrize("kind", ["https", "ftp", "http"])
def test_who_fetches_is_not_told(kind, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(artifacts, "_BACKOFF", 0.0)
    with pytest.raises(DownloadError) as told:
        fetch("bge-small", tmp_path, f"{kind}://ana:{SECRET}@127.0.0.1:1/{'x' * 9}", progress=False)
    assert SECRET not in f"{told.value!r}"


def test_an_address_or_a_key_of_a_chat_model_is_not_told(monkeypatch):
    monkeypatch.setenv("SOME_PROVIDER_API_KEY", f"sk-{SECRET}")
    assert SECRET not in str(ModelError(f"openai/x: 401, the key sk-{SECRET} is wrong"))
    chat = LiteLLMChat("openai/x", f"http://ana:{SECRET}@127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(ModelError) as told:
        chat.chat([{"role": "user", "content": "Hi!"}], temperature=0, max_tokens=9, timeout=5)
    assert SECRET not in f"{told.value!r}"

"""Every call of docs/rest.md does what the page says."""

import json
import re
import shlex
from string import Template

import pytest
from starlette.testclient import TestClient

from memgraph_engine.errors import NotFound
from memgraph_engine.integrations.access import Access
from memgraph_engine.integrations.rest import app, document
from memgraph_engine.settings import ServeSettings
from tests.keys import issue

AT = "http://127.0.0.1:8080"


@pytest.fixture
def page(root):
    return (root / "docs" / "rest.md").read_text("utf-8")


def calls(page):
    """Yield the words of each call of curl."""
    for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL):
        for command in block.replace("\\\n", " ").split("\n"):
            if command.startswith("curl "):
                yield command


def ask(client, command, known):
    """Make a call as curl does."""
    words = iter(shlex.split(Template(command).substitute(known))[1:])
    method, headers, body, path = None, {}, None, None
    for word in words:
        if word == "-X":
            method = next(words)
        elif word == "-H":
            name, _, value = next(words).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = next(words)
        else:
            assert word.startswith(AT)
            path = word.removeprefix(AT)
    return client.request(method or ("POST" if body else "GET"), path, headers=headers, content=body)


def test_every_call_of_the_page_works(memory, page):
    known = {"KEY": issue(memory, "ana").secret, "DECISION": "", "PLAN": ""}
    answers = []
    with TestClient(app(memory, access=Access(memory, required=True)), base_url=AT) as client:
        for command in calls(page):
            answer = ask(client, command, known)
            assert answer.status_code == 200, (command, answer.text)
            told = answer.json()
            answers.append(told)
            if "-X DELETE" in command:
                known["DECISION"] = told["id"]
            if "/plans" in command:
                known["PLAN"] = told["id"]
    assert len(answers) == 10
    assert answers[1]["hits"][0]["note"]["text"] == "I moved to Lisbon in March."
    assert "I moved to Lisbon in March." in answers[2]["text"]
    assert len(answers[3]["notes"]) == 1
    assert answers[-1]["residue"] == 0
    with pytest.raises(NotFound):
        memory.source("m1", user_id="ana")


def test_the_problem_of_the_page_is_what_is_told(memory, page):
    (block,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    with TestClient(app(memory, access=Access(memory, required=True)), base_url=AT) as client:
        told = client.get("/v1/notes/m9", headers={"X-API-Key": issue(memory, "ana").secret}).json()
    assert json.loads(block) == {**told, "detail": told["detail"].replace(memory.engine.settings.tenant, "default")}


def test_the_page_tells_every_status_and_setting(page):
    told = {int(one) for row in re.findall(r"^\| ([\d, ]+) \|", page, re.MULTILINE) for one in row.split(", ")}
    assert told == set(document._SAID) - {405, 500}
    assert {name for name in ServeSettings.model_fields if f"`{name}`" not in page and f"serve.{name}" not in page} <= {
        "host",
        "port",
    }

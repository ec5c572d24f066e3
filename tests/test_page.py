"""The page: what it shows of a memory, what its forms do, and what it refuses."""

import re
from contextlib import ExitStack, contextmanager
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from memgraph_engine.errors import Unreachable
from memgraph_engine.integrations.access import Access
from memgraph_engine.integrations.page import COOKIE
from memgraph_engine.integrations.rest import app
from memgraph_engine.model.key import RIGHTS, new_key
from memgraph_engine.model.memory import NEVER
from memgraph_engine.model.scope import Scope
from tests.clocks import BEGIN
from tests.keys import issue

HOST = "http://localhost"
SAME = {"sec-fetch-site": "same-origin"}
MARKUP = '<script>alert(1)</script> & "quotes"'


class Words(HTMLParser):
    """The words of a page, its links, and its forms with what they send."""

    def __init__(self, text):
        super().__init__()
        self.text, self.links, self.forms, self.labels, self.fields = "", [], [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "a":
            self.links.append(given["href"])
        if tag == "form":
            self.forms.append((given["action"], {}))
        if tag == "label":
            self.labels.add(given["for"])
        if tag == "input":
            self.fields.append(given)
            self.forms[-1][1][given["name"]] = given.get("value", "")

    def handle_data(self, data):
        self.text += data


@contextmanager
def looking(memory, **owner):
    """A browser that has a key of the whole tenant, or of a user."""
    access = Access(memory, required=True)
    with TestClient(app(memory, access=access, ui=True), base_url=HOST) as client:
        client.cookies.set(COOKIE, issue(memory, **owner).secret)
        yield client


@pytest.fixture
def browser(memory):
    with looking(memory) as client:
        yield client


def tell(memory):
    memory.add("My dentist is Dr Silva.", user_id="ana", time="2024-03-02", id="d1")
    memory.add("No, my dentist is Dr Costa, not Dr Silva.", user_id="ana", time="2024-04-02", id="d2")
    memory.add(MARKUP, user_id="ana", id="m1")
    memory.add("My train leaves at nine.", user_id="ana", policy="ephemeral", id="e1")


@pytest.fixture
def told(memory):
    tell(memory)
    return memory


@pytest.fixture(scope="module")
def reader(kept):
    """A browser that looks at a memory which nothing changes."""
    with ExitStack() as stack:
        clients = []
        kept(lambda memory: (tell(memory), clients.append(stack.enter_context(looking(memory)))))
        yield clients[0]


def read(browser, path, status=200):
    got = browser.get(path)
    assert got.status_code == status, got.text
    return Words(got.text)


def test_nothing_that_is_stored_gives_orders_to_whoever_looks(memory, browser):
    orders, user = "\x1b[2J\x07\u202e\u2066", "an\u202ea"
    memory.add({"text": f"The boat{orders} sails.", "speaker": f"A{orders}", "session": f"s{orders}"}, user_id=user)
    found = read(browser, f"/ui/search?query=boat&user={quote(user)}")
    assert "The boat\ufffd[2J\ufffd\ufffd\ufffd sails." in found.text
    assert user in {value for _, given in found.forms for value in given.values()}  # what is sent back is exact
    (note,) = memory.get_all(user_id=user)
    for path in ("/ui", f"/ui/notes/{note.id}?user={quote(user)}", f"/ui/decisions?user={quote(user)}"):
        assert not set(orders) - set("[2J") & set(read(browser, path).text), path


def send(browser, form, **changed):
    action, fields = form
    got = browser.post(action, data={**fields, **changed}, headers=SAME)
    assert got.status_code == 200, got.text
    return Words(got.text)


def test_a_search_shows_what_it_found_and_each_channels_scores(reader):
    page = read(reader, "/ui/search?user=ana&query=Who is my dentist?")
    assert "My dentist is Dr Silva." in page.text
    assert "until 2024-04-02" in page.text
    assert "dense raw" in page.text
    assert any(link.startswith("/ui/notes/") for link in page.links)


def test_facts_are_told_with_what_ended_them_and_of_whom_is_asked(browser, told):
    told.add({"role": "user", "text": "I live in Leeds. My sister Petra lives in Bolzano."}, user_id="ana")
    told.set_profile("residence", "York", user_id="ana")
    page = read(browser, "/ui/facts?user=ana")
    for words in ("residence: York", "I live in Leeds", "My dentist is Dr Silva", "2024-04-02 00:00, replaced"):
        assert words in page.text
    assert any(link.startswith("/ui/notes/") for link in page.links)
    page = read(browser, "/ui/facts?user=ana&about=Petra")
    assert "My sister Petra lives in Bolzano" in page.text
    assert "York" not in page.text
    page = read(browser, "/ui/facts?user=ana&about=%22%3E%3Cscript%3E Rosa")
    assert "Nothing is known." in page.text
    assert dict(page.forms)["/ui/facts"]["about"] == '"><script> Rosa'


def test_a_note_shows_its_sources_versions_decisions_and_what_was_true_when(reader):
    page = read(reader, "/ui/notes/d2?user=ana")
    for words in ("What was true when", "My dentist is Dr Silva.", "Sources", "Versions", "Decisions", "Undo"):
        assert words in page.text


def test_a_decision_is_undone_by_its_button(browser, told):
    page = read(browser, "/ui/notes/m1?user=ana")
    assert "taken back" in send(browser, page.forms[-1]).text
    assert "undone" in read(browser, "/ui/notes/m1?user=ana").text
    assert MARKUP not in [note.text for note in told.get_all(user_id="ana")]


def test_what_is_erased_is_shown_first_and_the_receipt_afterwards(browser, told):
    plan = send(browser, read(browser, "/ui/forget?user=ana").forms[-1], query="train")
    assert "My train leaves at nine." in plan.text
    assert len(list(told.get_all(user_id="ana"))) == 4
    assert "Nothing of it is left" in send(browser, plan.forms[-1]).text
    assert len(list(told.get_all(user_id="ana"))) == 3


def test_all_that_is_stored_is_shown_as_text(reader):
    for path in ("/ui/search?user=ana&query=script alert quotes", "/ui/notes/m1?user=ana", "/ui/decisions?user=ana"):
        got = reader.get(path)
        assert MARKUP in Words(got.text).text
        assert "<script" not in got.text


@pytest.mark.parametrize(
    "path", ["search?query=x&", "facts?", "notes/d1?", "decisions?", "topics?", "ending?", "forget?"]
)
def test_every_page_has_a_language_a_title_labels_and_nothing_from_elsewhere(reader, path):
    got = reader.get(f"/ui/{path}user=ana")
    assert got.status_code == 200
    assert '<html lang="en">' in got.text
    assert len(re.findall(r"<h1>", got.text)) == 1
    page = Words(got.text)
    assert {field["id"] for field in page.fields if field.get("type") != "hidden"} <= page.labels
    assert "default-src 'none'" in got.headers["content-security-policy"]
    assert not re.search(r"(?:src|href|action)=\"(?!/ui|#)", got.text)


def test_what_ends_next_is_told(reader):
    page = read(reader, "/ui/ending?user=ana")
    assert "My train leaves at nine." in page.text
    assert "dentist" not in page.text


def test_topics_and_blocks_can_be_wandered_in(browser, told):
    told.add_many([f"The ferry number {n} leaves from the old harbour." for n in range(6)], user_id="ana")
    told.rebuild_topics(user_id="ana")
    told.rebuild_blocks(user_id="ana")
    page = read(browser, "/ui/topics?user=ana")
    inner = [link for link in page.links if "/ui/blocks/" in link or "/ui/topics/" in link]
    assert inner
    for link in inner:
        assert read(browser, link).text


def test_the_users_of_the_tenant_are_listed_and_the_shared_memory_is_too(browser, told):
    told.add("The office is closed on Friday.", shared=True)
    page = read(browser, "/ui")
    assert "ana" in page.text
    assert "The office is closed" in read(browser, "/ui/search?shared=1&query=When is the office closed?").text


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("notes/nothing?user=ana", 404, "There is no note or source"),
        ("topics/nothing?user=ana", 404, "There is no topic"),
        ("blocks/nothing?user=ana", 404, "There is no block"),
        ("search?query=x", 400, "choose a user first"),
        ("notes/d1?user=ben", 404, "There is no note or source"),
    ],
)
def test_what_is_not_there_is_said_on_a_page(reader, path, status, sentence):
    assert sentence in read(reader, f"/ui/{path}", status).text


def test_a_form_of_another_page_does_nothing(reader):
    for headers in ({}, {"sec-fetch-site": "cross-site"}, {"origin": "http://evil.example"}):
        got = reader.post("/ui/forget?user=ana", data={"query": "train"}, headers=headers)
        assert got.status_code == 403


@pytest.mark.parametrize("right", ["write", "forget"])
def test_a_key_that_reads_nothing_lists_no_users(memory, told, right):
    with looking(memory, rights=[right]) as client:
        page = client.get("/ui")
        assert (page.status_code, "ana" in page.text) == (403, False)


def test_a_database_that_does_not_answer_is_said_on_a_page(browser, told, monkeypatch):
    def gone(*_):
        raise Unreachable("The database does not answer.")

    monkeypatch.setattr("memgraph_engine.graph.keys.find", gone)
    key = new_key("k", Scope("t"), RIGHTS, now=BEGIN, expires_at=NEVER).secret
    browser.cookies.clear()
    browser.cookies.set(COOKIE, key)
    for page in (
        browser.get("/ui"),
        browser.post("/ui/login", data={"key": key}, headers=SAME),
    ):
        assert page.status_code == 503
        assert "<h1>" in page.text
        assert "The database does not answer." in page.text


def test_an_address_with_a_slash_at_its_end_leads_to_the_page(reader):
    assert "ana" in reader.get("/ui/").text


def test_behind_tls_the_key_is_sent_over_tls_alone(browser, memory):
    def cookie(**headers):
        given = {"key": issue(memory, "ana").secret}
        return browser.post("/ui/login", data=given, headers={**SAME, **headers}, follow_redirects=False).headers[
            "set-cookie"
        ]

    assert "Secure" in cookie(**{"X-Forwarded-Proto": "https"})
    assert "Secure" not in cookie()


def test_behind_a_key_only_that_users_memory_is_shown(memory, told):
    told.add("My code is 4711.", user_id="ben", id="b1")
    secret = issue(memory, "ana", ["read"]).secret
    with looking(memory) as client:
        client.cookies.clear()
        assert client.get("/ui/search?user=ana", follow_redirects=False).headers["location"] == "/ui/login"
        wrong = client.post("/ui/login", data={"key": "mge_wrong"}, headers=SAME)
        assert (wrong.status_code, "opens nothing" in wrong.text) == (401, True)
        assert client.post("/ui/login", data={"key": secret}, headers=SAME).status_code == 200
        assert "dentist" in read(client, "/ui/search?query=Who is my dentist?").text
        page = read(client, "/ui/notes/d1")
        assert page.forms == [("/ui/logout", {})]
        for path in ("search?user=ben&query=code", "notes/b1?user=ben", "decisions?user=ben", "forget"):
            assert "4711" not in read(client, f"/ui/{path}", 403).text
        client.post("/ui/logout", headers=SAME)
        assert client.get("/ui/search?query=x", follow_redirects=False).status_code == 303


def test_without_it_there_is_no_page(memory):
    with TestClient(app(memory), base_url=HOST) as client:
        assert client.get("/ui").status_code == 404

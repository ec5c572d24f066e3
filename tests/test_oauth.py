"""Access tokens of an issuer open what a key of the same user opens; of every wrong kind, nothing."""

import asyncio
import base64
import json
import logging
import time
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from starlette.testclient import TestClient

from memgraph_engine import Memory, Settings
from memgraph_engine.errors import SettingsError
from memgraph_engine.integrations import tokens
from memgraph_engine.integrations.access import Access
from memgraph_engine.integrations.rest import app, serving
from memgraph_engine.testing import purge
from tests.issuer import RESOURCE, issuing
from tests.keys import bearer, issue
from tests.served import served

METADATA = "https://memory.test/.well-known/oauth-protected-resource/mcp"
CALL = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@pytest.fixture(scope="module")
def issuer():
    with issuing() as one:
        yield one


def taking(memory, issuer, **oauth):
    """The same memory, of a server that takes the issuer's tokens."""
    settings = memory.engine.settings
    serve = Settings.load(serve={"oauth": {**issuer.settings, **oauth}}).serve
    return Memory(replace(memory.engine, settings=settings.model_copy(update={"serve": serve})))


@contextmanager
def asking(memory, issuer, **oauth):
    """A client of a server that takes the issuer's tokens; it asks the issuer for its keys anew."""
    with TestClient(app(taking(memory, issuer, **oauth), ui=True), base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture(scope="module")
def client(kept, issuer):
    """A client of a server with a memory that nothing changes."""
    memory = kept(lambda memory: memory.add("My code is 4711.", user_id="ana"))
    with asking(memory, issuer) as one:
        one.memory = memory
        yield one


@pytest.fixture
def own():
    """An issuer of this test alone, whose keys may change."""
    with issuing() as one:
        yield one


@pytest.fixture
def impatient(monkeypatch):
    """The issuer is asked as often as tokens name keys that are not known."""
    monkeypatch.setattr(tokens, "_PAUSE", 0.0)


@pytest.fixture
def patient(monkeypatch):
    """The issuer is asked once, however long the test takes."""
    monkeypatch.setattr(tokens, "_PAUSE", 1e9)


def told(response, status=200):
    assert response.status_code == status, response.text
    return response.json()


def challenge(response):
    """What WWW-Authenticate tells, by its names."""
    scheme, _, rest = response.headers["www-authenticate"].partition(" ")
    assert scheme == "Bearer"
    return {name: value.strip('"') for name, _, value in (part.partition("=") for part in rest.split(", ") if part)}


# ---- what a token opens ------------------------------------------------------------------------


def test_a_token_opens_the_memory_of_its_subject_and_no_other(memory, issuer):
    memory.add("My code is 0815.", user_id="ben", id="b1")
    ana = issuer.bearer("ana")
    with asking(memory, issuer) as client:
        told(client.post("/v1/messages", json={"message": {"text": "My code is 4711.", "id": "a1"}}, headers=ana))
        for params in ({}, {"user_id": "ana"}):
            (note,) = told(client.get("/v1/notes", params=params, headers=ana))["notes"]
            assert note["text"] == "My code is 4711."
        told(client.get("/v1/notes", params={"user_id": "ben"}, headers=ana), 403)
        told(client.get("/v1/notes/b1", headers=ana), 404)
        told(client.get("/v1/users", headers=ana), 403)
        told(client.get("/metrics", headers=ana), 403)
        told(client.post("/v1/messages", params={"shared": True}, json={"message": "All see it."}, headers=ana), 403)
        assert [one["text"] for one in told(client.get("/v1/notes", headers=issuer.bearer("ben")))["notes"]] == [
            "My code is 0815."
        ]
    assert [one.text for one in memory.get_all(user_id="ana")] == ["My code is 4711."]


@pytest.mark.parametrize("right", ["read", "write"])
def test_a_token_and_a_key_are_the_same_to_a_server(client, issuer, right):
    access = Access(taking(client.memory, issuer))
    by_token, by_key = (
        access.caller(secret) for secret in (issuer.token("ana", [right]), issue_of(client.memory, "ana", [right]))
    )
    assert (by_token.user_id, by_token.rights) == (by_key.user_id, by_key.rights) == ("ana", {right})
    assert by_token.memory is by_key.memory


def issue_of(memory, *given):
    """A key's secret, in a memory that is kept otherwise."""
    with Memory.connect(tenant=memory.engine.settings.tenant, embedder=memory.engine.embedder) as one:
        return issue(one, *given).secret


def test_keys_go_on_beside_tokens_also_when_the_issuer_fails(memory, issuer, monkeypatch):
    monkeypatch.setattr(issuer, "fails", 500)
    with asking(memory, issuer) as client:
        told(client.get("/v1/notes", headers=bearer(memory, "ana")))


def test_a_claim_names_the_tenant_where_the_settings_say_so(memory, issuer, tenant):
    other = f"{tenant}-other"
    try:
        with asking(memory, issuer, tenant="org_id", user="https://acme.test/uid") as client:
            given = {"https://acme.test/uid": "ana"}
            there = issuer.bearer("x", org_id=other, **given)
            told(client.post("/v1/messages", json={"message": "My code is 4711."}, headers=there))
            for at, notes in ((other, 1), (tenant, 0)):
                found = told(client.get("/v1/notes", headers=issuer.bearer("y", org_id=at, **given)))["notes"]
                assert len(found) == notes
            assert "lacks a claim" in told(client.get("/v1/notes", headers=issuer.bearer("x", **given)), 401)["detail"]
            for wrong in (" ", 7, ["a"]):
                answer = client.get("/v1/notes", headers=issuer.bearer("x", org_id=wrong, **given))
                assert "no user or no tenant" in told(answer, 401)["detail"]
    finally:
        purge(other)


@pytest.mark.parametrize("claim", [{"scope": None, "scp": ["memory:read"]}, {"scope": None, "scp": "memory:read x"}])
def test_scopes_are_read_as_issuers_write_them(client, issuer, claim):
    told(client.get("/v1/notes", headers=issuer.bearer(**claim)))
    told(client.delete("/v1/notes/x", headers=issuer.bearer(**claim)), 403)


# ---- what is refused ---------------------------------------------------------------------------


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def public(issuer):
    """The issuer's public key as text: what is no secret, and so proves nothing."""
    key = issuer.keys[issuer.kid].public_key()
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def by_public_key(issuer):
    """A token that is authenticated by the public key, as if that were a shared secret."""
    import hmac

    text = f"{part({'alg': 'HS256', 'kid': issuer.kid, 'typ': 'JWT'})}.{part(issuer.claims())}"
    sign = hmac.digest(public(issuer), text.encode(), "sha256")
    return f"{text}.{base64.urlsafe_b64encode(sign).rstrip(b'=').decode()}"


def own_key(issuer, **headers):
    """A token that is signed by somebody else, who brings along the key to verify it by."""
    mine = ec.generate_private_key(ec.SECP256R1())
    jwk = {**jwt.algorithms.ECAlgorithm.to_jwk(mine.public_key(), as_dict=True), "kid": issuer.kid}
    return issuer.token(key=mine, headers={"jwk": jwk, "jku": "http://127.0.0.1:9/keys", **headers})


WRONG = {
    "expired": (lambda at: at.token(exp=int(time.time()) - 60), "it has ended"),
    "without an end": (lambda at: at.token(exp=None), "lacks a claim"),
    "without a beginning": (lambda at: at.token(iat=None), "lacks a claim"),
    "not yet": (lambda at: at.token(nbf=int(time.time()) + 600), "its time has not come"),
    "of tomorrow": (lambda at: at.token(iat=int(time.time()) + 600), "its time has not come"),
    "of another server": (lambda at: at.token(aud="https://other.test/mcp"), "for another server"),
    "of a server below": (lambda at: at.token(aud=f"{RESOURCE}/more"), "for another server"),
    "of a server above": (lambda at: at.token(aud="https://memory.test"), "for another server"),
    "of no server": (lambda at: at.token(aud=None), "lacks a claim"),
    "an identity, for a client": (lambda at: at.token(aud="a client", headers={"typ": "JWT"}), "for another server"),
    "of another issuer": (lambda at: at.token(iss="https://evil.test"), "another issuer made it"),
    "of the issuer's other realm": (lambda at: at.token(iss=f"{at.url}/"), "another issuer made it"),
    "of nobody": (lambda at: at.token(sub=None), "lacks a claim"),
    "of a blank user": (lambda at: at.token(sub=" "), "no user or no tenant"),
    "of an endless user": (lambda at: at.token(sub="a" * 600), "no user or no tenant"),
    "of a number": (lambda at: at.token(sub=None, user_id=7), "lacks a claim"),
    "unsigned": (lambda at: f"{part({'alg': 'none', 'kid': at.kid})}.{part(at.claims())}.", "algorithm"),
    "with its signature cut off": (lambda at: f"{at.token().rpartition('.')[0]}.", "signature"),
    "by the public key as a secret": (by_public_key, "algorithm"),
    "by a key of its own": (own_key, "signature"),
    "by a key of its own and another name": (lambda at: own_key(at, kid="mine"), "no such key"),
    "by another kind of key": (
        lambda at: at.token(key=rsa.generate_private_key(65537, 2048), algorithm="RS256"),
        "algorithm",
    ),
    "by a key without a name": (lambda at: at.token(headers={"kid": None}), "no such key"),
    "changed": (lambda at: swapped(at), "signature"),
    "of another type": (lambda at: at.token(headers={"typ": "logout+jwt"}), "algorithm"),
    "with an extension": (lambda at: at.token(headers={"crit": ["x"], "x": 1}), "can't be read"),
    "bound to a client's key": (lambda at: at.token(cnf={"jkt": "x"}), "can't be read"),
    "with scopes of no form": (lambda at: at.token(scope=7), "can't be read"),
    "of no form": (lambda at: "a.b.c", "can't be read"),
    "encrypted": (
        lambda at: "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.a.b.c.d",
        "unknown, was revoked, or has ended",
    ),
    "opaque": (lambda at: "2YotnFZFEjr1zCsicMWpAA", "unknown, was revoked, or has ended"),
    "a key that is none": (lambda at: "mge_" + "A" * 43, "unknown, was revoked, or has ended"),
    "empty": (lambda at: "", "unknown, was revoked, or has ended"),
}


def swapped(issuer):
    """Ana's token, with Ben's name in it."""
    head, _, sign = issuer.token("ana").split(".")
    return f"{head}.{part(issuer.claims('ben'))}.{sign}"


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_token_is_refused_in_one_sentence_and_told_to_nobody(client, issuer, kind, caplog):
    make, why = WRONG[kind]
    token = make(issuer)
    with caplog.at_level(logging.DEBUG):
        answers = [
            client.get("/v1/notes", headers={"Authorization": f"Bearer {token}"}),
            client.get("/v1/notes", headers={"X-API-Key": token}),
            client.post("/mcp", headers={"Authorization": f"Bearer {token}", **CALL}, json={}),
        ]
    for answer in answers:
        detail = told(answer, 401)["detail"]
        assert why in detail
        assert detail.count(".") == 1
        assert challenge(answer) == {
            "error": "invalid_token",
            "scope": "memory:read memory:write",
            "resource_metadata": METADATA,
        }
        for piece in filter(None, token.split(".")):
            assert len(piece) < 8 or piece not in answer.text + caplog.text
    assert "4711" not in "".join(answer.text for answer in answers)


def test_the_token_that_the_wrong_ones_differ_from_is_taken(client, issuer):
    (note,) = told(client.get("/v1/notes", headers=issuer.bearer()))["notes"]
    assert note["text"] == "My code is 4711."


def test_clocks_may_differ_a_little(client, issuer):
    now = int(time.time())
    told(client.get("/v1/notes", headers=issuer.bearer(exp=now - 5)))
    told(client.get("/v1/notes", headers=issuer.bearer(iat=now + 5, nbf=now + 5)))


def test_a_token_that_was_taken_is_refused_once_it_has_ended(kept, issuer, clock):
    memory = kept(lambda _: None, clock=clock)
    token = issuer.token()
    with asking(memory, issuer) as client:
        told(client.get("/v1/notes", headers={"X-API-Key": token}))
        clock.now = clock.now.replace(year=clock.now.year + 100)
        told(client.get("/v1/notes", headers={"X-API-Key": token}), 401)


def test_who_brings_nothing_is_told_where_to_ask(client):
    for answer in (client.get("/v1/notes"), client.post("/mcp", json={}, headers=CALL)):
        told(answer, 401)
        assert challenge(answer) == {"scope": "memory:read memory:write", "resource_metadata": METADATA}
    assert "error" not in challenge(client.get("/v1/notes"))


def test_the_servers_metadata_are_open_and_say_who_issues(client, issuer):
    for path in (urlsplit(METADATA).path, "/.well-known/oauth-protected-resource"):
        answer = client.get(path, headers={"Origin": "https://client.test"})
        assert told(answer) == {
            "resource": RESOURCE,
            "authorization_servers": [issuer.url],
            "scopes_supported": ["memory:read", "memory:write", "memory:forget"],
            "bearer_methods_supported": ["header"],
        }
        assert answer.headers["access-control-allow-origin"] == "*"


def test_without_an_issuer_nothing_of_it_is_served(memory):
    with TestClient(app(memory, access=Access(memory, required=True)), base_url="http://127.0.0.1") as client:
        told(client.get("/.well-known/oauth-protected-resource"), 404)
        with issuing() as issuer:
            answer = client.get("/v1/notes", headers=issuer.bearer())
            assert issuer.asked == []
        told(answer, 401)
        assert answer.headers["www-authenticate"] == "Bearer"


# ---- a scope that is missing -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "lacks", "given"),
    [
        ("GET", "/v1/notes", "read", ["write", "forget"]),
        ("GET", "/v1/notes", "read", []),
        ("DELETE", "/v1/notes/x", "write", ["read", "forget"]),
        ("GET", "/v1/holds", "forget", ["read", "write"]),
    ],
)
def test_which_scope_a_token_lacks_is_told(client, issuer, method, path, lacks, given):
    answer = client.request(method, path, headers=issuer.bearer("ana", given))
    told(answer, 403)
    assert challenge(answer) == {
        "error": "insufficient_scope",
        "scope": f"memory:{lacks}",
        "resource_metadata": METADATA,
    }


def test_a_client_of_mcp_is_told_it_too(client, issuer):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call["params"] = {"name": "remember", "arguments": {"text": "The boat sails."}}
    answer = client.post("/mcp", json=call, headers={**issuer.bearer("ana", ["read"]), **CALL})
    assert challenge(answer)["scope"] == "memory:write"
    assert told(answer, 403)["result"]["isError"]


def test_who_has_a_key_is_sent_to_no_issuer(client, memory, issuer):
    with asking(memory, issuer) as client:
        answer = client.delete("/v1/notes/x", headers=bearer(memory, "ana", ["read"]))
    told(answer, 403)
    assert "www-authenticate" not in answer.headers


# ---- the issuer's keys -------------------------------------------------------------------------


def test_a_new_key_is_found_and_the_former_one_forgotten(kept, own, impatient):
    with asking(kept(lambda _: None), own) as client:
        former, other = own.bearer(), own.bearer()
        told(client.get("/v1/notes", headers=former))
        own.rotate()
        told(client.get("/v1/notes", headers=own.bearer()))
        assert "no such key" in told(client.get("/v1/notes", headers=other), 401)["detail"]


def test_the_issuer_is_not_asked_for_each_token_that_names_an_unknown_key(kept, own, patient):
    with asking(kept(lambda _: None), own) as client:
        told(client.get("/v1/notes", headers=own.bearer()))
        own.asked.clear()
        for number in range(20):
            told(client.get("/v1/notes", headers=own.bearer(headers={"kid": f"k{number}"})), 401)
        told(client.get("/v1/notes", headers=own.bearer()))
        assert own.asked == []


def test_keys_that_are_old_are_asked_for_again(kept, own, impatient, monkeypatch):
    monkeypatch.setattr(tokens, "_FRESH", 0.0)
    with asking(kept(lambda _: None), own) as client:
        for _ in range(2):
            own.asked.clear()
            told(client.get("/v1/notes", headers=own.bearer()))
            assert own.asked[-1] == "/jwks"


@pytest.mark.parametrize(
    "broken",
    [
        {"fails": 500},
        {"fails": 404},
        {"published": []},
        {"published": "none"},
        {"published": "no object"},
        {"published": [{"kty": "oct", "k": "AAAA"}]},
        {"metadata": "/nowhere"},
    ],
    ids=str,
)
def test_while_the_issuer_fails_no_token_is_judged(kept, own, patient, monkeypatch, broken):
    for name, value in broken.items():
        if name == "published":
            monkeypatch.setattr(type(own), name, value)
        else:
            monkeypatch.setattr(own, name, value)
    with asking(kept(lambda _: None), own) as client:
        own.asked.clear()
        for _ in range(3):
            answer = client.get("/v1/notes", headers=own.bearer())
            problem = told(answer, 503)
            assert (problem["error"], "does not answer as one" in problem["detail"]) == ("IssuerFailed", True)
            assert int(answer.headers["retry-after"]) > 0
            assert "www-authenticate" not in answer.headers
        assert len(own.asked) <= 2  # of its metadata's two places: not asked again and again


@pytest.mark.parametrize("claim", [{"issuer": "https://evil.test"}, {"jwks_uri": "http://keys.test/"}, {"jwks_uri": 7}])
def test_metadata_of_another_issuer_or_of_keys_that_anyone_could_change_are_not_taken(kept, own, monkeypatch, claim):
    answered = type(own).answer

    def answer(self, path, query, form):
        status, body = answered(self, path, query, form)
        return status, {**body, **claim} if path == self.metadata else body

    monkeypatch.setattr(type(own), "answer", answer)
    with asking(kept(lambda _: None), own) as client:
        told(client.get("/v1/notes", headers=own.bearer()), 503)


def test_keys_are_not_fetched_from_where_the_issuer_leads_on(kept, own, monkeypatch):
    monkeypatch.setattr(own, "fails", 302)
    with asking(kept(lambda _: None), own) as client:
        told(client.get("/v1/notes", headers=own.bearer()), 503)


def test_an_issuer_with_the_metadata_of_oauth_alone_is_found(kept, own, monkeypatch):
    monkeypatch.setattr(own, "metadata", "/.well-known/oauth-authorization-server/realms/test")
    with asking(kept(lambda _: None), own) as client:
        told(client.get("/v1/notes", headers=own.bearer()))


# ---- where it is used --------------------------------------------------------------------------


class Kept:
    """What a client keeps: its tokens, and what the issuer knows it by."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def test_a_client_of_mcp_signs_in_by_itself_and_asks_for_more_when_it_needs_it(memory):
    """By MCP's own SDK: from a 401 to the metadata, the issuer, a token for this server, and one that may forget."""
    store, led = Kept(), []

    async def lead(url):
        async with httpx2.AsyncClient() as browser:
            led.append((url, (await browser.get(url)).headers["location"]))

    async def answered():
        return AuthorizationCodeResult(**dict(parse_qsl(urlsplit(led[-1][1]).query)))

    async def work(at):
        given = OAuthClientMetadata(redirect_uris=["http://127.0.0.1:9/back"], client_name="a client")
        auth = OAuthClientProvider(f"{at}/mcp", given, store, lead, answered)
        async with (
            httpx2.AsyncClient(auth=auth, timeout=60) as http,
            Client(streamable_http_client(f"{at}/mcp", http_client=http)) as client,
        ):
            note = (await client.call_tool("remember", {"text": "My code is 4711."})).structured_content["note"]
            return (await client.call_tool("forget", {"source": [note]})).structured_content["notes"]

    with serving.listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    with issuing(f"http://127.0.0.1:{port}/mcp") as issuer, served(taking(memory, issuer), port=port) as at:
        assert asyncio.run(work(at)) == 1
    asked = [dict(parse_qsl(urlsplit(url).query)) for url, _ in led]
    assert [one["resource"] for one in asked] == [issuer.resource] * 2
    assert asked[0]["scope"].split() == ["memory:read", "memory:write"]
    assert "memory:forget" in asked[1]["scope"]


def test_the_page_is_opened_by_a_token_as_by_a_key(client, issuer):
    same = {"sec-fetch-site": "same-origin"}
    client.cookies.clear()
    for wrong, why in (
        (issuer.token(aud="x"), "another server"),
        ("mge_wrong", "This key opens nothing"),
        (issuer.token(x="y" * 4000), "can&#39;t be kept"),
    ):
        page = client.post("/ui/login", data={"key": wrong}, headers=same)
        assert (page.status_code, why in page.text, wrong in page.text) == (401, True, False)
    assert client.post("/ui/login", data={"key": issuer.token("ana", ["read"])}, headers=same).status_code == 200
    assert "4711" in client.get("/ui/search?query=code").text
    assert client.get("/ui/search?user=ben&query=code").status_code == 403
    client.cookies.clear()


def test_a_server_that_takes_tokens_needs_no_key_to_be_reached_and_lets_nobody_in_without(memory, issuer):
    access = serving.admitted(taking(memory, issuer), alone=False)
    assert access.required
    assert Access(taking(memory, issuer)).required


# ---- the settings ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"issuer": "http://issuer.test"}, "must begin with https"),
        ({"issuer": "issuer.test"}, "no address"),
        ({"issuer": "https://a@issuer.test"}, "no address"),
        ({"issuer": "https://issuer.test/?a=b"}, "no address"),
        ({"resource": 'https://memory.test/"'}, "no address"),
        ({"resource": "https://memory.test/mcp#a"}, "no address"),
        ({"resource": ""}, "name this one"),
        ({"user": "email"}, "users may write the claim 'email'"),
        ({"tenant": "name"}, "users may write the claim 'name'"),
        ({"user": ""}, "at least 1"),
        ({"scopes": 'a" b'}, "pattern"),
    ],
)
def test_settings_by_which_another_could_come_in_are_refused(given, fault):
    good = {"issuer": "https://issuer.test/", "resource": RESOURCE}
    assert Settings.load(serve={"oauth": good}).serve.oauth.user == "sub"
    with pytest.raises(SettingsError, match=fault):
        Settings.load(serve={"oauth": {**good, **given}})

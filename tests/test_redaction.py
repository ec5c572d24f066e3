"""Secrets in what is written are kept, masked or refused, and what is masked is nowhere afterwards."""

import json
import logging
import time
from pathlib import Path

import pytest

from memgraph_engine import InvalidInput, Memory, Settings
from memgraph_engine.language.secrets import masked, secrets
from memgraph_engine.model.item import Put, item_of
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.items import ItemWriter

ANA = {"user_id": "ana"}
PLANTED = [
    json.loads(line) for line in (Path(__file__).parents[1] / "bench" / "secrets.jsonl").read_text().splitlines()
]
KEY = "ghp_" + "Ab3" * 12
PASSWORD, CARD = "hunter2moss", "4111 1111 1111 1111"
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpQIBAAKCAQEA7bq3x\n" * 150 + "-----END RSA PRIVATE KEY-----"
ALL = (KEY, PASSWORD, CARD, "MIIEpQIBAAKCAQEA7bq3x")
SAID = f"My password is {PASSWORD}, the token is {KEY} and the card {CARD}."


class Recording:
    """An embedder that tells what it was given."""

    def __init__(self, inner):
        self.name, self.inner, self.texts = inner.name, inner, []

    def embed_documents(self, texts):
        self.texts += texts
        return self.inner.embed_documents(texts)

    def embed_query(self, text):
        return self.inner.embed_query(text)


class Covering:
    """A redactor of one's own, which covers a word."""

    def redact(self, text):
        return text.replace("Rosebud", "[gone]")


class Failing:
    def redact(self, text):
        raise ValueError(f"can't read {text}")


class Silent:
    def redact(self, text):
        return None


@pytest.fixture
def writing(tenant, embedder, server):
    """Make a memory that treats secrets so; `writing.embedder` records."""
    made, opened = Recording(embedder), []

    def make(mode, **given):
        settings = Settings.load(tenant=tenant, secrets=mode, audit={"retrievals": "text"})
        opened.append(Memory.connect(embedder=made, settings=settings, **given))
        return opened[-1]

    make.embedder = made
    yield make
    for one in opened:
        one.close()


def everything(memory):
    """All that the database holds of a tenant, as one text."""
    tenant = memory.engine.settings.tenant
    with memory.engine.db._session() as session:
        own = "x.scope STARTS WITH $of OR x.tenant = $tenant"
        query = f"MATCH (x) WHERE {own} RETURN [k IN keys(x) WHERE NOT k ENDS WITH 'embedding' | x[k]] AS p"
        nodes = session.run(query, of=f"{tenant}/", tenant=tenant).value()
        query = "MATCH (x)-[r]-() WHERE x.scope STARTS WITH $of RETURN properties(r)"
        ties = session.run(query, of=f"{tenant}/").value()
    assert nodes
    return "\n".join(map(str, [*nodes, *ties]))


def leaks(text):
    """What of the secrets stands in a text, however it is written."""
    plain = text.casefold()
    return [one for one in (*ALL, CARD.replace(" ", "")) if one.casefold() in plain]


# ---- what is found --------------------------------------------------------------------------------


def test_the_planted_secrets_are_found_and_little_else():
    told = [(one, masked(one["text"])) for one in PLANTED if "secret" in one]
    found = [one for one, text in told if not any(part in text for part in one["secret"].split() if len(part) > 4)]
    wrong = [one["text"] for one in PLANTED if "secret" not in one and masked(one["text"]) != one["text"]]
    planted = sum("secret" in one for one in PLANTED)
    assert planted >= 150
    assert len(PLANTED) - planted >= 300
    assert len(found) / planted >= 0.9
    assert len(found) / (len(found) + len(wrong)) >= 0.95


@pytest.mark.parametrize("text", [one["text"] for one in PLANTED if "secret" in one][::7])
def test_what_is_masked_is_no_secret_again(text):
    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "the password is what you know",
        "das Passwort ist falsch",
        "the order is 4111 1111 1111 1112",
        "ISBN 978-0-306-40615-7",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it",
        "user 123e4567-e89b-42d3-a456-426614174000 can't log in",
        "password = os.environ['DB_PASSWORD']",
        "password: ********",
        "IBAN DE89 3704 0044 0532 0130 00",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
    ],
)
def test_what_only_looks_like_a_secret_stays(text):
    assert secrets(text) == []


def test_a_private_key_without_an_end_is_covered_to_the_end():
    assert masked(PEM[:900]) == "[masked private key]"


@pytest.mark.parametrize(
    "part", ["password ", "key: ", "-----BEGIN PRIVATE KEY-----", "a" * 60 + ".", "4", "https://a:", "= "]
)
def test_a_long_text_is_read_in_linear_time(part):
    def seconds(length):
        begun = time.process_time()
        masked((part * length)[:length])
        return time.process_time() - begun

    assert seconds(400_000) < 40 * max(seconds(40_000), 0.01)


# ---- keep, mask, refuse ---------------------------------------------------------------------------


def test_by_default_all_is_kept_word_for_word(memory):
    memory.add(SAID, **ANA)
    assert memory.engine.settings.secrets == "keep"
    assert [note.text for note in memory.get_all(**ANA)] == [SAID]


def test_what_is_masked_is_in_no_index_term_vector_log_trace_receipt_or_cache(writing, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    memory = writing("mask")
    receipts = [memory.add({"role": "user", "text": SAID, "caption": SAID, "metadata": {"password": PASSWORD}}, **ANA)]
    receipts.append(memory.add([{"text": f"Later: {SAID}", "session": "s", "id": "m"}], **ANA))
    memory.update("m", f"Now it is so: {SAID}", **ANA)
    (tmp_path / "notes.md").write_text(f"# Access\n\nThe router stands below.\n\n{PEM}\n\n{SAID}\n")
    (tmp_path / "app.py").write_text(f'def connect():\n    """Log in."""\n    token = "{KEY}"\n')
    (tmp_path / "chat.jsonl").write_text(json.dumps({"text": SAID}) + "\n")
    done = [memory.ingest(tmp_path / name, **ANA) for name in ("notes.md", "chat.jsonl")]
    done.append(memory.ingest(tmp_path / "app.py", format="code", **ANA))
    assert [one.faults for one in done] == [(), (), ()]
    memory.set_profile("wifi", f"password: {PASSWORD}", **ANA)
    value = json.dumps({"login": "ana", "password": PASSWORD, "key": KEY})
    ItemWriter(memory.engine).put(Scope(memory.engine.settings.tenant, "ana"), [Put("box", value, (value,))])
    hits = memory.search(f"What is it for? The password is {PASSWORD}.", **ANA)
    told = [hits, memory.context("What is my password?", **ANA), memory.facts(**ANA), memory.profile(**ANA)]
    memory.flush()
    memory.export(tmp_path / "ana.export", **ANA)
    texts = {
        "store": everything(memory),
        "vectors": "\n".join(writing.embedder.texts),
        "logs": caplog.text,
        "receipts": repr([one.to_dict() for one in receipts]) + repr([one.to_dict() for one in done]),
        "told": repr([one.to_dict() for one in (*hits, *told[1:2])]) + repr(told),
        "decisions": repr([one.to_dict() for one in memory.decisions(**ANA)]),
        "export": (tmp_path / "ana.export").read_text(),
    }
    assert {name: found for name, text in texts.items() if (found := leaks(text))} == {}
    assert "[masked password]" in texts["store"]
    assert "[masked private key]" in texts["store"]
    again = memory.ingest(tmp_path / "notes.md", **ANA)
    assert (again.repeats, again.updated, again.faults) == (done[0].added + done[0].merged + done[0].reinforced, 0, ())


def test_an_item_stays_json(writing):
    memory = writing("mask")
    scope = Scope(memory.engine.settings.tenant, "ana")
    ItemWriter(memory.engine).put(scope, [Put("box", json.dumps({"password": PASSWORD, "n": 1}), ("A box.",))])
    (note,) = memory.get_all(**ANA)
    assert json.loads(item_of(scope.name, note.sources[0]).value) == {"password": "[masked password]", "n": 1}


@pytest.mark.parametrize("redactor", [None, Covering()])
def test_what_is_refused_is_refused_whole_and_not_quoted(writing, tmp_path, redactor):
    memory = writing("refuse", redactor=redactor)
    said = f"The word is Rosebud. {SAID}"
    for given in (said, ["Bo moved to Leeds.", said], [{"text": "Hi.", "metadata": {"note": said}}]):
        with pytest.raises(
            InvalidInput, match=r"holds a secret, and secrets are refused\. Nothing was stored"
        ) as error:
            memory.add(given, **ANA)
        assert leaks(str(error.value)) == []
    (tmp_path / "notes.md").write_text(f"# Access\n\nThe router stands below.\n\n{said}\n")
    (fault,) = memory.ingest(tmp_path / "notes.md", **ANA).faults
    assert (fault.reason, leaks(str(fault))) == (
        "holds a secret, and secrets are refused. Nothing was stored of it.",
        [],
    )
    assert memory.stats(**ANA).sources == 0
    memory.add({"text": "Bo moved to Leeds.", "id": "1"}, **ANA)
    with pytest.raises(InvalidInput, match="the text holds a secret"):
        memory.update("1", said, **ANA)
    with pytest.raises(InvalidInput, match="value holds a secret"):
        memory.set_profile("wifi", f"password: {PASSWORD} Rosebud", **ANA)
    assert [note.text for note in memory.get_all(**ANA)] == ["Bo moved to Leeds."]


def test_a_redactor_of_ones_own_stands_in_place_of_the_table(writing):
    memory = writing("mask", redactor=Covering())
    memory.add(f"Rosebud is a sledge. My password is {PASSWORD}.", **ANA)
    (note,) = memory.get_all(**ANA)
    assert note.text == f"[gone] is a sledge. My password is {PASSWORD}."


@pytest.mark.parametrize(("redactor", "why"), [(Failing(), "ValueError"), (Silent(), "NoneType in place of a text")])
@pytest.mark.parametrize("mode", ["mask", "refuse"])
def test_a_redactor_that_fails_lets_nothing_be_written_and_tells_nothing(writing, caplog, mode, redactor, why):
    caplog.set_level(logging.DEBUG)
    memory = writing(mode, redactor=redactor)
    with pytest.raises(InvalidInput) as error:
        memory.add(["Bo moved to Leeds.", SAID], **ANA)
    assert str(error.value) == f"message 1 of 2 can't be looked through for secrets ({why}). Nothing was stored of it."
    assert error.value.__context__ is None
    assert memory.stats(**ANA).sources == 0
    assert leaks(caplog.text) == []
    assert len(memory.search(SAID, **ANA)) == 0


def test_an_export_that_holds_a_secret_is_not_imported_where_secrets_are_not_kept(memory, writing, tmp_path):
    memory.add(SAID, user_id="bo")
    memory.add("Bo moved to Leeds.", user_id="cy")
    for name in ("bo", "cy"):
        memory.export(tmp_path / name, user_id=name)
    other = writing("mask")
    with pytest.raises(
        InvalidInput, match=r"holds a secret, and secrets are not kept .* Nothing was imported"
    ) as error:
        other.import_(tmp_path / "bo", user_id="dan")
    assert leaks(str(error.value)) == []
    assert other.stats(user_id="dan").sources == 0
    other.import_(tmp_path / "cy", user_id="eve")
    assert [note.text for note in other.get_all(user_id="eve")] == ["Bo moved to Leeds."]

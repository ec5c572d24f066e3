"""Every statement in cypher/ is sound on the real server, filtered by scope, and used."""

import re

import neo4j
import pytest

from memgraph_engine.graph import schema, writes
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.statements import BrokenStatement, _parse, statements
from memgraph_engine.resources import resource
from tests.clocks import BEGIN

WITHOUT_SCOPE = {
    "store/clock",
    "store/read",
    "store/create",
    "store/identify",
    "store/upgrade",
    "store/prove",
    "store/calibrate",
    # the second set of vectors is the database's
    *(f"vectors/{name}" for name in ("begin", "counts", "end", "leave", "progress", "second", "switch")),
    "leases/acquire",
    "leases/list",
    "leases/release",
    # a catalogue's, and what the catalogue says to a server
    *(f"servers/{name}" for name in ("add", "catalogue", "drain", "here")),
    # a secret is known before its tenant is, and a server asks whether any tenant has a key
    "keys/find",
    "keys/some",
}
# a chain of receipts is a tenant's, and so are keys
OF_TENANT = {
    *("receipts/create", "receipts/last", "receipts/list", "receipts/purge"),
    *("keys/create", "keys/list", "keys/revoke", "keys/remove"),
    # where a tenant lives, and what becomes of it on a server
    *(f"servers/{name}" for name in ("mark", "mine", "stop", "leave")),
}
# a purge, a rebuild of all topics, a worker, a look at its work and a list of users look for all scopes of a tenant, an
# upgrade and an operator's list for those of all, by the one label that is small
MAY_SCAN = {
    "scopes/of_tenant",
    "scopes/tenants",
    "scopes/users",
    "scopes/waiting",
    "scopes/undone",
    "scopes/fresh",
    "topics/changed",
    "store/overtake",
    # servers and tenants of a catalogue are few, and leases are found by their label
    *(f"servers/{name}" for name in ("begin", "end", "flip", "gone", "known", "leases", "place", "running", "tenants")),
    # an embedder is that of all scopes
    *(f"vectors/{name}" for name in ("drop", "lock", "sample", "scopes", "switch")),
}
# the claims that a tenant's users share are read across their scopes, and nothing else is
SHARED = {"claims/general"}
# a compaction copies all that a store holds, whosever it is, and a move looks at all for what is a tenant's
COPIED = {"copy/nodes", "copy/relationships", "copy/counts", "servers/scan"}
OF_ALL = {*COPIED, "copy/write_nodes", "copy/write_relationships"}
NAMES = sorted(statements())
TEXTS = {name: statements()[name].text for name in NAMES if not name.startswith("schema/")}
ONE = re.compile("Unique|ByElementId")


@pytest.fixture(scope="module")
def session(server, embedder):
    from memgraph_engine import Memory

    with Memory.connect(embedder=embedder) as memory:  # the schema is there, and what servers of a catalogue have
        for name in schema.OF_SERVERS:
            schema.make(memory.engine.db, name, {})
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver, driver.session() as one:
        yield one


def operators(plan):
    yield plan
    for child in plan.get("children", ()):
        yield from operators(child)


def explained(session, name, *, whole=True):
    statement = statements()[name]
    parameters = {p: dict.fromkeys(["id", "kind", "at"]) if p == "decision" else None for p in statement.parameters}
    text, given = (statement.whole if whole else statement.call)(parameters)
    summary = session.run(text.replace("CYPHER 25", "CYPHER 25 EXPLAIN", 1), given).consume()
    return list(operators(summary.plan))


def walks(name, plan):
    """What a plan reads that grows with what others have stored, and no key or index leads to."""
    kinds = [operator["operatorType"].partition("@")[0] for operator in plan]
    found = ["AllNodesScan"] if "AllNodesScan" in kinds else []
    if name not in MAY_SCAN:
        scans = [operator for operator in plan if re.search("LabelScan|RelationshipTypeScan", operator["operatorType"])]
        found += [operator["args"].get("Details") for operator in scans]
    for operator in plan:
        if operator["operatorType"].startswith("CartesianProduct"):
            sides = [[o["operatorType"] for o in operators(child)] for child in operator.get("children", ())]
            # one side is a single row: what a unique key finds, or what is handed in
            if not any(side[0].startswith("Argument") or any(ONE.search(kind) for kind in side) for side in sides):
                found.append(sides)
    return found


@pytest.mark.parametrize("folder", sorted({name.partition("/")[0] for name in NAMES} - {"schema"}))
def test_no_statement_walks_the_whole_graph(session, folder):
    wrong = {}
    for name in (name for name in NAMES if name.startswith(f"{folder}/") and name not in COPIED):
        plan = explained(session, name)
        wrong[name] = walks(name, plan)
        # and it is sound without what it needs not send
        if len(statements()[name].parts) > 1 and len(explained(session, name, whole=False)) >= 0.7 * len(plan):
            wrong[name] += ["as long without its parts"]
    assert {name: found for name, found in wrong.items() if found} == {}


def test_a_plan_that_walks_the_whole_graph_is_seen(session):
    for wrong in ("MATCH (n) RETURN n", "MATCH (n:Note) RETURN n", "MATCH (a:Note), (b:Source) RETURN a, b"):
        assert walks("notes/wrong", list(operators(session.run(f"CYPHER 25 EXPLAIN {wrong}").consume().plan))), wrong


def test_what_contradicts_notes_is_sought_from_these_notes_alone(session):
    kinds = {operator["operatorType"].partition("@")[0] for operator in explained(session, "decisions/contrary")}
    assert "NodeUniqueIndexSeek" in kinds
    assert not {kind for kind in kinds if "Scan" in kind}


def scopeless(name):
    """The look-ups of a statement that no scope filters, or nothing."""
    text = statements()[name].text
    if name.startswith("schema/") or name in WITHOUT_SCOPE | OF_TENANT | MAY_SCAN | OF_ALL | SHARED:
        lacks = name in OF_TENANT and "{tenant: $tenant" not in text
        looked_up = re.findall(r"MATCH (\(\w*:.*?\))(?![-<])", text if name in SHARED else "")
        filtered = r"\{(shared_in: \$shared|scope: (\$shared|c\.scope))\b"
        return [name] * lacks + [one for one in looked_up if not re.search(filtered, one)]
    if not re.search(r"\{scope: \$scope\b|\.scope IN \$scopes|\.scope = \$scope\b", text):
        return [name]
    # each node that is looked up by label alone is filtered by scope
    by_label = r"MATCH \(\w*:(?:Note|Source|Keyword|Topic|Decision|Past|Run|Block|BlockRun|Claim)\)(?![-<])"
    return [] if "$scopes" in text or ".scope = $scope" in text else re.findall(by_label, text)


def test_a_statement_names_its_scope():
    assert {name: found for name in NAMES if (found := scopeless(name))} == {}


# these count or keep what is stored, and tell nobody what a note says: what has expired leaves the sums by the sweep
COUNTED_AS_STORED = {
    "writes/commit",
    "scopes/sums",
    "scopes/settle",
    "blocks/faults",
    "keywords/recount",
    "keywords/faults",
    "notes/faults",
    "pruning/past",
}


def looks_at_status(text):
    """The variables whose status a statement asks for, so as to read some notes and not others."""
    return set(re.findall(r"\b(\w+)\.status (?:IN|=) ", text)) | set(re.findall(r"\((\w+):Note \{[^}]*status:", text))


def test_a_statement_that_reads_notes_leaves_out_what_has_expired():
    wrong = {
        name: [one for one in looks_at_status(text) if not re.search(rf"\b{one}\.expires_at (>|<=) \$alive", text)]
        for name, text in TEXTS.items()
        if name not in COUNTED_AS_STORED
    }
    assert {name: found for name, found in wrong.items() if found} == {}


# these change ties or look for one by both of its ends, or are about what is erased
NO_READER_OF_TIES = {"writes/commit", "decisions/between", "pruning/decisions"}


def test_a_statement_that_follows_ties_leaves_out_what_is_kept_apart():
    assert [
        name
        for name, text in TEXTS.items()
        if not name.startswith("erasures/")
        and name not in NO_READER_OF_TIES
        and re.search(r":(RELATED|SUPERSEDES)", text)
        and ".apart IS NULL" not in text
    ] == []


def test_a_statement_that_forgets_that_notes_end_is_seen():
    assert looks_at_status("MATCH (n:Note {scope: $scope}) WHERE n.status IN $statuses RETURN n") == {"n"}
    assert looks_at_status("MATCH (n:Note {scope: $scope, status: 'pending'}) RETURN n") == {"n"}
    assert all(looks_at_status(statements()[name].text) for name in ("notes/propose", "notes/page", "notes/pending"))


def test_a_statement_is_used(root):
    code = "\n".join(path.read_text() for path in (root / "memgraph_engine").rglob("*.py"))
    assert [name for name in TEXTS if f'"{name}"' not in code] == []


def test_no_python_file_holds_cypher(root):
    for path in (root / "memgraph_engine").rglob("*.py"):
        assert not re.search(r"\b(MATCH|MERGE|UNWIND) [(\[{$]", path.read_text()), path


def test_a_header_that_differs_from_its_body_is_refused():
    with pytest.raises(BrokenStatement, match="scope"):
        _parse("notes/wrong", "// What it does.\n// $id: string    an id\nMATCH (n {scope: $scope, id: $id}) RETURN n")


TWO = """// Removes notes, and keywords where some are lost.
// $scope: string    the scope
// $lost: list<string>    these keywords
MATCH (n:Note {scope: $scope}) DETACH DELETE n
// if $lost
WITH count(*) AS removed
UNWIND $lost AS name // a comment is no part
// nor is this one
MATCH (k:Keyword {scope: $scope, name: name}) DELETE k
// end
RETURN 0 AS done"""


@pytest.mark.parametrize(("lost", "sent"), [(["whale"], True), ([], False), (None, False)])
def test_a_part_is_sent_only_where_something_is_given_for_it(lost, sent):
    text, _ = _parse("notes/two", TWO).call({"scope": "x", "lost": lost})
    assert ("Keyword" in text) == sent
    assert text.startswith("CYPHER 25\nMATCH (n:Note {scope: $given.scope})")
    assert text.endswith("RETURN 0 AS done")


def test_a_part_that_needs_what_no_header_names_is_refused():
    with pytest.raises(BrokenStatement, match="losing"):
        _parse("notes/wrong", TWO.replace("// if $lost", "// if $losing"))


def test_an_entry_of_a_map_that_no_header_names_is_refused():
    used = "// Removes.\n// $scope: string    the scope\n// $write.lose: list    names\nMATCH (n {scope: $scope}) "
    assert _parse("notes/right", f"{used}WHERE n.name IN $write.lose DELETE n").parameters == {"scope", "write"}
    with pytest.raises(BrokenStatement, match=r"\['write', 'write.lose'\]"):
        _parse("notes/wrong", f"{used}WHERE n.name IN $write.loose DELETE n")


class Recording(Database):
    """A database that notes what it is to commit, and commits nothing."""

    def __init__(self):
        self.given = {}

    def commit(self, name, /, **parameters):
        self.given = parameters
        return [{}]


def test_three_texts_of_writes_are_sent_whatever_changes():
    commit, recording = statements()["writes/commit"], Recording()
    sent = {}
    for operation in (*commit.needs("write"), None):
        assert writes.commit(recording, "x", 1, BEGIN, {operation: [{}]} if operation else {})
        sent[operation], _ = commit.call(recording.given)
        assert operation is None or f"$given.write.{operation}" in sent[operation]
    adds, revises, corrects = (sent[operation] for operation in ("create", "revise", "retire"))
    assert set(sent.values()) == {adds, revises, corrects}
    assert sent[None] == sent["relate"] == adds
    assert len(adds) < len(revises) < len(corrects)


def test_a_write_of_an_operation_that_is_not_there_is_refused():
    with pytest.raises(BrokenStatement, match="untied"):
        writes.commit(Recording(), "x", 1, BEGIN, {"untied": [{}]})


def test_a_part_within_a_part_is_refused():
    with pytest.raises(BrokenStatement, match="no other"):
        _parse("notes/wrong", TWO.replace("// nor is this one", "// if $lost"))


def test_a_call_with_a_wrong_parameter_is_refused(memory):
    with pytest.raises(BrokenStatement, match="tenant"):
        memory.engine.db.run("store/read", tenant="x")


def test_a_fragment_stands_for_its_lines_with_words_for_its_holes():
    used = "// Finds.\n// $pool: integer    a bound\nMATCH (n)\n  // use notes/nearest index=a vector=b limit=$pool"
    # what a fragment takes, the statement's header names too
    with pytest.raises(BrokenStatement, match=r"\['scopes', 'statuses'\]"):
        _parse("notes/wrong", used)
    header = "// $scopes: list    some\n// $statuses: list    some\n"
    lines = _parse("notes/right", header + used).text.splitlines()
    assert lines[1] == "  MATCH (n:Note)"
    assert lines[2].strip().startswith("SEARCH n IN (VECTOR INDEX a FOR b WHERE n.scope IN $scopes")
    assert lines[2].endswith("LIMIT $pool)")


def test_a_fragment_that_is_not_there_is_refused():
    with pytest.raises(BrokenStatement, match="notes/wrong: it uses notes/farthest"):
        _parse("notes/wrong", "// What it does.\n// use notes/farthest\nRETURN 0")


def test_every_file_is_loaded():
    folder = resource("cypher")
    files = {path.relative_to(folder).with_suffix("").as_posix(): path.read_text() for path in folder.rglob("*.cypher")}
    assert len(files) == sum(path.is_file() for path in folder.rglob("*"))
    fragments = {name.removeprefix("fragments/") for name in files if name.startswith("fragments/")}
    assert files.keys() == {*NAMES, *(f"fragments/{name}" for name in fragments)}
    assert fragments == set(re.findall(r"// use ([a-z_/]+)", "\n".join(files.values())))
    assert [name for name, text in files.items() if not text.startswith("// ")] == []


def test_nothing_is_left_of_the_holes_of_fragments():
    assert [name for name, text in TEXTS.items() if re.search(r"<[a-z]+>", text)] == []

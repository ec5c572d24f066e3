"""What Neo4j Browser is given: saved queries that read one scope, and a style for all that the graph is made of."""

import re

import neo4j
import pytest

from memgraph_engine import Memory
from memgraph_engine.graph.statements import _parse, statements
from memgraph_engine.resources import resource
from memgraph_engine.testing import temporary_memory

FOLDER = resource("config", "browser")
QUERIES = {path.stem: path.read_text("utf-8") for path in sorted((FOLDER / "queries").glob("*.cypher"))}
STYLE = (FOLDER / "style.grass").read_text("utf-8")
TALK = [
    "The lighthouse keeper waved at the ferry.",
    "The harbour master paints the old rowing boat and the wooden oars.",
    "A wooden oar of the rowing boat floats in the harbour basin.",
    "The bakery sells rye bread, fig bread and lemon cake.",
    "The lemon cake of the bakery is sold out before the rye bread.",
    "The rowing boat brings rye bread and lemon cake to the lighthouse.",
    "I live in Lisbon.",
    "I no longer live in Lisbon, I moved to Faro.",
    "Ferries are ships.",
]


@pytest.fixture(scope="module")
def driver(server):
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as one:
        yield one


@pytest.fixture(scope="module")
def parameters(server, embedder):
    """The parameters of all queries, for a memory that has something for each to show, beside another that has too."""
    with temporary_memory(embedder=embedder) as memory:
        for user in ("bo", "ana"):
            remember(memory, user)
        (correction,) = [d for d in memory.decisions(user_id="ana") if d.kind == "supersede"]
        yield {
            "scope": memory.stats(user_id="ana").scope,
            "source": "ana 0",
            "decision": correction.id,
            "question": "Who sells rye bread?",
        }


def remember(memory: Memory, user: str) -> None:
    memory.add_many(
        [
            {"id": f"{user} {n}", "text": text, "speaker": "Ana", "session": "talk", "time": f"2024-05-0{n + 1}"}
            for n, text in enumerate(TALK)
        ],
        user_id=user,
    )
    memory.update(f"{user} 0", "The lighthouse keeper waved at the red ferry.", user_id=user)
    memory.rebuild_topics(user_id=user)
    memory.rebuild_blocks(user_id=user)
    memory.consolidate(user_id=user)


def run(driver, text, parameters):
    """Run a query as the Browser does, which says nothing of Cypher's version.

    It reads all tenants' nodes, of whom other tests delete theirs meanwhile: then it is read again.
    """
    with driver.session(default_access_mode=neo4j.READ_ACCESS) as session:

        def read(tx):
            result = tx.run(text, parameters)
            return list(result), result.consume()

        return session.execute_read(read)


def nodes(value):
    """Yield every node in a value that a query returned."""
    if isinstance(value, neo4j.graph.Node):
        yield value
    elif isinstance(value, neo4j.graph.Path | neo4j.graph.Relationship):
        yield from value.nodes
    elif isinstance(value, list | neo4j.Record):
        for one in value:
            yield from nodes(one)


@pytest.mark.parametrize("name", QUERIES)
def test_a_saved_query_shows_something_of_its_scope_alone(driver, parameters, name):
    rows, summary = run(driver, QUERIES[name], parameters)
    assert rows
    assert summary.query_type == "r"
    assert {node["scope"] for row in rows for node in nodes(row)} <= {parameters["scope"]}
    assert run(driver, QUERIES[name], {**parameters, "scope": "another/memory"})[0] == []


@pytest.mark.parametrize("name", QUERIES)
def test_a_saved_query_says_what_it_takes_and_is_scoped(name):
    assert "scope" in _parse(name, QUERIES[name]).parameters
    assert len(QUERIES[name].splitlines()[0]) <= 35  # the name under which the Browser keeps it


@pytest.mark.parametrize("name", QUERIES)
def test_a_saved_query_never_walks_the_whole_graph(driver, parameters, name):
    plan = [run(driver, f"EXPLAIN {QUERIES[name]}", parameters)[1].plan]
    kinds = set()
    while plan:
        operator = plan.pop()
        kinds.add(operator["operatorType"].partition("@")[0])
        plan += operator.get("children", [])
    assert not {kind for kind in kinds if "AllNodesScan" in kind or "LabelScan" in kind or "TypeScan" in kind}


def test_a_question_leads_from_its_keywords_to_its_sources(driver, parameters):
    rows, _ = run(driver, QUERIES["question"], {**parameters, "question": "Where's the lemon cake?"})
    found = [node for row in rows for node in nodes(row)]
    assert {node["name"] for node in found if "Keyword" in node.labels} == {"lemon cake"}
    said = {node["text"] for node in found if "Source" in node.labels}
    assert {text for text in TALK if "lemon cake" in text} == said
    assert any("Topic" in node.labels for node in found)


def test_a_decisions_story_shows_both_notes_and_what_the_older_one_was(driver, parameters):
    rows, _ = run(driver, QUERIES["decision"], parameters)
    found = {node.element_id: node for row in rows for node in nodes(row)}.values()
    assert sorted(label for node in found for label in node.labels) == [
        "Decision", "Note", "Note", "Past", "Source", "Source",
    ]  # fmt: skip


def test_a_notes_past_keeps_its_words_of_then(driver, parameters):
    rows, _ = run(driver, QUERIES["past"], parameters)
    assert TALK[0] in {node["text"] for row in rows for node in nodes(row) if "PastSource" in node.labels}


def test_decisions_are_told_newest_first(driver, parameters):
    rows, _ = run(driver, QUERIES["decisions"], parameters)
    times = [row["at"].to_native() for row in rows]
    assert times == sorted(times, reverse=True)
    assert any("I moved to Faro" in about for row in rows for about in row["about"])


def test_topics_tell_their_neighbours(driver, parameters):
    rows, _ = run(driver, QUERIES["topic-sizes"], parameters)
    labels = {row["topic"] for row in rows}
    named = {neighbour.rpartition(": ")[0] for row in rows for neighbour in row["neighbours"]}
    assert named
    assert named <= labels


def test_the_query_that_the_browser_opens_with_shows_something(driver, parameters):
    rows, summary = run(driver, (FOLDER / "first.cypher").read_text("utf-8"), {})
    assert (bool(rows), summary.query_type) == (True, "r")


def style():
    """Parse the style as the Browser does: selectors and braces, `name: value;`, and no comments."""
    assert "/*" not in STYLE
    rules = re.findall(r"([^{}\s]+) \{\n((?:  [a-z-]+: [^;]+;\n)+)\}\n", STYLE)
    assert "".join(f"{selector} {{\n{body}}}\n" for selector, body in rules) == STYLE
    return {selector: dict(re.findall(r"  ([a-z-]+): ([^;]+);", body)) for selector, body in rules}


def test_every_label_and_relationship_type_has_a_style_and_nothing_else_has():
    written = "\n".join(statement.text for statement in statements().values())
    labels = {one for some in re.findall(r"\(\w*:([A-Z][A-Za-z|]+)", written) for one in some.split("|")}
    types = {one for some in re.findall(r"\[\w*:([A-Z_|]+)", written) for one in some.split("|")}
    assert {"Note", "PastSource", "Lease"} <= labels
    assert {"FROM", "CO_OCCUR", "SPENT"} <= types
    named = {"node", "relationship"} | {f"node.{one}" for one in labels} | {f"relationship.{one}" for one in types}
    assert set(style()) == named


def test_captions_name_properties_that_are_there(driver, parameters):
    seen = {}
    for name, query in QUERIES.items():
        for row in run(driver, query, parameters)[0]:
            seen |= {label: (name, node) for node in nodes(row) for label in node.labels}
    assert len(seen) == 9
    for label, (name, node) in seen.items():
        assert node[style()[f"node.{label}"]["caption"].strip('"{}')], name


def test_the_docs_name_every_query(root):
    docs = (root / "docs" / "browser.md").read_text("utf-8")
    for name, query in QUERIES.items():
        assert f"{query.splitlines()[0].removeprefix('// ')} | `{name}.cypher`" in docs

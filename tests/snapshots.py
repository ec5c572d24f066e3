"""A whole memory as it is stored, to be compared with another one."""

from collections import Counter

READ = ("Note", "Past", "Source", "PastSource")
DERIVED = ("Block", "BlockRun", "Claim", "Topic", "Run")
KEYS = {
    **dict.fromkeys((*READ, *DERIVED, "Decision", "Erasure", "Hold", "Retrieval", "Usage"), "id"),
    "Keyword": "name",
    "Scope": "scope",
    "Erased": "erasure",
}
"""By labels, the property by which an index finds a node of a scope."""


def close(vector):
    return None if vector is None else tuple(round(number, 3) + 0.0 for number in vector)


def of_scope(*labels):
    """Return Cypher that finds the nodes `n` of $scope, or those of some labels, by indexes.

    A scan would read what every test has written.
    """
    parts = [f"MATCH (n:{label} {{scope: $scope}}) WHERE n.{KEYS[label]} >= '' RETURN n" for label in labels or KEYS]
    if not labels:
        parts.append("MATCH (:Scope {scope: $scope})-[:SPENT]->(n:Spending) RETURN n")
    return f"CALL () {{ {' UNION ALL '.join(parts)} }}"


def snapshot(memory, user="ana", vectors=True):
    """Everything but decisions, former versions, recorded times and the version; vectors to three digits, if at all."""
    scope = f"{memory.engine.settings.tenant}/{user}"
    with memory.engine.db._session() as session:
        nodes = session.run(
            f"{of_scope('Note', 'Source', 'Keyword', 'Scope')} RETURN labels(n) AS labels, properties(n) AS given",
            scope=scope,
        ).data()
        ties = session.run(
            f"{of_scope(*READ, 'Keyword', 'Scope')} "
            "MATCH (n)-[r:FROM|NEXT|RELATED|SUPERSEDES|UNTIED|HAS_KEYWORD|CO_OCCUR]->(b) "
            "WHERE (n:Note OR n:Source OR n:Keyword) AND (b:Note OR b:Source OR b:Keyword) "
            "OR r:RELATED OR r:SUPERSEDES OR r:UNTIED "
            "RETURN type(r) AS kind, coalesce(n.id, n.name) AS a, coalesce(b.id, b.name) AS b, "
            "r.weight AS weight, r.kind AS of, r.part AS part",
            scope=scope,
        ).data()
    left_out = {
        "recorded_at",
        "created_at",
        "superseded_at",
        "revision",
        "stamp",
        "version",
        "changed_since",
        "notes_since",
        "lock",
        "next_expiry",
        "keeps_apart",
        "evolved_to",
        "begins_at",
        "several",  # stays once several sources told a note
    }
    found = Counter()
    for node in nodes:
        given = {
            name: close(value) if name.endswith("embedding") else str(value)
            for name, value in node["given"].items()
            if name not in left_out
            and (vectors or not name.endswith("embedding"))
            and not (name == "constructed_by" and not value)
        }
        found[tuple(node["labels"]), tuple(sorted(given.items()))] += 1
    return found, Counter(tuple(sorted(tie.items(), key=str)) for tie in ties)


def same(one, other):
    assert one[0] - other[0] == other[0] - one[0] == Counter()
    assert one[1] - other[1] == other[1] - one[1] == Counter()

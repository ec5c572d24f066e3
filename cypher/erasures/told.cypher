// What else of a scope may hold words of sources: decisions' evidence, topics' labels, ties' former words; and how many
// decisions still name one of some sources. Those made since the erasure began are of sources that came anew.
// $scope: string    the scope
// $ids: list<string>    the sources that are erased
// $until: datetime    when the erasure began
// returns made [texts], named
MATCH (s:Scope {scope: $scope})
RETURN COLLECT { MATCH (d:Decision {scope: $scope}) WHERE d.id >= '' RETURN d.evidence + ' ' + d.considered }
       + COLLECT { MATCH (t:Topic {scope: $scope}) WHERE t.id >= '' RETURN t.label }
       + COLLECT { MATCH (n:Note {scope: $scope})-[r:RELATED|UNTIED]->(:Note) WHERE n.id >= '' AND r.former IS NOT NULL RETURN r.former } AS made,
       COUNT { MATCH (d:Decision {scope: $scope}) WHERE d.id >= '' AND d.at <= $until AND any(x IN d.sources WHERE x IN $ids) } AS named

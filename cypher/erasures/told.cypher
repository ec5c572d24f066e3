// What else of a scope may hold words of sources: decisions' evidence, what they tell of profiles, topics' labels, ties' former words.
// $scope: string    the scope
// returns made [texts]
RETURN COLLECT { MATCH (d:Decision {scope: $scope}) WHERE d.id >= '' RETURN d.evidence + ' ' + d.considered + ' ' + coalesce(d.delta, '') }
       + COLLECT { MATCH (t:Topic {scope: $scope}) WHERE t.id >= '' RETURN t.label }
       + COLLECT { MATCH (n:Note {scope: $scope})-[r:RELATED|UNTIED]->(:Note) WHERE n.id >= '' AND r.former IS NOT NULL RETURN r.former } AS made

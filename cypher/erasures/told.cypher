// What else of a scope may hold words of sources: what decisions say, tell of profiles and were decided by, keywords, topics and the
// moves of their runs, what runs say of failures, what models wrote of blocks, claims, ties' former words, the places of folders.
// $scope: string    the scope
// returns made [texts]
RETURN COLLECT { MATCH (d:Decision {scope: $scope}) WHERE d.id >= ''
                 RETURN d.evidence + ' ' + d.considered + ' ' + coalesce(d.delta, '') + ' ' + d.thresholds }
       + COLLECT { MATCH (k:Keyword {scope: $scope}) WHERE k.name >= '' RETURN k.name }
       + COLLECT { MATCH (t:Topic {scope: $scope}) WHERE t.id >= '' UNWIND [t.label] + t.keywords + t.labelled_from AS made RETURN made }
       + COLLECT { MATCH (r:Run {scope: $scope}) WHERE r.id >= '' RETURN r.moves }
       + COLLECT { MATCH (r:Run {scope: $scope}) WHERE r.id >= '' UNWIND coalesce(r.fallbacks, []) AS made RETURN made }
       + COLLECT { MATCH (r:BlockRun {scope: $scope}) WHERE r.id >= '' UNWIND coalesce(r.fallbacks, []) AS made RETURN made }
       + COLLECT { MATCH (b:Block {scope: $scope}) WHERE b.id >= '' AND b.described IS NOT NULL RETURN b.described }
       + COLLECT { MATCH (c:Claim {scope: $scope}) WHERE c.id >= '' RETURN c.text + ' ' + c.subject + ' ' + c.object }
       + COLLECT { MATCH (n:Note {scope: $scope})-[r:RELATED|UNTIED]->(:Note) WHERE n.id >= '' AND r.former IS NOT NULL RETURN r.former }
       + COLLECT { MATCH (s:Scope {scope: $scope}) WHERE s.folders IS NOT NULL RETURN s.folders } AS made

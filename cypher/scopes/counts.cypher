// How much of everything the scope holds.
// $scope: string    the scope
// returns language, version, notes [[status, count]], sources, sessions, keywords, pairs, topics, blocks, claims, decisions, past, used (notes whose use by it is counted), attributes (decisions that tell of profiles),
//   retrievals (calls that gave it notes), shares_claims: whether the tenant's users share claims, withholds_claims: whether its user takes no part
MATCH (s:Scope {scope: $scope})
RETURN s.language AS language, s.version AS version,
       COLLECT { MATCH (n:Note {scope: $scope}) WHERE n.id >= ''
                 WITH n.status AS status, count(*) AS some RETURN [status, some] } AS notes,
       COUNT { MATCH (x:Source {scope: $scope}) WHERE x.id >= '' } AS sources,
       COUNT { MATCH (x:Source {scope: $scope}) WHERE x.session > '' AND x.seq >= 0 RETURN DISTINCT x.session } AS sessions,
       COUNT { MATCH (k:Keyword {scope: $scope}) WHERE k.name >= '' } AS keywords,
       COUNT { MATCH (k:Keyword {scope: $scope})-[:CO_OCCUR]->(:Keyword) WHERE k.name >= '' } AS pairs,
       COUNT { MATCH (t:Topic {scope: $scope}) WHERE t.id >= '' } AS topics,
       COUNT { MATCH (b:Block {scope: $scope}) WHERE b.id >= '' AND b.state IN ['live', 'stale'] } AS blocks,
       COUNT { MATCH (c:Claim {scope: $scope}) WHERE c.id >= '' } AS claims,
       COUNT { MATCH (d:Decision {scope: $scope}) WHERE d.id >= '' } AS decisions,
       COUNT { MATCH (p:Past {scope: $scope}) WHERE p.id >= '' } AS past,
       COUNT { MATCH (d:Decision {scope: $scope}) WHERE d.subject IS NOT NULL AND d.undone_by IS NULL } AS attributes,
       COUNT { MATCH (u:Usage {scope: $scope}) WHERE u.id >= '' } AS used,
       COUNT { MATCH (r:Retrieval {scope: $scope}) WHERE r.id >= '' } AS retrievals,
       coalesce(s.shares_claims, false) AS shares_claims, coalesce(s.withholds_claims, false) AS withholds_claims

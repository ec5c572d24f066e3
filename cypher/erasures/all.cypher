// What an erasure of everything takes, without a word of it: nothing that is stored may stop that.
// $scope: string    the scope
// returns sources [[id, session]] (those that left too), notes: how many
RETURN COLLECT { MATCH (x:Source|PastSource {scope: $scope}) WHERE x.id >= '' RETURN DISTINCT [x.id, x.session] AS of ORDER BY of } AS sources,
       COUNT { MATCH (n:Note|Past {scope: $scope}) WHERE n.id >= '' RETURN DISTINCT n.id } AS notes

// All nodes of a scope that have it as a property, but for the scope itself, each found by a key.
MATCH (x:Past {scope: $scope}) WHERE x.id >= '' RETURN x
UNION ALL
MATCH (x:PastSource {scope: $scope}) WHERE x.id >= '' RETURN x
UNION ALL
MATCH (x:Note {scope: $scope}) WHERE x.id >= '' RETURN x
UNION ALL
MATCH (x:Source {scope: $scope}) WHERE x.id >= '' RETURN x
UNION ALL
MATCH (x:Keyword {scope: $scope}) WHERE x.name >= '' RETURN x
UNION ALL
MATCH (x:Topic {scope: $scope}) WHERE x.id >= '' RETURN x
UNION ALL
MATCH (x:Run {scope: $scope}) WHERE x.id >= '' RETURN x
UNION ALL
MATCH (x:Block {scope: $scope}) WHERE x.id >= '' RETURN x
UNION ALL
MATCH (x:BlockRun {scope: $scope}) WHERE x.id >= '' RETURN x
UNION ALL
MATCH (x:Claim {scope: $scope}) WHERE x.id >= '' RETURN x
UNION ALL
MATCH (x:Hold {scope: $scope}) WHERE x.id >= '' RETURN x
UNION ALL
MATCH (x:Usage {scope: $scope}) WHERE x.id >= '' RETURN x
UNION ALL
MATCH (x:Retrieval {scope: $scope}) WHERE x.id >= '' RETURN x
UNION ALL
MATCH (x:Decision {scope: $scope}) WHERE x.id >= '' RETURN x

// Remove the keywords that no note carries any more.
// $write.lose: list<string>    keywords that notes lost, or that notes carry which can be read no more
CALL () {
  UNWIND $write.lose AS name
  MATCH (k:Keyword {scope: $scope, name: name})
  WHERE NOT EXISTS { (k)<-[:HAS_KEYWORD]-(:Note) }
  DETACH DELETE k
}

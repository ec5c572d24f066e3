// Cut the ties that a decision made between notes.
// $scope: string    the scope
// $decision: string    the decision
// $notes: list<string>    ids of the notes that it tied to others
UNWIND $notes AS id
MATCH (n:Note {scope: $scope, id: id})-[r:RELATED|SUPERSEDES {decision: $decision}]->(:Note)
DELETE r

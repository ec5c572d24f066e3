// Remove topics that are no more.
// $scope: string    the scope
// $ids: list<string>    the topics
UNWIND $ids AS id
MATCH (t:Topic {scope: $scope, id: id})
DETACH DELETE t

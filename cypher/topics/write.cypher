// Store topics, new or changed, with their centroids.
// $scope: string    the scope
// $rows: list<map>    {id, label, size, keywords, labelled_by, labelled_from, vector or null for the one that is there}
UNWIND $rows AS row
MERGE (t:Topic {scope: $scope, id: row.id})
SET t.label = row.label, t.size = row.size, t.keywords = row.keywords,
    t.labelled_by = row.labelled_by, t.labelled_from = row.labelled_from
WITH t, row WHERE row.vector IS NOT NULL
// use writes/outdate node=t
WITH t, row
CALL db.create.setNodeVectorProperty(t, 'embedding', row.vector)

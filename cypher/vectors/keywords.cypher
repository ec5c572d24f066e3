// A page of the keywords of a scope whose vectors of another set and of this one are not alike: there and found, there and resting,
// or not there.
// $scope: string    the scope
// $found: string    name of the other set's vectors of keywords that are found by them
// $resting: string    likewise of those that rest
// $after: string    name of the last keyword seen
// $limit: integer    keywords on a page
// returns id: its name, bare: whether it has none of this set
MATCH (k:Keyword {scope: $scope})
WHERE k.name > $after AND ((k[$found] IS NULL) <> (k.embedding IS NULL) OR (k[$resting] IS NULL) <> (k.resting IS NULL))
WITH k ORDER BY k.name LIMIT $limit
RETURN k.name AS id, coalesce(k.embedding, k.resting) IS NULL AS bare ORDER BY id

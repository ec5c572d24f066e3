// Keep the former versions of notes apart that tell or quote what is kept apart from now on: who looks back finds them no more, and
// an undo knows how they were (docs/lifecycle.md, What is kept from models).
// $write.part: list<map>    {id, apart: with which class}
CALL () {
  UNWIND $write.part AS row
  MATCH (p:Past {scope: $scope, id: row.id}) WHERE p.apart IS NULL
  SET p.apart = row.apart, p.parted = true,
      p.stamp = toInteger(rand() * 2147483648) * 4294967296 + toInteger(rand() * 4294967296)
}

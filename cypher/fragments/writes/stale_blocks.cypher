// Let the blocks of notes that change, and what holds them, be found no more until they are made anew, and keep no word of them
// (docs/blocks.md, What changes). It is first, since notes that are taken out leave their blocks.
CALL (blocks) {
  UNWIND CASE WHEN blocks IS NULL THEN [] ELSE [row IN $write.retire | row.id] + [row IN $write.rebuild | row.id] + $write.erase
         + reduce(changed = [], wave IN $write.revise | changed + [row IN wave | row.id]) END AS id
  MATCH (:Note {scope: $scope, id: id})-[:IN_BLOCK|SUPPORTS]->(:Block)-[:PART_OF*0..]->(b:Block)
  // use blocks/stale block=b
}

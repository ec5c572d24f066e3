// Entry of a note <note>: the sources (<labels>) that it comes from, itself or by what it stands for, in the order of time.
sources: COLLECT { MATCH (<note>)-[:SUMS*0..1]->()-[f:FROM]->(x:<labels>) RETURN x {
  // use sources/passage source=x part=f.part place=coalesce(f.part,0)
} ORDER BY x.said_at, x.session, x.seq, x.id }

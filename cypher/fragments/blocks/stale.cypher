// Let a block be found no more until it is made anew, and keep no word of its notes.
SET <block>.state = CASE <block>.state WHEN 'live' THEN 'stale' ELSE <block>.state END, <block>.made_from = '', <block>.embedding = null,
    <block>.described = null, <block>.described_by = null, <block>.described_as = null, <block>.source = null
// use writes/outdate node=<block>

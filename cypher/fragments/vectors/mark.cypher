// What a scope `s` says of itself: another `mark` with each write, and with each run that makes vectors without one.
WITH s, $vectors + ' ' + s.version + ' ' + coalesce(s.topics_run, '') + ' ' + coalesce(s.blocks_run, '') + ' ' + coalesce(s.claims_cycle, 0) AS mark

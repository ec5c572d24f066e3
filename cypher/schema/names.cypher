// Create the names of what statements use and no index names. A plan that is made before a name is there warns of it,
// and is made again once it is: the second addition to a new database waited for that.
UNWIND ['Presence', 'Server', 'Spending', 'Tenant'] AS name
CALL db.createLabel(name)
WITH count(*) AS labels
UNWIND [
  'ABOUT', 'CO_OCCUR', 'FROM', 'HAS_KEYWORD', 'IN_BLOCK', 'IN_TOPIC', 'NEXT', 'PART_OF', 'RELATED', 'SPENT',
  'SUMS', 'SUPERSEDES', 'SUPPORTS', 'UNTIED', 'WAS'
] AS name
CALL db.createRelationshipType(name)
WITH count(*) AS types
UNWIND [
  'abstracted', 'agent', 'apart', 'begun', 'blocks_run', 'blocks_version', 'body', 'call', 'calls', 'cap',
  'calibration', 'caption', 'catalogue', 'changed_since', 'claims_at', 'claims_cycle', 'claims_version', 'considered', 'constructed_by', 'context',
  'context_length', 'context_terms', 'cuts', 'day', 'decision', 'decisions_since', 'delta', 'described',
  'described_as', 'described_by', 'distance', 'drained', 'embedded_as', 'entered', 'evidence', 'evolved_to', 'fallbacks',
  'filled', 'first_at', 'folders', 'former', 'found', 'found_in', 'grace', 'hash', 'input_tokens', 'keeps_apart', 'kept_erase', 'keyed',
  'kept_expires', 'keywords', 'kind', 'label', 'labelled_by', 'labelled_from', 'language', 'last', 'last_at',
  'last_shown', 'last_used', 'leaves', 'left', 'level', 'made_by', 'made_from', 'metadata', 'money', 'move', 'moves', 'named', 'nodes',
  'next_expiry', 'note', 'notes_since', 'object', 'output_tokens', 'part', 'parted', 'pinned', 'policy',
  'policy_as', 'previous', 'probe', 'pruned_at', 'question', 'raw', 'raw_length', 'raw_terms', 'reason', 'resting',
  'revision', 'revisions', 'revoked_at', 'rights', 'reworded', 'said_as', 'score', 'scored_at', 'server', 'shares_claims', 'shown', 'since', 'size',
  'source', 'sources', 'state', 'strengthened_by', 'tags', 'text', 'thresholds', 'to', 'topics_most', 'topics_run', 'total', 'trust_as',
  'undone_by', 'unknown', 'untied_by', 'until', 'upgrading', 'uri', 'used', 'user', 'utilities', 'utility', 'vectors', 'was', 'weighed_at',
  'weight', 'withholds_claims'
] AS name
CALL db.createProperty(name)
RETURN count(*) AS names

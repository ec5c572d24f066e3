// Entries of a note <note>: its times, in milliseconds since 1970, and its class.
said_at: <note>.said_at.epochMillis, created_at: <note>.created_at.epochMillis, recorded_at: <note>.recorded_at.epochMillis,
superseded_at: <note>.superseded_at.epochMillis, valid_from: <note>.valid_from.epochMillis, valid_to: <note>.valid_to.epochMillis,
expires_at: <note>.expires_at.epochMillis, erase_at: <note>.erase_at.epochMillis, .policy, .policy_as, .pinned,

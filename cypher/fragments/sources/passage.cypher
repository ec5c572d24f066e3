// Entries of a source <source> whose text is that of its passage <place> alone; `part` names it, null for the first.
.*, part: <part>, said_at: <source>.said_at.epochMillis, expires_at: <source>.expires_at.epochMillis,
erase_at: <source>.erase_at.epochMillis, text:
  // use sources/words source=<source> part=<place>

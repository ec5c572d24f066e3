// Whether the scope `s` has more notes than its cap, or more bytes than may be: 4 for each number of its two vectors of a note, about 8 for each term.
(coalesce(s.cap, $cap) > 0 AND s.notes > coalesce(s.cap, $cap)
 OR $bytes > 0 AND 8 * (s.notes * $dimensions + s.raw_length + s.context_length) > $bytes)

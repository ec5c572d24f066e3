// The server's clock.
// returns now [ms]
RETURN timestamp() AS now

"""Work that nobody waits for: pending notes are constructed, topics found anew when that is due."""

"""From a question to hits: channels, fusion, one round trip."""

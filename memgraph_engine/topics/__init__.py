"""Topics: communities of keywords that occur together (MemFly, section 3.3.3)."""

"""The gate: what becomes of a candidate, and every later change of what is remembered."""

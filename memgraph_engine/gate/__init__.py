"""The gate: what becomes of a candidate, held against what is known."""

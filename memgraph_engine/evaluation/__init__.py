"""The experiments of the papers, run on this engine: `memgraph-engine eval` (docs/evaluation.md)."""

"""Benches: every figure in docs/benchmarks.md comes from one of these."""

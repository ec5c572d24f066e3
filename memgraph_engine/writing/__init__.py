"""Writing: what is judged becomes one transaction, and every later change of it another."""

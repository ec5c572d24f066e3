"""How long what is remembered lives: policy classes, the rules that assign them, and the life that follows."""

from memgraph_engine.lifecycle.file import policies
from memgraph_engine.lifecycle.policies import Extension, Life, Policies, Policy, Rule, life_of, outlives, quoted

__all__ = ["Extension", "Life", "Policies", "Policy", "Rule", "life_of", "outlives", "policies", "quoted"]

"""How long what is remembered lives: policy classes, the rules that assign them, and the life that follows from both.

And what leaves a memory that has a cap: the coldest notes, many of which one summary stands for.
"""

from memgraph_engine.lifecycle.eviction import Cold, clusters, information, temperatures
from memgraph_engine.lifecycle.file import policies
from memgraph_engine.lifecycle.policies import Extension, Life, Policies, Policy, Rule, life_of, outlives, quoted
from memgraph_engine.lifecycle.summaries import extract, facts, rarity, unfaithful

__all__ = [
    "Cold",
    "Extension",
    "Life",
    "Policies",
    "Policy",
    "Rule",
    "clusters",
    "extract",
    "facts",
    "information",
    "life_of",
    "outlives",
    "policies",
    "quoted",
    "rarity",
    "temperatures",
    "unfaithful",
]

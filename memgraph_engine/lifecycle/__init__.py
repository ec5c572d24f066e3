"""How long what is remembered lives: policy classes, the rules that assign them, and the life that follows from both.

And what leaves a memory that has a cap: the coldest notes, many of which one summary stands for.
"""

from memgraph_engine.lifecycle.eviction import (
    Cold as Cold,
    clusters as clusters,
    information as information,
    temperatures as temperatures,
)
from memgraph_engine.lifecycle.file import (
    policies as policies,
)
from memgraph_engine.lifecycle.policies import (
    Extension as Extension,
    Life as Life,
    Policies as Policies,
    Policy as Policy,
    Rule as Rule,
    life_of as life_of,
    outlives as outlives,
    quoted as quoted,
)
from memgraph_engine.lifecycle.summaries import (
    extract as extract,
    facts as facts,
    rarity as rarity,
    unfaithful as unfaithful,
)

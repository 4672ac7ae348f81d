"""Returns: what the rewards of an episode add up to, seen from each of its steps."""

from helpers.algorithms.reinforce import discounted_returns

__all__ = ["discounted_returns"]

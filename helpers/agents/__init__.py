"""The course's agents. `from helpers.agents import A2C`."""

from helpers.agents.a2c import A2C
from helpers.agents.a2c_by_the_book import A2CByTheBook

__all__ = ["A2C", "A2CByTheBook"]

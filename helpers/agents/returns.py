"""Returns: what the rewards of an episode add up to, seen from each of its steps."""

import numpy as np


def discounted_returns(rewards: np.ndarray, gamma: float) -> np.ndarray:
    """The discounted return from every step of an episode on: G_t = r_t + gamma * G_{t+1}.

    `rewards` (T,), `gamma` between 0 and 1; returns floats (T,), entry t is G_t. The rewards stay
    as they are. Source: Sutton & Barto 2018, equation 3.9 (they write R_{t+1} for our r_t).
    """
    # 1. Room for one return per step: floats, even where the rewards are whole numbers.
    returns = np.zeros(len(rewards))
    # 2. After the last step nothing more is earned.
    following = 0.0
    # 3. Walk backwards, from the last step to the first.
    for t in reversed(range(len(rewards))):
        # 4. What this step earned, plus the discounted return of the step that follows it.
        following = rewards[t] + gamma * following
        returns[t] = following
    # 5. One return for each step, in the order of the steps.
    return returns

"""An `update` that a student writes is judged by what it does to all weights."""

import inspect

import numpy as np
import pytest

from helpers.algorithms import td3
from helpers.exercises.toys import batch_of, random_actor, random_twin
from helpers.exercises.writing import Steady, ToyAgent, observe_update


def seen(update):
    rng = np.random.default_rng(0)
    networks = {
        name: make(rng, 2, 1)
        for name, make in {
            "actor": random_actor, "critic": random_twin,
            "target_actor": random_actor, "target_critic": random_twin,
        }.items()
    }  # fmt: skip
    batch = batch_of(rng, 2, 1, "", "terminated", "truncated")
    settings = td3.Settings(tau=0.2, noise_clip=0.05)
    calls = [(batch, settings, number, Steady()) for number in (1, 2, 3)]
    return observe_update(update, ToyAgent(0.05, **networks), calls)


def changed(old, new):
    source = inspect.getsource(td3.update)
    assert source.count(old) == 1
    space = dict(vars(td3))
    exec(source.replace(old, new), space)
    return space["update"]


def equal(one, other):
    return one is not None and all(
        one[k].shape == v.shape and np.allclose(one[k], v, atol=1e-6)
        if isinstance(v, np.ndarray)
        else one[k] == v
        for k, v in other.items()
    )


def test_another_style_leaves_the_same_weights():
    assert equal(
        seen(changed("agent.critic_optimizer.zero_grad()", "agent.critic.zero_grad()")),
        seen(td3.update),
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("agent.critic_optimizer.zero_grad()", "pass"),
        ("number % s.policy_delay != 0", "number % s.policy_delay == 0"),
        ("s.target_noise, s.noise_clip", "0.0, s.noise_clip"),
        ("agent.target_critic, s.gamma", "agent.critic, s.gamma"),
        ("polyak_update(agent.target_actor.parameters()", "(lambda *_: 0)(agent.target_actor"),
        ('"actor_loss": policy_loss.detach()', ""),
    ],
)
def test_a_mistake_shows(old, new):
    assert not equal(seen(changed(old, new)), seen(td3.update))


def test_what_does_nothing_gives_nothing_to_look_at():
    assert seen(lambda *_: None) is None


def test_a_batch_that_is_changed_in_place_is_noticed():
    def spoils(agent, batch, *others):
        batch.reward.mul_(2)
        return td3.update(agent, batch, *others)

    assert seen(spoils)["parts of the batch that were changed"] == "reward"

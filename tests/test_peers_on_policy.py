"""Updates of PPO from given weights, rollouts and shuffles are Stable-Baselines3's."""

from functools import partial

import numpy as np
import pytest
import torch
from environments import AnySpace, make
from gymnasium import spaces

from helpers.agents.on_policy import Rollout
from helpers.agents.ppo import PPO

sb3 = pytest.importorskip("stable_baselines3", reason="a development requirement")
from stable_baselines3.common.logger import Logger  # noqa: E402

STEPS, ENVS, HIDDEN = 16, 4, 16
SPACES = {
    "Discrete": spaces.Discrete(3),
    "MultiDiscrete": spaces.MultiDiscrete([2, 3]),
    "Box": spaces.Box(-1, 1, (2,)),
}


def an_env(action_space):
    return make(AnySpace, observation_space=spaces.Box(-9, 9, (3,)), action_space=action_space)


class Shuffles:
    """Stands in for the agent's generator: hands out the shuffles that the peer will draw.

    The peer numbers a rollout's rows environment by environment, we step by step.
    """

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def permutation(self, n_rows):
        env, step = np.divmod(self.rng.permutation(n_rows), STEPS)
        return step * ENVS + env


def a_rollout(action_space, seed):
    """Random transitions; some end an episode, none is cut off, which the peer does otherwise."""
    rng = np.random.default_rng(seed)
    action_space.seed(seed)
    terminated = rng.random((STEPS, ENVS)) < 0.2
    return Rollout(
        obs=rng.normal(size=(STEPS + 1, ENVS, 3)).astype(np.float32),
        actions=np.array([[action_space.sample() for _ in range(ENVS)] for _ in range(STEPS)]),
        rewards=rng.normal(size=(STEPS, ENVS)).astype(np.float32),
        terminated=terminated,
        truncated=np.zeros_like(terminated),
        learnable=np.ones_like(terminated),
    )


def fill(theirs, rollout):
    """Put the rollout into the peer's buffer, with what the peer's networks say of it."""
    buffer, policy = theirs.rollout_buffer, theirs.policy
    buffer.reset()
    done = np.zeros(ENVS)
    with torch.no_grad():
        for obs, action, reward, terminated in zip(
            rollout.obs, rollout.actions, rollout.rewards, rollout.terminated, strict=False
        ):
            values, log_probs, _ = policy.evaluate_actions(
                torch.from_numpy(obs), torch.from_numpy(action)
            )
            buffer.add(obs, action.reshape(ENVS, -1), reward, done, values, log_probs)
            done = terminated.astype(np.float64)
        last = policy.predict_values(torch.from_numpy(rollout.obs[-1]))
    buffer.compute_returns_and_advantage(last, done)


def pairs(ours, theirs):
    """(our parameters, the peer's) of policy and critic, layer by layer."""
    peer = theirs.policy
    networks = [
        (ours.policy.actor, [peer.mlp_extractor.policy_net, peer.action_net]),
        (ours.critic, [peer.mlp_extractor.value_net, peer.value_net]),
    ]
    for mine, others in networks:
        yield from zip(mine.parameters(), torch.nn.ModuleList(others).parameters(), strict=True)
    if hasattr(peer, "log_std"):
        yield ours.policy.log_std, peer.log_std


def twins(action_space, target_kl):
    """Our agent and the peer's, with the same weights, which are not small anywhere."""
    env, *copies = (an_env(action_space) for _ in range(1 + ENVS))
    numbers = {"gamma": 0.97, "clip_range": 0.1, "batch_size": 16, "n_epochs": 4, "seed": 3}
    rates = {"learning_rate": 5e-3, "max_grad_norm": 0.3, "target_kl": target_kl}
    ours = PPO(
        env, n_envs=ENVS, n_steps=STEPS, lam=0.9, entropy_coef=0.02, value_coef=0.4, hidden=HIDDEN,
        **numbers, **rates,
    )  # fmt: skip
    envs = sb3.common.vec_env.DummyVecEnv([partial(next, iter(copies))] * ENVS)
    theirs = sb3.PPO(
        "MlpPolicy", envs, n_steps=STEPS,
        gae_lambda=0.9, ent_coef=0.02, vf_coef=0.4, device="cpu", **numbers, **rates,
        policy_kwargs={"net_arch": [HIDDEN, HIDDEN], "activation_fn": torch.nn.ReLU},
    )  # fmt: skip
    theirs._logger = Logger(None, [])
    torch.manual_seed(5)
    with torch.no_grad():
        for mine, other in pairs(ours, theirs):
            mine.add_(0.1 * torch.randn_like(mine))
            other.copy_(mine)
    return ours, theirs


@pytest.mark.parametrize("target_kl", [None, 0.003], ids=["all epochs", "stopped"])
@pytest.mark.parametrize("action_space", SPACES.values(), ids=SPACES)
def test_updates_equal_the_peers(action_space, target_kl, monkeypatch):
    ours, theirs = twins(action_space, target_kl)
    ours.rng = Shuffles(seed=7)
    monkeypatch.setattr(np.random, "permutation", np.random.default_rng(7).permutation)
    for seed in range(3):
        rollout = a_rollout(action_space, seed)
        fill(theirs, rollout)
        theirs.train()
        ours.update(rollout)
    for mine, other in pairs(ours, theirs):
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-5)
    logged = theirs.logger.name_to_value["train/approx_kl"]
    assert ours.history["approx_kl"][-1][1] == pytest.approx(logged, abs=1e-5)
    all_updates = 3 * 4 * STEPS * ENVS / 16
    taken = ours.optimizer.state_dict()["state"][0]["step"].item()
    assert taken == all_updates if target_kl is None else 3 <= taken < all_updates


def test_first_weights_have_the_peers_gains():
    """The peer initialises orthogonally too: the same singular values, layer by layer."""
    env = an_env(SPACES["Box"])
    ours = PPO(env, seed=0, hidden=HIDDEN)
    theirs = sb3.PPO("MlpPolicy", env, seed=0, policy_kwargs={"net_arch": [HIDDEN, HIDDEN]})
    for mine, other in pairs(ours, theirs):
        if mine.dim() == 2:
            mine, other = (torch.linalg.svdvals(each) for each in (mine, other))
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-5)

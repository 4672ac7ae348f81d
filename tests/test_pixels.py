"""Agents that see: the camera, the encoder, and training on pictures."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from environments import TORQUE, Probe, make
from gymnasium import spaces
from sentences import one_sentence
from sometimes import always_on
from trials import gradients, moved, parameters, snapshot

from helpers.agents import DDPG, SAC, TD3
from helpers.agents.cloning import BehaviourCloning
from helpers.agents.ddpgfd import DDPGfD
from helpers.agents.layers import Encoder
from helpers.algorithms.td3 import twin_critic_loss
from helpers.envs.make import env_id, make_env
from helpers.envs.pixels import Pixels
from helpers.evaluation import evaluate
from helpers.memory.buffers import Batch
from helpers.show.video import record
from helpers.training.settings import LONG

ROOT = Path(__file__).resolve().parent.parent
ID = "PixelPendulum-v0"
SEEING = pytest.mark.parametrize("kind", [DDPG, TD3, DDPGfD])
tiny = {"learning_starts": 10, "batch_size": 8, "buffer_size": 60, "hidden": 8}


def camera(size=8, crop=256, frames=3, repeat=1, **settings):
    env = gym.make("Pendulum-v1", render_mode="rgb_array", **settings)
    return Pixels(env, size=size, crop=crop, frames=frames, repeat=repeat)


def pooled(picture, size, crop=256):
    """As `small_grey`, by other means."""
    top, block = (500 - crop) // 2, crop // size
    square = picture[top : top + crop, top : top + crop].astype(float)
    return square.reshape(size, block, size, block, 3).mean(axis=(1, 3, 4))


# ---- the camera ----------------------------------------------------------------------------------


def test_pictures_of_the_middle_are_averaged_and_stacked_the_newest_last():
    env = make_env(ID)
    assert env.observation_space == spaces.Box(0, 255, (3, 16, 16), np.uint8)
    assert env.action_space == make_env("Pendulum-v1").action_space
    before, _ = env.reset(seed=3)
    assert (before == before[0]).all()
    for _ in range(6):
        kept = before.copy()
        obs = env.step(np.array([2.0]))[0]
        assert env.observation_space.contains(obs)
        np.testing.assert_array_equal(before, kept)  # what was given away does not change
        np.testing.assert_array_equal(obs[:-1], before[1:])
        np.testing.assert_allclose(obs[-1], pooled(env.render(), 16), atol=0.51)
        before = obs
    assert not np.array_equal(obs[-2], obs[-1])
    again, _ = env.reset(seed=3)
    np.testing.assert_array_equal(again, make_env(ID).reset(seed=3)[0])  # none of before


@pytest.mark.parametrize(("limit", "steps"), [(200, 100), (5, 3)])
def test_an_action_is_taken_twice_and_both_rewards_count_unless_the_episode_ends(limit, steps):
    pixels = camera(repeat=2, max_episode_steps=limit)
    plain = gym.make("Pendulum-v1", max_episode_steps=limit)
    pixels.reset(seed=4)
    plain.reset(seed=4)
    ended = False
    for action in np.random.default_rng(0).uniform(-2, 2, (steps, 1)):
        assert not ended
        _, reward, _, ended, _ = pixels.step(action)
        _, expected, _, over, _ = plain.step(action)
        assert reward == pytest.approx(expected + (0 if over else plain.step(action)[1]))
    assert ended
    np.testing.assert_allclose(pixels.unwrapped.state, plain.unwrapped.state)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"size": 0}, "size must be at least 1, got 0"),
        ({"frames": 0}, "frames must be at least 1, got 0"),
        ({"repeat": 0}, "repeat must be at least 1, got 0"),
        ({"size": 24}, "size (24) must divide crop (256)"),
        ({"crop": 512}, "crop (512) must fit into the picture, which has 500 x 500"),
    ],
)
def test_settings_that_cannot_be(settings, told):
    with one_sentence(ValueError, told):
        camera(**settings).reset()


def test_pictures_must_be_drawn():
    with one_sentence(ValueError, 'render_mode="rgb_array"', "None"):
        Pixels(gym.make("Pendulum-v1"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to send")
def test_a_training_on_pictures_can_still_be_killed():
    program = (
        "import os, signal, time; from helpers.envs.make import make_env; "
        f"make_env('{ID}').reset(); os.kill(os.getpid(), signal.SIGTERM); time.sleep(1)"
    )
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER", "SDL_NO_SIGNAL_HANDLERS")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True)
    assert done.returncode == -signal.SIGTERM, done.stderr


def test_a_copy_is_made_from_its_id_or_its_recipe():
    env = make_env(ID)
    assert env_id(env) == ID
    np.testing.assert_array_equal(make_env(env).reset(seed=2)[0], env.reset(seed=2)[0])
    other = camera(size=16)
    assert env_id(other) is None
    assert make_env(other).observation_space.shape == (3, 16, 16)


# ---- the networks --------------------------------------------------------------------------------


def pictures(*batch, shape=(3, 16, 16), seed=0):
    drawn = np.random.default_rng(seed).integers(0, 256, (*batch, int(np.prod(shape))), np.uint8)
    return torch.from_numpy(drawn)


@pytest.mark.parametrize("shape", [(3, 16, 16), (1, 8, 9), (4, 33, 20)])
def test_the_encoder_takes_one_picture_or_many(shape):
    encoder, many = Encoder(shape), pictures(5, shape=shape)
    features = encoder(many)
    assert features.shape == (5, Encoder.features)
    assert features.abs().max() <= 1
    torch.testing.assert_close(encoder(many[2]), features[2])
    torch.testing.assert_close(encoder(many.float()), features)


def a_picture_batch(n=8, seed=0):
    generator = torch.Generator().manual_seed(seed)
    action = torch.rand(n, 1, generator=generator) * 2 - 1
    reward = torch.randn(n, generator=generator)
    ends = torch.zeros(n)
    return Batch(pictures(n), action, reward, pictures(n, seed=1), ends, ends)


@SEEING
def test_the_actor_sees_with_the_critics_eyes(kind):
    agent = kind(ID, seed=0, **tiny)
    encoder, target = agent.critic.encoder, agent.target_critic.encoder
    for actor, eyes in ((agent.actor, encoder), (agent.target_actor, target)):
        before = actor(pictures(4)).detach()
        with torch.no_grad():
            eyes.summary.weight.copy_(torch.randn(eyes.summary.weight.shape))
        assert not torch.equal(actor(pictures(4)), before)
    shared = {id(p) for p in encoder.parameters()} & {id(p) for p in target.parameters()}
    assert not shared


def test_only_the_critics_loss_moves_the_eyes_and_their_copies_follow_slowly():
    """The critic's step moves them; the actor's, at every second update, does not."""
    agent, batch = TD3(ID, seed=0, **tiny, tau=0.25), a_picture_batch()
    loss = twin_critic_loss(agent.critic, batch, torch.ones(8))
    assert all(grad.abs().max() > 0 for grad in gradients(loss, agent.critic.encoder))
    mine = {id(p) for p in agent.actor.parameters()}
    assert not mine & {id(p) for p in agent.critic.parameters()}
    (group,) = agent.actor_optimizer.param_groups
    assert {id(p) for p in group["params"]} == mine
    seen = torch.autograd.grad(
        agent.actor(batch.obs).sum(), parameters(agent.critic.encoder), allow_unused=True
    )
    assert set(seen) == {None}
    old = snapshot(agent.critic.encoder)
    for agent.updates in (1, 2):
        agent.update(batch)
        assert all(moved(agent.critic.encoder, old))
        assert any(moved(agent.target_critic.encoder, old)) == (agent.updates == 2)
    pairs = zip(agent.target_critic.encoder.parameters(), old, strict=True)
    for (target, before), online in zip(pairs, agent.critic.encoder.parameters(), strict=True):
        torch.testing.assert_close(target, before.lerp(online, 0.25))


# ---- training ------------------------------------------------------------------------------------


@SEEING
@pytest.mark.parametrize("networks", [{}, {"hidden": (9, 7, 5), "layer_norm": True}])
def test_it_stores_what_it_saw_and_all_that_learns_moves(kind, networks):
    agent = kind(ID, seed=0, **tiny | networks)
    names = ("actor", "critic", "target_actor", "target_critic")
    before = {name: snapshot(getattr(agent, name)) for name in names}
    agent.learn(40)
    for name in names:
        assert all(moved(getattr(agent, name), before[name])), name
    assert agent.buffer.sample(1).obs.dtype == torch.uint8
    env = make_env(ID)
    obs, _ = env.reset(seed=0)
    for i in range(40):
        np.testing.assert_array_equal(agent.buffer.arrays.obs[i], obs.ravel())
        obs = env.step(2 * agent.buffer.arrays.action[i])[0]
        np.testing.assert_array_equal(agent.buffer.arrays.next_obs[i], obs.ravel())


class Runner(Probe):
    """Two pictures of a dot that runs to the left or to the right: go along, or lose reward.

    One picture alone says nothing about which way it runs.
    """

    observation_space = spaces.Box(0, 255, (2, 8, 8), np.uint8)
    action_space = TORQUE

    def reset(self, *, seed=None, options=None):
        gym.Env.reset(self, seed=seed)
        self.way = int(self.np_random.choice([-1, 1]))
        self.place = int(self.np_random.integers(1, 7))
        return super().reset(seed=None)

    def observe(self):
        both = np.zeros((2, 8, 8), np.uint8)
        both[0, 4, self.place] = both[1, 4, self.place + self.way] = 255
        return both

    def play(self, action):
        return -abs(float(action[0]) - self.way), True, False


@pytest.mark.parametrize("kind", always_on("TD3", of=[TD3, SAC], name=lambda it: it.__name__))
def test_it_learns_to_see_which_way_something_moves(kind):
    settings = {"learning_starts": 100, "batch_size": 32, "hidden": 16, "tau": 0.1}
    settings |= {"actor_learning_rate": 3e-4, "critic_learning_rate": 3e-3}
    agent = kind(make(Runner), seed=0, **settings).learn(900)
    result = evaluate(agent, episodes=50)
    assert result.mean > -0.3  # always 0 earns -1


def test_the_stored_weights_are_those_of_the_setting_and_reach_its_bar():
    setting, path = LONG["td3", ID], ROOT / "data" / "weights" / f"td3_{ID}.pt"
    agent = TD3.load(path)
    assert agent.steps == setting.steps
    assert setting.params.items() <= agent.hyperparameters.items()
    record = json.loads((ROOT / "data" / "results" / f"td3_{ID}.json").read_text("utf-8"))
    stored = {row["seed"]: row for row in record["results"]}[agent.seed]
    assert record["settings"]["params"] == json.loads(json.dumps(setting.params, default=str))
    assert stored["mean"] >= setting.bar
    # Other machines round differently, and an episode is decided by its start.
    again = evaluate(agent, episodes=3, seed=record["evaluation"]["seed"]).returns
    np.testing.assert_allclose(again, stored["returns"][:3], atol=50)


def test_a_video_shows_the_whole_picture_at_its_own_speed():
    recording = record(TD3(ID, seed=0, **tiny), ID, max_steps=6)
    assert recording.frames.shape == (7, 360, 360, 3)
    assert recording.fps == 15
    assert len(recording.rewards) == 6


def test_cloning_says_that_it_cannot_see():
    with one_sentence(ValueError, "BehaviourCloning takes no pictures"):
        BehaviourCloning(ID)

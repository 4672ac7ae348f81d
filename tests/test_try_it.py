"""TD3 in numpy and what the page "Try it" asks of it, without a browser."""

from __future__ import annotations

import html
import json
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from helpers.agents.base import gradient_step
from helpers.algorithms.ddpg import DeterministicActor, polyak_update
from helpers.algorithms.td3 import (
    TwinQNetwork,
    actor_loss_by_q1,
    clipped_double_q_target,
    smoothed_target_action,
    twin_critic_loss,
)
from helpers.algorithms.td3_numpy import TD3, Pendulum, Settings
from helpers.memory.buffers import Batch
from tools import site_try_it, try_it, try_it_driver

ROOT = Path(__file__).resolve().parent.parent
SOURCE = (ROOT / site_try_it.CODE).read_text("utf-8")
RESULTS = json.loads((ROOT / site_try_it.RESULTS).read_text("utf-8"))


# --- The algorithm ----------------------------------------------------------------------------


def flat(net: Any) -> np.ndarray:
    """A torch network's weights as the numpy ones lie: each layer's inputs, then its biases."""
    layers = [torch.cat([each.weight.T, each.bias[None]]) for each in net.children()]
    return torch.cat([layer.ravel() for layer in layers]).detach().numpy()


@pytest.mark.parametrize("critics", [2, 1])
def test_an_update_is_the_courses(critics: int) -> None:
    s = Settings(critics=critics, policy_delay=3, target_noise=0.4)
    ours = TD3(s, np.random.default_rng(0))
    online, targets = ([DeterministicActor(3, 1, 32), TwinQNetwork(3, 1, 32)] for _ in range(2))
    pairs, draws = [], torch.Generator().manual_seed(0)
    for net in online + targets:  # large: actions reach their bounds
        for parameter in net.parameters():
            parameter.data.uniform_(-0.4, 0.4, generator=draws)
    for networks, (actor, critic) in ((ours.online, online), (ours.targets, targets)):
        if critics == 1:  # the lower of two that are alike
            critic.second.load_state_dict(critic.first.state_dict())
        pairs += [*zip(networks, (actor, critic.first, critic.second), strict=False)]
    for network, theirs in pairs:
        network.weights[:] = flat(theirs)
    (actor, critic), (target_actor, target_critic) = online, targets
    optimizers = [torch.optim.Adam(net.parameters(), s.learning_rate) for net in online]
    ours.rng, rng = np.random.default_rng(1), np.random.default_rng(1)
    data = np.random.default_rng(2).uniform(-1, 1, (7, 50, 8)).astype(np.float32)
    for number, rows in enumerate(data, start=1):
        ours.update(rows)
        obs, action, reward, next_obs = torch.tensor(rows).split([3, 1, 1, 3], dim=1)
        batch = Batch(obs, action, reward[:, 0], next_obs, torch.zeros(50), torch.zeros(50))
        next_action = smoothed_target_action(
            target_actor, next_obs, s.target_noise, s.noise_clip, rng
        )
        target = clipped_double_q_target(batch, next_action, target_critic, s.gamma)
        gradient_step(optimizers[1], twin_critic_loss(critic, batch, target))
        if number % s.policy_delay == 0:
            gradient_step(optimizers[0], actor_loss_by_q1(actor, critic, obs))
            for mine, leader in zip(targets, online, strict=True):
                polyak_update(mine.parameters(), leader.parameters(), s.tau)
    for network, theirs in pairs:
        np.testing.assert_allclose(network.weights, flat(theirs), rtol=0, atol=1e-5)


def test_the_pendulum_is_gymnasiums() -> None:
    env: Any = gym.make("Pendulum-v1").unwrapped
    obs, _ = env.reset(seed=0)
    pendulum = Pendulum(np.random.default_rng(0))
    pendulum.angle, pendulum.speed = env.state
    for action in np.random.default_rng(1).uniform(-1, 1, 200):
        np.testing.assert_allclose(pendulum.obs(), obs, atol=1e-4)
        obs, reward, *_ = env.step(np.array([2 * action]))
        assert pendulum.step(action) == pytest.approx(reward, abs=1e-4)


# --- What the page asks of it -----------------------------------------------------------------


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The driver, in a folder of its own, as in the browser."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    yield try_it_driver
    sys.modules.pop(try_it_driver.NAME, None)


def start(driver: Any, source: str, seed: int = 0, **settings: float) -> dict[str, Any]:
    return json.loads(driver.start(source, json.dumps(settings), seed))


def test_a_run_comes_in_pieces_and_learns(driver: Any) -> None:
    assert start(driver, SOURCE, seed=5, steps=4000) == {"steps": 4000}
    news: list[dict[str, Any]] = []
    while not (news and news[-1].get("finished")):
        news.append(json.loads(driver.advance(0.05)))
    evaluations = [each for each in news if "mean" in each]
    assert [each["step"] for each in evaluations] == [*range(500, 4001, 500)]
    assert [step for each in news for step, _ in each["episodes"]] == [*range(200, 4001, 200)]
    assert evaluations[0]["mean"] < -900
    assert evaluations[-1]["mean"] > -200
    assert json.loads(driver.play(2.0))["shown"]["angles"][0] == 2


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("class TD3:", "class TD3", "class TD3:", "SyntaxError"),
        ("+ s.gamma * lower", "+ s.gama * lower", "+ s.gamma * lower", "'Settings' object has no"),
        ("self.act(obs)])) /", "self.act(obs)])) @", "self.act(obs)])) /", "matmul"),
        ("rng.uniform(-1, 1)\n", "math.nan\n", "", "lower the learning rate"),
        ("def train(", "def teach(", "", "no attribute 'train'"),
    ],
)
def test_an_error_is_told_with_its_line(
    driver: Any, old: str, new: str, line: str, said: str
) -> None:
    assert SOURCE.count(old) == 1
    answer = start(driver, SOURCE.replace(old, new), steps=1000)
    while "error" not in answer:
        answer = json.loads(driver.advance(1.0))
    assert said in answer["error"]
    number = SOURCE[: SOURCE.index(line)].count("\n") + 1 if line else None
    assert answer["line"] == number
    assert start(driver, SOURCE) == {"steps": 10_000}, "the mended text runs"


def test_the_sliders_begin_where_the_file_does() -> None:
    script = (ROOT / "tools" / "site_style" / "try_it.js").read_text("utf-8")
    course = re.search(r"const COURSE = \{(.+?)\};", script)
    assert course
    said = {name: float(value) for name, value in re.findall(r"(\w+): ([\d.]+)", course[1])}
    assert said.items() <= asdict(Settings()).items()


def test_the_page_sends_and_keeps_nothing() -> None:
    style = ROOT / "tools" / "site_style"
    scripts = "".join(path.read_text("utf-8") for path in style.glob("try_it*.js"))
    assert re.findall(r"fetch\([^)]*\)", scripts) == ['fetch("try_it_driver.py")']
    assert not re.search(r"XMLHttp|Beacon|Socket|cookie|Storage|indexedDB", scripts)


# --- What the page says -----------------------------------------------------------------------


def test_the_table_is_computed_from_the_same_seeds_of_each() -> None:
    done = {(row["name"], row["seed"]) for row in RESULTS["results"]}
    seeds = range(100, 100 + RESULTS["seeds"])
    assert done == {(name, seed) for name in try_it.VARIANTS for seed in seeds}
    assert len(seeds) >= 10
    assert RESULTS["table"] == try_it.table(RESULTS["results"])


def test_what_the_page_says_in_words_was_shown() -> None:
    course, one, *_ = RESULTS["table"]
    [copied] = [row for row in RESULTS["table"] if row["settings"] == {"tau": 1}]
    assert one["settings"] == {"critics": 1}
    assert copied["return"]["shown"]
    assert copied["return"]["mean"] < 2 * course["return"]["mean"]
    assert one["bias"]["shown"]
    assert one["bias"]["mean"] > course["bias"]["mean"]
    assert not one["return"]["shown"]


def test_a_stored_training_can_be_repeated() -> None:
    stored = RESULTS["results"][0]
    again = try_it.measure(stored["name"], stored["seed"], steps=600)
    np.testing.assert_allclose(again["evaluations"], stored["evaluations"][:1], rtol=1e-3)


def test_the_page_holds_the_file_and_every_race() -> None:
    page = site_try_it.try_it(ROOT)
    assert html.escape(SOURCE) in page
    assert page.count("data-race=") == len(try_it.VARIANTS) - 1
    assert not re.search(r"\{(lines|code|table|pyodide)\}", page)

"""How fast our TD3 learns beside a peer."""

from dataclasses import replace

import pytest
from sometimes import always_on

from benchmarks import learning
from helpers.training.settings import get_setting


@pytest.mark.parametrize("name", always_on("the course's", of=learning.LEARNERS))
def test_every_learner_is_evaluated_through_its_training(name, monkeypatch):
    monkeypatch.setattr(learning, "POINTS", 4)
    if name != "the course's TD3":
        pytest.importorskip("stable_baselines3", reason="a development requirement")
    setting = replace(get_setting("td3", "Pendulum-v1"), steps=24)
    row = learning.run(name, setting, seed=1)
    assert (row["learner"], row["seed"]) == (name, 1)
    assert len(row["returns"]) == learning.POINTS
    assert all(-2000 < mean < 0 for mean in row["returns"])
    assert row["seconds"] >= 0


def test_the_small_peer_has_our_sizes_and_rates():
    pytest.importorskip("stable_baselines3", reason="a development requirement")
    setting = get_setting("td3", "Pendulum-v1")
    agent, (peer, _) = setting.make(seed=0), learning.theirs_as_small(setting, seed=0)
    rates = agent.actor_optimizer, agent.critic_optimizer
    assert {each.param_groups[0]["lr"] for each in rates} == {peer.learning_rate}
    assert (peer.tau, peer.gamma, peer.batch_size) == (agent.tau, agent.gamma, agent.batch_size)
    assert peer.policy_delay == agent.policy_delay
    assert peer.learning_starts == agent.learning_starts
    assert peer.policy.net_arch == [agent.hyperparameters["hidden"]] * 2

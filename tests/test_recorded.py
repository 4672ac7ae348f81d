"""Updates recorded as CUDA graphs learn what the updates themselves learn."""

import copy
import gc
import weakref
from contextlib import nullcontext
from functools import cache, partial

import numpy as np
import pytest
import torch
from elsewhere import ELSEWHERE, put_elsewhere
from recording import Stream, stand_in
from sentences import assert_one_sentence
from torch import nn
from wholes import AGENTS, everything, tiny

from helpers.agents import DDPG, SAC, TD3, recorded
from helpers.agents.faster import UPDATES, fast_update, plain_updates
from helpers.agents.schedules import LinearSchedule
from helpers.memory.buffers import PrioritizedReplayBuffer

STEPS = 30
RATE = 2**-10  # a float32 holds it as exactly as a number of Python's does
rates = {"actor_learning_rate": RATE, "critic_learning_rate": RATE}
pytestmark = pytest.mark.filterwarnings("ignore:.*from a non-meta")  # torch knows no other "meta"
both = ("obs", "rewards")
KINDS = {
    name: partial(AGENTS[name], **rates)
    for name in ("ddpg", "ddpg-ou", "td3", "td3-ou", "td3-pixels", "sac-fixed")
} | {
    "td3-normal": partial(AGENTS["td3"], **rates, normalize=both, layer_norm=True),
    "sac": partial(AGENTS["sac"], **rates, temperature_learning_rate=RATE),
    "sac-pixels": partial(AGENTS["sac-pixels"], **rates, temperature_learning_rate=RATE),
}  # fmt: skip
ALL = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


@pytest.fixture(autouse=True)
def graphs(monkeypatch):
    """There is a device that records. What comes back are its recordings."""
    with put_elsewhere(monkeypatch):
        for kind in (DDPG, TD3, SAC):
            monkeypatch.setitem(UPDATES, ("meta", kind), recorded.Recorder)
        monkeypatch.setattr(recorded.Recorder, "broken", False)
        yield stand_in(monkeypatch)


def replays(graphs):
    """Updates done by recordings. The first replay of each is a trial."""
    return sum(graph.replays - 1 for graph in graphs)


@pytest.mark.filterwarnings("error:This GPU")
@ALL
def test_a_training_that_is_recorded_is_the_same(make, graphs):
    """Bit for bit, and most of its updates are done by recordings."""
    here, there = make().learn(STEPS), make(device=ELSEWHERE).learn(STEPS)
    assert everything(there) == everything(here)
    assert there.last.losses == here.last.losses
    assert replays(graphs) > there.updates / 2


@pytest.mark.parametrize("name", ["td3-slower", "sac-slower"])
def test_learning_rates_follow_their_schedules(name, graphs):
    """A recording has them as float32."""
    here, there = AGENTS[name]().learn(STEPS), AGENTS[name](device=ELSEWHERE).learn(STEPS)
    for ours, theirs in zip(recorded.learned(here), recorded.learned(there), strict=True):
        np.testing.assert_allclose(theirs.detach().cpu(), ours.detach(), rtol=1e-4, atol=1e-6)
    assert replays(graphs) > there.updates / 2


def another_target(agent):
    old = agent.target_critic
    agent.target_critic = copy.deepcopy(old)
    others = dict(zip(old.parameters(), agent.target_critic.parameters(), strict=True))
    agent.targets = [others.get(each, each) for each in agent.targets]


def replace_a_target(agent):
    agent.targets[0] = agent.targets[0].detach().clone()


CHANGES = {
    "nothing": lambda agent: None,
    "gamma": lambda agent: setattr(agent, "gamma", 0.5),
    "tau": lambda agent: setattr(agent, "tau", 0.5),
    "target noise": lambda agent: setattr(agent, "target_noise", 0.7),
    "noise clip": lambda agent: setattr(agent, "noise_clip", 0.1),
    "policy delay": lambda agent: setattr(agent, "policy_delay", 3),
    "batch size": lambda agent: setattr(agent, "batch_size", 7),
    "a learning rate": lambda agent: setattr(agent, "actor_learning_rate", 2 * RATE),
    "a schedule": lambda agent: setattr(
        agent, "critic_learning_rate", LinearSchedule(RATE, RATE / 4, STEPS)
    ),
    "parameters": lambda agent: agent.set_parameters(other_parameters()),
    "weight decay": lambda agent: agent.critic_optimizer.param_groups[0].update(weight_decay=0.1),
    "betas": lambda agent: agent.critic_optimizer.param_groups[0].update(betas=(0.5, 0.5)),
    "another network": another_target,
    "targets": lambda agent: setattr(agent, "targets", agent.targets[:2]) or setattr(
        agent, "online", agent.online[:2]
    ),
    "a target": replace_a_target,
    "an equal number": lambda agent: setattr(agent, "gamma", float(str(agent.gamma))),
    "another generator": lambda agent: setattr(agent, "rng", np.random.default_rng(3)),
    "numbers": lambda agent: agent.rng.standard_normal(3),
}  # fmt: skip


@cache
def other_parameters():
    return KINDS["td3"](seed=5).learn(STEPS).get_parameters()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_changed_counts_at_once(change, graphs):
    """For all updates that follow: what was recorded before is not used any more."""
    plain, agent = KINDS["td3"](device=ELSEWHERE), KINDS["td3"](device=ELSEWHERE)
    with plain_updates():
        plain.learn(STEPS)
        change(plain)
        plain.learn(STEPS)
    agent.learn(STEPS)
    before = replays(graphs)
    change(agent)
    agent.learn(STEPS)
    approximately = change is CHANGES["a schedule"]
    for ours, theirs in zip(recorded.learned(plain), recorded.learned(agent), strict=True):
        tolerance = 1e-6 if approximately else 0
        np.testing.assert_allclose(theirs.cpu(), ours.cpu(), rtol=tolerance, atol=tolerance)
    assert replays(graphs) > before + STEPS / 2


def test_a_batch_of_another_size_is_learned_from_as_it_is(graphs):
    """By hand: the setting `batch_size` is as before."""
    agent = KINDS["sac"](device=ELSEWHERE).learn(STEPS)
    plain = KINDS["sac"](device=ELSEWHERE)
    with plain_updates():
        plain.learn(STEPS)
    assert graphs
    fast_update(agent, agent.normal_batch(agent.buffer.sample(1)))
    plain.update(plain.normal_batch(plain.buffer.sample(1)))
    assert everything(agent) == everything(plain)


@pytest.mark.filterwarnings("error:This GPU")
def test_what_changes_every_time_is_never_recorded(graphs):
    def callback(agent):
        agent.tau = 1 / agent.steps

    agent = KINDS["sac"](device=ELSEWHERE).learn(STEPS, callback)
    assert agent.updates > STEPS / 2
    assert not graphs


# ---- where it cannot be --------------------------------------------------------------------------


def forgets(graph):
    graph.replays += 1


def stops(self, *_):
    raise RuntimeError("operation failed due to a previous error during capture")


BROKEN = {
    "nothing is carried out": ("recording.Graph.replay", forgets, "something else"),
    "no graph can be made": ("recording.Noting.__init__", stops, "previous error"),
}


@pytest.mark.parametrize(("place", "broken", "why"), BROKEN.values(), ids=BROKEN)
def test_where_recording_fails_training_goes_on_without(place, broken, why, monkeypatch):
    """It is said once, and nothing that was learned or drawn is touched by it."""
    here, there = KINDS["td3"]().learn(STEPS), KINDS["td3"](device=ELSEWHERE)
    monkeypatch.setattr(place, broken)
    with pytest.warns(UserWarning, match=why) as said:
        there.learn(STEPS)
    assert_one_sentence(said[0].message, "TD3", why)
    assert len(said) == 1
    assert everything(there) == everything(here)


def test_after_a_failure_nothing_is_recorded_any_more(graphs, monkeypatch):
    """What torch was left with might harm the next recording, of whichever agent."""
    with monkeypatch.context() as patch:
        patch.setattr("recording.Noting.__init__", stops)
        with pytest.warns(UserWarning, match="records no updates"):
            KINDS["td3"](device=ELSEWHERE).learn(STEPS)
    assert Stream.current == 0  # torch's `graph` leaves its own
    assert Stream.main.awaited  # and what was begun there is done
    graphs.clear()
    here, there = KINDS["sac"]().learn(STEPS), KINDS["sac"](device=ELSEWHERE).learn(STEPS)
    assert everything(there) == everything(here)
    assert not graphs


class Counting(nn.Module):
    """A critic that counts how often it was asked, in Python."""

    def __init__(self, critic):
        super().__init__()
        self.critic, self.q1, self.asked = critic, critic.q1, 0

    def forward(self, obs, action):
        self.asked += 1
        return self.critic(obs, action)


def put_counting(agent):
    agent.critic = Counting(agent.critic)
    return lambda: agent.critic.asked


def put_update(agent):
    whole, seen = agent.update, []
    agent.update = lambda batch: (seen.append(1), whole(batch))[1]
    return lambda: len(seen)


def put_buffer(agent):
    agent.critic.register_buffer("seen", torch.zeros((), device=ELSEWHERE))
    return lambda: agent.updates


@pytest.mark.filterwarnings("error:This GPU")
@pytest.mark.parametrize("put", [put_counting, put_update, put_buffer])
def test_what_python_does_in_an_update_is_done_every_time(put, graphs):
    """A recording would do it once. So networks and methods of one's own are not recorded."""
    agent = KINDS["td3"](device=ELSEWHERE)
    count = put(agent)
    agent.learn(STEPS)
    assert count() == agent.updates > STEPS / 2
    assert not graphs


@pytest.mark.filterwarnings("error:This GPU")
def test_a_result_that_is_kept_prevents_it_until_it_is_let_go(graphs):
    """Its way back through the critic is of another stream, and would make recording fail."""
    here, there = KINDS["sac"]().learn(4 * STEPS), KINDS["sac"](device=ELSEWHERE)
    kept = there.value(torch.ones(1, there.obs_size).to(ELSEWHERE))
    there.learn(STEPS)
    assert not graphs
    del kept
    there.learn(3 * STEPS)
    assert everything(there) == everything(here)
    assert replays(graphs) > STEPS / 2


def test_one_agents_failure_is_its_own(graphs, monkeypatch):
    """Where a recording was made and does something else, torch is in order."""
    with monkeypatch.context() as patch:
        patch.setattr("recording.Graph.replay", forgets)
        with pytest.warns(UserWarning, match="something else"):
            KINDS["td3"](device=ELSEWHERE).learn(STEPS)
    graphs.clear()
    KINDS["sac"](device=ELSEWHERE).learn(STEPS)
    assert replays(graphs) > STEPS / 2


@pytest.mark.filterwarnings("error:This GPU")
def test_a_batch_with_more_in_it_is_not_recorded(graphs):
    agent = KINDS["td3"](device=ELSEWHERE)
    shapes = agent.buffer.tensors.obs.shape[1:], agent.buffer.tensors.action.shape[1:]
    agent.buffer = PrioritizedReplayBuffer(25, *shapes, rng=agent.rng)
    agent.normal_batch = lambda batch: type(batch)(*(each.to(ELSEWHERE) for each in batch))
    agent.learn(STEPS)
    assert agent.updates > STEPS / 2
    assert not graphs


def test_whoever_looks_at_gradients_sees_this_updates(graphs):
    def gradients(agent):
        seen.append([p.grad.cpu().clone() for p in agent.critic.parameters() if p.grad is not None])

    seen = []
    KINDS["td3"](device=ELSEWHERE).learn(STEPS, gradients)
    there, seen = seen, []
    with plain_updates():
        KINDS["td3"](device=ELSEWHERE).learn(STEPS, gradients)
    assert replays(graphs) > STEPS / 3
    for ours, theirs in zip(there, seen, strict=True):
        assert all(torch.equal(*pair) for pair in zip(ours, theirs, strict=True))


def test_bounds_of_a_class_count_at_once(graphs, monkeypatch):
    agents = [KINDS["sac"](device=ELSEWHERE) for _ in range(2)]
    for agent, context in zip(agents, (nullcontext(), plain_updates()), strict=True):
        with context, monkeypatch.context() as patch:
            agent.learn(STEPS)
            patch.setattr(type(agent.actor), "log_std_range", (-3.0, -2.0))
            agent.learn(STEPS)
    assert everything(agents[0]) == everything(agents[1])
    assert graphs


def test_precisions_may_be_set_by_either_of_torchs_ways(graphs):
    """After the newer one the older one can no longer be asked."""
    matmul = torch.backends.cuda.matmul
    before = matmul.fp32_precision
    matmul.fp32_precision = "tf32"
    try:
        KINDS["sac"](device=ELSEWHERE).learn(STEPS)
    finally:
        matmul.fp32_precision = before
    assert graphs


def test_what_changes_often_is_recorded_ever_less_often(graphs):
    def callback(agent):
        if agent.steps % 5 == 0:
            agent.tau = 1 / agent.steps

    agent = KINDS["sac"](device=ELSEWHERE).learn(3 * STEPS, callback)
    assert agent.updates > 2 * STEPS
    assert len(graphs) == 3  # after one, two and four updates without a change


def test_agents_that_are_alive_have_streams_of_their_own(graphs, monkeypatch):
    """With an agent's recordings goes what others on its stream may still use."""
    monkeypatch.setattr(recorded, "STREAMS", 4)
    monkeypatch.setattr(Stream, "there_are", 4)
    first = [KINDS["sac"](device=ELSEWHERE).learn(15) for _ in range(4)]
    streams = [recorded.Recorder.made[agent].stream.number for agent in first]
    assert sorted(streams) == [1, 2, 3, 4]
    awaited = recorded.Recorder.made[first[0]].stream.awaited
    assert awaited == [Stream.main.number]  # what was begun before a recording is done first
    one_more = KINDS["sac"](device=ELSEWHERE).learn(15)
    assert len(graphs) == 4  # the plain update does as well
    del first[2]
    gc.collect()
    one_more.learn(15)
    assert recorded.Recorder.made[one_more].stream.number == streams[2]


def test_one_that_is_stopped_while_it_records_goes_on(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    agent, seen = KINDS["td3"](device=ELSEWHERE), []
    monkeypatch.setattr(torch.cuda, "graph", interrupted)
    agent.learn(STEPS, lambda agent: seen.append(recorded.copies(agent)))
    assert 0 < agent.updates < STEPS // 2
    assert agent.rng is agent.buffer.rng
    assert agent.actor_optimizer.param_groups[0]["lr"] == RATE
    for now, before in zip(recorded.learned(agent), seen[-1], strict=True):
        assert torch.equal(now.cpu(), before.cpu())


def test_only_the_courses_own_agents_are_recorded(graphs):
    class Mine(TD3):
        def update(self, batch):
            self.seen = self.seen + 1 if hasattr(self, "seen") else 1
            return super().update(batch)

    agent = Mine("Short-v0", seed=0, **tiny, device=ELSEWHERE).learn(STEPS)
    assert agent.seen == agent.updates
    AGENTS["ddpgfd"](device=ELSEWHERE).learn(STEPS)
    AGENTS["ppo"](device=ELSEWHERE).learn(STEPS)
    with plain_updates():
        KINDS["td3"](device=ELSEWHERE).learn(STEPS)
    assert not graphs


def test_a_file_holds_nothing_of_it(tmp_path, graphs):
    """Going on from one is the same as never having stopped."""
    whole, half = KINDS["td3"]().learn(2 * STEPS), KINDS["td3"](device=ELSEWHERE).learn(STEPS)
    half.save(tmp_path / "agent.pt", replay=True)
    again = TD3.load(tmp_path / "agent.pt", whole.env_source, device=ELSEWHERE)
    before = replays(graphs)
    assert everything(again.learn(STEPS)) == everything(whole)
    assert replays(graphs) > before


def test_a_recorder_goes_with_its_agent():
    agent = KINDS["td3"](device=ELSEWHERE).learn(STEPS)
    recorder = weakref.ref(recorded.Recorder.made[agent])
    assert recorder().recordings
    assert copy.deepcopy(agent) not in recorded.Recorder.made
    del agent
    gc.collect()
    assert recorder() is None

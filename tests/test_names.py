"""What people type who come from other libraries: a sentence says what it is called here."""

import inspect
from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from sentences import one_sentence
from wholes import tiny

import helpers.agents
from helpers.agents import A2C, DDPG, PPO, SAC, TD3, DDPGfD, layers, noise
from helpers.evaluation import evaluate
from helpers.memory.buffers import ReplayBuffer
from helpers.names import NAMES
from helpers.training import callbacks

AGENTS = [getattr(helpers.agents, name) for name in helpers.agents.__all__]
USING, PAGE = (Path(name).read_text(encoding="utf-8") for name in ("USING.md", "NAMES.md"))
SB3 = ("Settings", "Methods, parameters, attributes", "Functions and classes")  # its tables


def small():
    return TD3("Pendulum-v1", seed=0, **tiny)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: TD3("Pendulum-v1", action_noise=None), "action_noise is called noise here"),
        (lambda: TD3("Pendulum-v1", policy_kwargs={}), "TD3 takes no policy_kwargs: hidden, or"),
        (lambda: TD3("Pendulum-v1", buffer_sise=9), "TD3 takes no buffer_sise: write buffer_size"),
        (lambda: TD3("Pendulum-v1", wizardry=9), "TD3 takes no wizardry; it takes: env, gamma"),
        (lambda: PPO("CartPole-v1", layer_norm=True), "PPO takes no layer_norm, others here do."),
        (lambda: DDPGfD("SparsePendulum-v0", lambda1=1), "lambda1 is called n_step_weight here"),
        (lambda: TD3("Pendulum-v1", n_envs=4), "TD3 takes no n_envs, others here do (of A2C"),
        (lambda: TD3("MlpPolicy", "Pendulum-v1", verbose=1), "there is no policy to choose"),
        (lambda: small().learn(total_timesteps=9), "total_timesteps is called total_steps here"),
        (lambda: small().learn(9, reset_num_timesteps=False), "steps goes on counting"),
        (lambda: small().predict(observation=[0, 0, 0]), "observation is called obs here"),
        (
            lambda: small().predict([0, 0, 0], state=None),  # as evaluate_policy does
            "evaluate_policy is helpers.evaluation.evaluate",
        ),
        (lambda: small().set_env("Pendulum-v1", force_reset=True), "set_env takes no force_reset"),
        (lambda: evaluate(small(), n_eval_episodes=5), "n_eval_episodes is called episodes here"),
        (
            lambda: ReplayBuffer(buffer_size=9, obs_shape=(3,), action_shape=(1,)),
            "buffer_size is called capacity here",
        ),
        (lambda: callbacks.Evaluate(5, eval_freq=5), "eval_freq is called every here"),
    ],
)  # fmt: skip
def test_a_wrong_keyword_is_one_sentence_with_the_right_one(make, says):
    with one_sentence(TypeError, says):
        make()


def test_load_says_so_too(tmp_path):
    small().save(tmp_path / "a.pt")
    for change, says in (
        ({"custom_objects": {}}, "takes no custom_objects: pass settings by name"),
        ({"learning_rate": 1e-4}, "learning_rate is called actor_learning_rate and critic_"),
    ):
        with one_sentence(TypeError, says):
            TD3.load(tmp_path / "a.pt", **change)


def two_environments():
    return gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")] * 2)


def after_a_reset():
    return gym.make("Pendulum-v1").reset(seed=0)


@pytest.mark.parametrize(
    ("use", "says"),
    [
        *((partial(A2C, env), "An environment is an id") for env in (None, 3, ["CartPole-v1"])),
        (lambda: A2C(two_environments()), "n_envs"),
        *((lambda steps=steps: small().learn(steps), "total_steps must be a number from 1 up")
          for steps in ("10", None, 0, -3, float("nan"), True)),
        # As in `model.predict(obs, state)`: None would explore, without a word.
        (lambda: small().predict(np.zeros(3), None), "deterministic must be True or False"),
        (lambda: small().save("a.pt", ["buffer"]), "replay must be True or False"),
        (lambda: small().predict(after_a_reset()), "obs, info = env.reset()"),
        *((lambda obs=obs: small().predict(obs), "predict takes observations of numbers")
          for obs in (["a"] * 3, [None] * 3, np.zeros(3, complex))),
    ],
)  # fmt: skip
def test_what_is_given_in_anothers_place_is_one_sentence(use, says):
    with one_sentence(ValueError, says):
        use()


def halfway(agent):
    yield agent


@pytest.mark.parametrize(
    ("callback", "says"),
    [
        *((each, "callback must be a function of the agent, which gives False to end the training")
          for each in (object(), callbacks.Print, [print, print], 3)),
        *((each, "gave a generator, so nothing in it ran")
          for each in (halfway, callbacks.CallbackList(halfway))),
    ],
)  # fmt: skip
def test_what_is_no_callback_is_one_sentence(callback, says):
    with one_sentence(TypeError, says):
        small().learn(20, callback=callback)


# ---- the tables ----------------------------------------------------------------------------------


def test_every_row_of_the_page_is_read():
    page = PAGE.partition("## Defaults")[0]
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    names = [name for row in rows for name in row.strip(" `").split("`, `")]
    assert names == list(NAMES)  # each once, too
    assert all(each.here or each.words for each in NAMES.values())
    assert "(NAMES.md)" in USING


def test_what_a_name_is_called_here_is_there():
    agent, memory = A2C("CartPole-v1", n_envs=1, n_steps=3, hidden=4), small()
    known = {name for kind in AGENTS for name in [*kind.settings, "env"]}
    known |= {name for kind in AGENTS for name in dir(kind)} | set(vars(agent)) | set(vars(memory))
    known |= set(vars(SAC("Pendulum-v1", **tiny)))
    methods = (TD3.learn, TD3.predict, TD3.save, TD3.load, TD3.set_parameters, TD3.set_env)
    takers = (TD3.action_probability, ReplayBuffer, noise.OUNoiseAround, noise.GaussianNoise)
    for method in (*methods, *takers):
        known |= set(inspect.signature(method).parameters)
    known |= set(inspect.signature(evaluate).parameters) | {"evaluate", "LiveCurves"}
    for each in (callbacks.Evaluate, callbacks.Checkpoint, callbacks.StopAtReturn):
        known |= set(inspect.signature(each).parameters)
    known |= {name for module in (callbacks, layers, noise) for name in vars(module)}
    for each in NAMES.values():
        assert set(each.here) <= known, each


PEERS = [("DDPG", DDPG), ("TD3", TD3), ("SAC", SAC), ("A2C", A2C), ("PPO", PPO)]


def asked(method):
    """The names of what a method of a peer's takes."""
    names = inspect.signature(method).parameters if inspect.isroutine(method) else {}
    return {each for each in names if each != "self" and not each.startswith("_")}


@pytest.mark.parametrize(("name", "ours"), PEERS)
def test_every_name_of_the_peers_agents_has_a_line_and_a_sentence(name, ours):
    sb3 = pytest.importorskip("stable_baselines3", reason="a development requirement")
    kind, agent = getattr(sb3, name), ours("Pendulum-v1", seed=0)
    there = kind("MlpPolicy", "Pendulum-v1", device="cpu")
    public = {each for each in (*dir(kind), *vars(there)) if not each.startswith("_")}
    found = set.union(public, asked(kind.__init__), *(asked(getattr(kind, m, 0)) for m in public))
    # What the networks are asked for, in policy_kwargs, but for what agents fill in themselves.
    own = {"observation_space", "action_space", "lr_schedule", "clip_mean", "use_expln"}
    found |= asked(there.policy_class.__init__) - own - {"full_std", "squash_output"}
    lines = {each.name for each in NAMES.values() if each.section in SB3}
    same = {each for each in found if each in dir(ours) or hasattr(agent, each)}
    assert {each for each in found - lines - same if "batch_norm" not in each} == set()
    for each in asked(kind.__init__) - {*ours.settings, "env"}:
        with one_sentence(TypeError, each) as error:
            ours("Pendulum-v1", **{each: None})
        assert "it takes: " not in str(error.value)


def test_every_callback_of_the_peers_has_a_line():
    pytest.importorskip("stable_baselines3", reason="a development requirement")
    from stable_baselines3.common import callbacks as theirs

    base = theirs.BaseCallback
    found = {
        name for name, each in vars(theirs).items()
        if inspect.isclass(each) and issubclass(each, base) and each.__module__ == theirs.__name__
    }  # fmt: skip
    for each in (theirs.EvalCallback, theirs.CheckpointCallback):
        found |= asked(each.__init__)
    lines = {each.name for each in NAMES.values()}
    assert found - lines - {"EventCallback", "render", "warn"} == set()


@pytest.mark.parametrize(("column", "name"), [*enumerate(["DDPG", "TD3", "SAC", "A2C", "PPO"])])
def test_the_defaults_on_the_page_are_those_of_both_libraries(column, name):
    """Those of Stable-Baselines 2, which is not installed, were read off its code."""
    sb3 = pytest.importorskip("stable_baselines3", reason="a development requirement")
    theirs = inspect.signature(getattr(sb3, name).__init__).parameters
    ours = getattr(helpers.agents, name)("Pendulum-v1", seed=0).hyperparameters
    rows = [line.strip("| ").split(" |") for line in PAGE.splitlines() if line.count(" |") == 6]
    found = 0
    for setting, cells in ((row[0].strip("`"), row[1:]) for row in rows):
        said = cells[column].strip().split(" / ") if column < len(cells) else []
        if len(said) == 3 and setting in theirs:
            [here] = {str(ours[each]) for each in NAMES[setting].here if each in ours} or {"-"}
            default = str(theirs[setting].default).lower()
            assert [said[1], said[2].strip("`").lower()] == [default, here.lower()], setting
            found += 1
    assert found >= 6


def test_what_the_docs_do_with_callbacks_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [code] = [part for part in USING.split("```") if "CallbackList(evaluations" in part]
    names = {"TD3": TD3}
    few = code.removeprefix("python\n").replace("20_000", "300").replace("5_000", "200")
    exec(few, names)
    assert [step for step, _ in names["evaluations"].curve] == [200]
    assert TD3.load("all.pt").steps == 300


def test_all_wrong_keywords_are_named_at_once():
    with pytest.raises(TypeError) as error:
        PPO("CartPole-v1", ent_coef=0.1, vf_coef=0.5, verbose=1)
    for says in ("ent_coef is called entropy_coef", "vf_coef is called", "Print(every=1000)"):
        assert says in str(error.value)

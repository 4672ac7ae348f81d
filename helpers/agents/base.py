"""What all agents share: what they are asked for, the training loop, the episode under way."""

import copy
import difflib
import inspect
import math
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
import torch
from gymnasium import spaces
from torch import nn

from helpers.agents import checkpoint
from helpers.agents.history import EPISODE, History, Last
from helpers.agents.layers import NETWORKS
from helpers.agents.limits import (
    SHARE,
    as_device,
    as_numbers,
    check_callback,
    check_environment,
    normalized,
    number,
    says_stop,
    switch,
)
from helpers.agents.mlp import fast_way
from helpers.agents.normalize import Normalizer, Running
from helpers.agents.policies import POLICIES
from helpers.agents.schedules import rate_at, rate_now
from helpers.agents.settings import EVERY, Configured, setting
from helpers.agents.threads import one_thread
from helpers.envs.flat import flat_rows
from helpers.envs.make import (
    EnvLike,
    env_id,
    make_training_env,
    observation_box,
    one_line,
    spaces_of,
)
from helpers.envs.resumable import DIVERGED, Resumable
from helpers.envs.units import warn_of_loose_bounds
from helpers.names import check_names, explained, is_elsewhere, unknown

Callback = Callable[["Agent"], bool | None]
SEEDING = threading.RLock()  # held while networks are made, see `Agent.seeded`
# Modules that compute the same in train and in eval mode, as far as can be known.
STEADY = (
    nn.Linear, nn.Conv2d, nn.LayerNorm, nn.ReLU, nn.Sequential, Normalizer, Running,
    *POLICIES, *NETWORKS,
)  # fmt: skip
TARGET = "target_"


class Agent(Configured):
    """A learner with the course's public interface: `learn`, `predict`, `save`, `load`.

    A subclass has its settings as lines of the class, `lam: float = setting(0.95, SHARE)`, makes
    networks and optimisers in `build` (networks inside `with self.seeded():`), and implements
    `train_step` and `act`. It trains in its `env`, from `new_episode`, or in its `envs`, from
    `make_vector_env`, and keeps in `obs` what it acts on next; None there means that an episode
    begins. A file holds every network and optimiser that is an attribute, the numbers that
    `counted` names beside `steps`, and with `save(replay=True)` what `memories` names.

    Most settings can be changed later too, `agent.gamma = 0.9`. `action_kinds`, `needs_bounds` and
    `takes_images` say in which spaces it can act. With `normalize=("obs", "rewards")`, or one of
    them, these are brought to size 1, see `helpers.agents.normalize`.

    `device`: where the networks are: "cpu", "cuda", "auto" (a GPU where there is one), or a
    `torch.device`. It stands in no file. A seed gives the same training on a CPU, bit for bit.
    Memory and noise stay on the CPU.

    Attributes that lessons, curves and studies read:
    `steps`: environment steps learned from so far, over all calls of `learn`;
    `history`: name -> list of (step, value): 'return' and 'length' of every finished training
    episode, and what the algorithm logs at each update, such as 'actor_loss';
    `last`: the last transitions and losses.
    """

    counted: ClassVar[tuple[str, ...]] = ()
    memories: ClassVar[tuple[str, ...]] = ()
    action_kinds: ClassVar[tuple[type, ...]] = (spaces.Box,)
    needs_bounds: ClassVar[bool] = False
    takes_images: ClassVar[bool | None] = None  # None: with an `encoder_class` it does
    in_numpy: ClassVar[Any] = None  # what it learns with, in numpy: see `helpers.agents.mlp`
    steady: ClassVar[tuple[type, ...]] = STEADY  # modules that are the same in both modes

    observation_space: spaces.Space  # the environment's
    action_space: Any  # one of `action_kinds`
    critic: Any  # what many have, and some need not

    gamma: float = setting(0.99, SHARE)
    reward_scale: float = setting(1.0, number(finite=True))
    normalize: Sequence[str] = setting((), normalized, fixed=True)
    device: Any = setting("cpu", as_device, fixed=True)
    seed: Any = setting(None, number(0, 2**63 - 1, integer=True, optional=True), fixed=True)

    def build(self) -> None:
        """Make all that learning needs; subclasses add networks, optimisers and memories."""
        self.observation_space, self.action_space = spaces_of(self.env_source)
        check_environment(type(self), self.observation_space, self.action_space)
        if self.seed is None:
            self.seed = int(np.random.default_rng().integers(2**31))
        self.flat_space = observation_box(self.observation_space)  # what its networks get
        self.obs_size = int(np.prod(self.flat_space.shape))
        # Two streams, so that an exploring `predict` between two `learn` calls changes no training.
        self.rng, self.predict_rng = np.random.default_rng(self.seed).spawn(2)
        self.normalizer: Normalizer | None = None
        if self.normalize:
            n_envs = getattr(self, "n_envs", 1)
            self.normalizer = Normalizer(self.normalize, self.obs_size, n_envs, self.gamma)
        self.steps, self.history = 0, History()
        self.rates: dict[str, tuple[str, ...]] = {}  # see `follow`
        self.whole: dict[str, bool] = {}  # optimiser -> whether it trains networks' weights alone
        self.losses: dict[str, torch.Tensor] = {}  # of the last updates, where not all are logged
        self.env: Resumable | None = None
        self.envs: Any = None
        self.obs: np.ndarray | None = None
        self.load = _load_makes_another  # type: ignore[method-assign, assignment]

    def ready(self) -> None:
        """Look at the networks as they are now: when the agent is made, and when `learn` begins."""
        networks = self.networks()
        self.moody = [
            name
            for name, network in networks.items()
            if not all(type(each) in self.steady for each in network.modules())
        ]
        for name in self.moody:
            networks[name].eval()
        held = {id(p) for network in networks.values() for p in network.parameters()}
        for name, part in self.parts().items():
            if isinstance(part, torch.optim.Optimizer):
                groups = part.param_groups
                whole = all(id(p) in held for group in groups for p in group["params"])
                if self.whole.get(name) and not whole:
                    raise ValueError(
                        f"{name} trains weights that no network of the agent has, since one was "
                        "put in another's place: copy weights instead, agent.actor.load_state_dict("
                        "net.state_dict()), give the agent a new optimiser as well, or name a "
                        "class of your own when it is made."
                    )
                self.whole[name] = whole
        if not isinstance(self.env, Resumable | None):
            raise AttributeError("agent.set_env(env) gives it another environment to learn in.")
        if self.built:
            self._look_for_misspelt()
        self.chosen: Any = None  # the way in numpy, or False, see `learned`
        self.made_with = {*self.__dict__, "made_with", "built"}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "chosen": None}  # a copy's weights are elsewhere

    def _look_for_misspelt(self) -> None:
        """What somebody has set since it was last ready, and nothing reads."""
        for name in self.__dict__.keys() - self.made_with:
            if name in EVERY or is_elsewhere(name, self):
                raise AttributeError(unknown(type(self).__name__, name, [*self.settings], EVERY))
            if name in self.network_classes:
                raise AttributeError(f"{name} counts when an agent is made: name it in a subclass.")
            if near := difflib.get_close_matches(name, self.settings, n=1, cutoff=0.85):
                warnings.warn(
                    f"agent.{name} is new, and nothing reads it: write agent.{near[0]}, if that is "
                    "meant.",
                    stacklevel=4,
                )

    def __repr__(self) -> str:
        where = env_id(self.env_source) or "its own environment"
        return f"<{type(self).__name__} on {where}, seed {self.seed}, {self.steps:,} steps>"

    # ---- what a subclass brings -----------------------------------------------------------------

    def train_step(self) -> None:
        """Collect some experience, learn from it, and raise `self.steps`."""
        raise NotImplementedError

    def act(self, obs: torch.Tensor, rng: np.random.Generator | None) -> np.ndarray:
        """Actions for a batch of flat observations (B, obs_size), greedy if `rng` is None."""
        raise NotImplementedError

    def recount(self, steps: int, counts: Mapping[str, int]) -> None:
        """Called by `load`: take over `steps` and what `counted` names."""
        for name, count in {"steps": steps, **counts}.items():
            if type(count) is not int or count < 0 or name not in (*self.counted, "steps"):
                raise ValueError(f"{name} cannot be {count!r}")
            self.__dict__[name] = count

    def go_on(self, env: Any) -> None:
        """Called by `load`: continue the episode that `env` (or `envs`) is in the middle of."""

    # ---- what it is asked for -------------------------------------------------------------------

    @explained
    def learn(self, total_steps: int, callback: Callback | None = None) -> Self:
        """Train for at least `total_steps` more environment steps; can be called again to go on.

        `callback(agent)` runs after every `train_step`; returning False ends the training. If it
        has `start(agent, total_steps)` and `stop(agent)`, they run before and after. Stopping the
        cell (KeyboardInterrupt) ends the training as well: what was learned is kept. `steps` is
        never set back, since schedules and the warm-up go by it. Raises `TypeError` for what is no
        such callback.
        """
        number(1)("total_steps", total_steps)
        check_callback(callback)
        goal = self.steps + total_steps
        with torch.inference_mode(False):
            self.ready()
        if any(env.was_used() for env in self.training_envs()):
            self.obs = None  # by somebody else, since: a new episode begins
        getattr(callback, "start", _nothing)(self, total_steps)
        try:
            with one_thread(), torch.inference_mode(False):
                self.watch()
                while self.steps < goal:
                    self.train_step()
                    self.watch()
                    if callback is not None and says_stop(callback(self)):
                        break
        except KeyboardInterrupt:
            print(
                f"Stopped at step {self.steps:,}: the agent keeps what it learned; "
                "call learn again to go on."
            )
        finally:
            for env in self.training_envs():
                env.leave()
            getattr(callback, "stop", _nothing)(self)
        return self

    @explained
    def predict(self, obs: Any, deterministic: bool = True) -> np.ndarray | int:
        """The action for one observation, or actions for a batch (B, *observation shape).

        The action alone, in the units of the environment that the agent was given. (Not the pair of
        Stable-Baselines3: `action, _ = agent.predict(obs)` would make two numbers of an action of
        two dimensions.) `deterministic=False` explores as in training. Raises `ValueError` if
        the shape fits neither one observation nor a batch of them.
        """
        switch("deterministic", deterministic)
        batch, one = self.as_batch("predict", obs)
        with torch.no_grad():
            actions = self.act(self.flat(batch), None if deterministic else self.predict_rng)
        if not one:
            return actions
        return int(actions[0]) if isinstance(self.action_space, spaces.Discrete) else actions[0]

    def action_probability(self, obs: Any) -> np.ndarray:
        """How likely each of n discrete actions is when it explores: (n,), or (B, n) for a batch.

        Raises `ValueError` for an agent that has no such probabilities.
        """
        if not isinstance(self.action_space, spaces.Discrete):
            raise ValueError(
                f"{type(self).__name__} has no probabilities of actions here, which A2C and PPO "
                "have of discrete ones: ask predict for its action."
            )
        batch, one = self.as_batch("action_probability", obs)
        policy: Any = getattr(self, "policy", self)  # REINFORCE has its actor itself
        with torch.no_grad():
            found = torch.softmax(policy.actor(self.flat(batch)), dim=-1).cpu().numpy()
        return found[0] if one else found

    def value(self, obs: torch.Tensor) -> torch.Tensor:
        """The critic's estimate of the return from flat observations (B, obs_size) on: (B,).

        Discounted, and in the units that the critic learns in (see `reward_factor`).
        """
        return self.critic(obs).squeeze(-1)

    @property
    def reward_factor(self) -> float:
        """What rewards are multiplied by before anything is learned from them."""
        return self.reward_scale * (self.normalizer.reward_factor if self.normalizer else 1)

    @property
    def last(self) -> Last:
        """The last step of training and the last losses, for callbacks to look at."""
        logged = {name: values[-1][1] for name, values in self.history.items() if values}
        losses = {name: value for name, value in logged.items() if name not in EPISODE}
        losses |= {name: float(value) for name, value in self.losses.items()}
        seen = [env.transition for env in self.training_envs()]
        return Last([each for each in seen if each is not None], losses)

    # ---- for its own training -------------------------------------------------------------------

    def settle(self, name: str) -> None:
        if name in self.rates:
            self.follow(name, *self.rates[name])
        if name == "gamma" and self.normalizer is not None:
            self.normalizer.gamma = self.gamma

    def follow(self, name: str, *optimizers: str) -> None:
        """Let optimisers, by the names of attributes, have the setting `name` as learning rate.

        The first follows a schedule (`follow_schedules` goes on), others keep its first value.
        """
        for optimizer in optimizers:
            set_learning_rate(getattr(self, optimizer), rate_at(getattr(self, name), 0))
        self.rates[name] = optimizers

    def follow_schedules(self) -> None:
        """Set the learning rates that change to what they are at this step."""
        for name, (first, *_) in self.rates.items():
            if callable(rate := getattr(self, name)):
                set_learning_rate(getattr(self, first), rate_now(name, rate, self.steps))

    @contextmanager
    def seeded(self) -> Iterator[None]:
        """Initialise networks from the agent's seed; torch's own random state is left alone.

        They are then moved to the agent's device.
        """
        # All threads share torch's random state: agents made side by side wait for each other.
        with SEEDING, torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(self.seed)  # `manual_seed` asks for GPUs, too
            yield
        for part in self.networks().values():
            if part is not self.normalizer:
                part.to(self.device)

    def learned(self, learn: Callable[..., Any], *batch: Any) -> dict[str, Any]:
        """What `learn(*batch)` gives for the log, or the same in numpy where the agent may.

        Which of them is found out once, after the agent was made `ready`.
        """
        if self.chosen is None:
            warn_of_loose_bounds(self)
            self.chosen = fast_way(self) or False
        if self.chosen and inspect.ismethod(learn):  # no function that was put in its place
            return self.chosen(*batch)
        with self.learning():
            logged = learn(*batch)
        values = logged.values() if isinstance(logged, dict) else [None]
        if not all(hasattr(each, "__float__") for each in values):
            raise TypeError(
                f"{learn.__name__} of {type(self).__name__} must return what is worth logging, a "
                "dictionary of numbers by name, such as {}; it returned "
                f"{one_line(repr(logged))[:80]}."
            )
        return {n: x.detach() if torch.is_tensor(x) else x for n, x in logged.items()}

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Networks of one's own with dropout or batch norm are in train mode within this.

        Otherwise they are in eval mode, and targets always are. What they draw follows from the
        agent's seed and steps, so that a file goes on as the agent does.
        """
        if not self.moody:
            yield
            return
        networks = {name: getattr(self, name) for name in self.moody}
        online = [part for name, part in networks.items() if not name.startswith(TARGET)]
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            torch.manual_seed(hash((self.seed, self.steps, getattr(self, "updates", 0))))
            try:
                for part in online:
                    part.train()
                yield
            finally:
                for part in online:
                    part.eval()
        # What batch norm has measured is no parameter: targets take it over.
        for name in networks.keys() & {TARGET + each for each in networks}:
            measured = networks[name.removeprefix(TARGET)].buffers()
            for buffer, new in zip(networks[name].buffers(), measured, strict=True):
                buffer.copy_(new)

    def new_episode(self) -> tuple[Resumable, np.ndarray]:
        """The environment that it trains in, and the first observation of an episode there.

        The environment is seeded once: later episodes start elsewhere.
        """
        env, seed = self.env, None
        if env is None:
            env, seed = make_training_env(self.env_source), self.seed
        obs, _ = env.reset(seed=seed)
        self.env = env
        return env, obs

    def flat(self, obs: np.ndarray) -> torch.Tensor:
        """Observations (..., *shape) as the networks take them: float32 (..., obs_size)."""
        return self.normal(self.measured(obs))

    def measured(self, obs: np.ndarray) -> torch.Tensor:
        """The same before it is normalised; in float64 if it will be, for numbers far from 0."""
        measures = self.normalizer is not None and "obs" in self.normalizer.parts
        obs = np.asarray(obs, np.float64 if measures else np.float32)
        leading = obs.shape[: obs.ndim - len(self.flat_space.shape)]
        return torch.from_numpy(obs.reshape(*leading, self.obs_size))

    def normal(self, obs: torch.Tensor) -> torch.Tensor:
        """Observations (..., obs_size) normalised, if the agent does that, and on its device."""
        return (obs if self.normalizer is None else self.normalizer.obs(obs)).to(self.device)

    def normal_batch(self, batch: Any) -> Any:
        """A batch of a memory normalised, if the agent does that, and on its device."""
        batch = batch if self.normalizer is None else self.normalizer.batch(batch)
        if self.device.type == "cpu":
            return batch
        return batch._make(part.to(self.device) for part in batch)

    def training_envs(self) -> list[Resumable]:
        """What it has made so far of the environments that it trains in."""
        if self.envs is not None:
            return self.envs.envs
        return [self.env] if self.env is not None else []

    def measure(self, obs: np.ndarray) -> None:
        """Let the normaliser, if there is one, learn from observations (N, *shape) of others."""
        if self.normalizer is not None:
            self.normalizer.of_obs.add(self.measured(obs))

    def watch(self) -> None:
        """Let the normaliser, if there is one, learn from what training has seen since."""
        if self.normalizer is not None:
            envs = self.training_envs()
            self.normalizer.learn_from([env.seen or [] for env in envs], self.measured)
            for env in envs:
                env.seen = []

    def log(self, **values: float) -> None:
        """Append values to the history at the present step. Raises `ValueError` for a NaN loss."""
        for name, value in values.items():
            if math.isnan(value) and name not in EPISODE:
                raise ValueError(f"{name} is NaN after step {self.steps:,}: {DIVERGED}")
            self.history.add(name, self.steps, value)

    def log_episode(self, env: Resumable) -> None:
        """Append return and length of the episode that has ended there."""
        values = env.episode_return, env.episode_length
        self.log(**dict(zip(EPISODE, values, strict=True)))

    def as_batch(self, asked: str, obs: Any) -> tuple[np.ndarray, bool]:
        """Observations as a batch (B, *shape of `flat_space`), and whether it was only one."""
        if self.flat_space is not self.observation_space:
            flat = flat_rows(self.observation_space, obs)
            if flat is None:
                space = one_line(self.observation_space)
                raise ValueError(
                    f"{asked} takes an observation, which the environment's {space} can hold, or "
                    f"a batch of them, one a row in each part; got {one_line(obs)[:80]}."
                )
            return flat
        obs, shape = as_numbers(asked, obs), self.flat_space.shape
        if obs.shape not in (shape, (len(obs) if obs.ndim else 0, *shape)):
            raise ValueError(
                f"{asked} got an observation of shape {obs.shape}; this agent takes {shape}, "
                f"or a batch of them, one a row."
            )
        one = obs.shape == shape
        return (obs[None] if one else obs), one

    # ---- what it has learned --------------------------------------------------------------------

    def parts(self) -> dict[str, Any]:
        """All its networks and optimisers by name: what a file holds."""
        kinds = nn.Module, torch.optim.Optimizer
        return {name: part for name, part in vars(self).items() if isinstance(part, kinds)}

    def networks(self) -> dict[str, nn.Module]:
        """All its networks by name, the normaliser among them."""
        return {name: part for name, part in self.parts().items() if isinstance(part, nn.Module)}

    def get_parameters(self) -> dict[str, dict]:
        """Copies of all networks and optimisers: name -> state_dict."""
        return copy.deepcopy(checkpoint.states(self))

    @explained
    def set_parameters(self, states: Mapping[str, Mapping], exact: bool = True) -> None:
        """Copy what `get_parameters` gave, of this agent or one like it, into this one.

        With `exact=False` only the named parts are set: `{"actor": ...}` sets the actor alone, and
        its target network, which is a part of its own, goes on from where it is. The agent's own
        settings, such as learning rates, stay. Raises `ValueError` with one sentence for what does
        not fit; then nothing has changed.
        """
        checkpoint.set_states(self, states, exact)

    @explained
    def set_env(self, env: EnvLike) -> Self:
        """Go on learning in another environment, which has the same spaces. Returns the agent.

        The episode under way is dropped: the next step begins one in the new environment, seeded
        anew with the agent's seed. What was learned, counted and remembered stays. Raises
        `ValueError` that names both spaces if they differ; then nothing has changed.
        """
        here, there = (self.observation_space, self.action_space), spaces_of(env)
        if here != there:
            raise ValueError(
                f"{type(self).__name__} learns with {checkpoint.in_words(*here)}, this environment "
                f"has {checkpoint.in_words(*there)}: wrap it so that they are equal."
            )
        self.env_source, self.env, self.envs, self.obs = env, None, None, None
        return self

    # ---- saving and loading ---------------------------------------------------------------------

    @explained
    def save(self, path: str | os.PathLike, replay: bool = False) -> None:
        """Write weights, optimisers, hyperparameters, spaces, random state and counts to one file.

        With `replay` the file also holds the replay memory and the episode under way: going on
        after `load`, which does all steps of that episode again, then equals never having stopped.
        The file appears whole or not at all. It holds tensors and plain values only.
        """
        switch("replay", replay)
        checkpoint.write(path, checkpoint.contents(self, replay))

    @classmethod
    def load(
        cls, path: str | os.PathLike = "", env: EnvLike | None = None, **settings: Any
    ) -> Self:
        """Read an agent that `save` wrote; `env` defaults to the id it was trained on.

        `settings` replace those in the file: `load(path, actor_learning_rate=1e-4)` to tune finely,
        `load(path, seed=1)` to draw other random numbers from here on, in new episodes. An object
        of one's own, such as a noise, stands in no file, and has to be given; so has a `device`
        other than the CPU, wherever the agent was trained. A number that was set
        by hand in an optimiser's `param_groups` is in the file, and stays unless it is given here.

        Where the environment cannot be made, since its package is missing or it has no name, the
        agent acts; `learn` and `evaluate` then say what is missing.

        Saved without replay it begins a new episode, and its memory is empty, of demonstrations
        too: while that fills up again the agent acts as it has learned to, and it goes on learning
        once `learning_starts` steps are there. If the episode under way cannot be brought back,
        because the environment is another one or is random in a way of its own, a sentence says so
        and a new episode begins.

        Runs no code from the file. Raises `FileNotFoundError` or `ValueError` with one sentence for
        a missing, damaged or foreign file, another agent's file, an environment whose spaces
        differ, or settings that the file's networks do not fit; `TypeError` for a setting that
        there is not.
        """
        if path == "":
            check_names("load", settings, ["path", "env", *cls.settings])
            raise TypeError("load takes the path of a file that save wrote, such as 'agent.pt'.")
        with torch.inference_mode(False):
            return checkpoint.agent_from(cls, checkpoint.read(path), env, path, settings)


def gradient_step(
    optimizer: torch.optim.Optimizer, loss: torch.Tensor, max_grad_norm: float | None = None
) -> None:
    """One update by `optimizer` down the gradient of `loss`, its norm clipped to `max_grad_norm`.

    Only the parameters of `optimizer` get a gradient, whatever else the loss runs through: the
    actor's loss in DDPG runs through the critic, whose weights are not to move. Parameters that
    are frozen (`requires_grad_(False)`) stay as they are.
    """
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    trained = [p for p in parameters if p.requires_grad]
    if len(trained) < len(parameters):
        optimizer.zero_grad()  # what was frozen just now still has a gradient
    if not trained:
        return
    # In place of zero_grad and backward: nothing to clear, a tenth of a small update's time saved.
    for parameter, grad in zip(trained, torch.autograd.grad(loss, trained), strict=True):
        parameter.grad = grad
    if max_grad_norm is not None:
        nn.utils.clip_grad_norm_(trained, max_grad_norm)
    optimizer.step()


def set_learning_rate(optimizer: torch.optim.Optimizer, learning_rate: float) -> None:
    """From its next update on, `optimizer` uses this learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = float(learning_rate)  # a file holds no numbers of numpy's


def _load_makes_another(*_args: Any, **_settings: Any) -> None:
    """In each agent in the place of its class's `load`: what that gives would be lost."""
    raise TypeError(
        "load makes a new agent and leaves this one as it is: write agent = TD3.load(path)."
    )


def _nothing(*_args: Any) -> None:
    """Stands in for a hook that a callback does not have."""

"""What all agents share: what they are asked for, the training loop, the episode under way."""

import math
import os
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
from gymnasium import spaces
from torch import nn

from helpers.agents import checkpoint, parameters, probabilities
from helpers.agents.history import EPISODE, History, Last
from helpers.agents.hyperparameters import MakesAgents, Remembering, change, note_decided
from helpers.agents.limits import (
    as_device,
    as_numbers,
    check_callback,
    check_classes,
    check_environment,
    check_limits,
    check_rows,
    number,
    says_stop,
    switch,
)
from helpers.agents.modes import one_train_step, settle
from helpers.agents.normalize import Normalizer
from helpers.agents.schedules import Rate, as_rate, rate_at, rate_now
from helpers.agents.threads import one_thread
from helpers.envs.flat import flat_rows
from helpers.envs.make import (
    EnvLike,
    check_finite,
    env_id,
    make_training_env,
    observation_box,
    one_line,
    spaces_of,
)
from helpers.envs.resumable import DIVERGED, Resumable
from helpers.envs.units import warn_of_far_numbers, warn_of_loose_bounds
from helpers.names import explained, missing_attribute

Callback = Callable[["Agent"], bool | None]
SEEDING = threading.RLock()  # held while networks are made, see `Agent.seeded`


class Agent(metaclass=Remembering):
    """A learner with the course's public interface: `learn`, `predict`, `save`, `load`.

    A subclass builds its networks in `__init__` (inside `with self.seeded():`) and implements
    `train_step` and `act`. It names the attributes that a file holds: in `saved` networks and
    optimisers, in `counted` numbers beside `steps`, in `memories` what only `save(replay=True)`
    writes; any other network or memory of its own is in no file. It trains in its `env`, from
    `new_episode`, or in its `envs`, from `make_vector_env`, and keeps in `obs` what it acts on
    next; None there means that an episode begins.

    Every setting is a keyword argument; all are remembered in `hyperparameters`, and a file holds
    them. Most can be set later too, `agent.gamma = 0.9`; those in `settled`, and what networks and
    memories are made with, cannot. In which spaces it can act is said by `action_kinds`,
    `needs_bounds` and `takes_images`. With `normalize=("obs", "rewards")`, or one of both, these
    are brought to size 1, see `helpers.agents.normalize`.

    `device`: where the networks are: "cpu", "cuda", "auto" (a GPU where there is one), or a
    `torch.device`. It stands in no file. A seed gives the same training on a CPU, bit for bit, and
    on a GPU the same within rounding, which grows. Memory and noise stay on the CPU, and
    some agents' updates are recorded, see `helpers.agents.recorded`.

    Attributes that lessons, curves and studies read:
    `steps`: environment steps learned from so far, over all calls of `learn`;
    `history`: name -> list of (step, value): 'return' and 'length' of every finished training
    episode, and what the algorithm logs at each update, such as 'actor_loss';
    `last`: the last transitions and losses.
    """

    saved: ClassVar[tuple[str, ...]] = ()
    counted: ClassVar[tuple[str, ...]] = ()
    memories: ClassVar[tuple[str, ...]] = ()
    settled: ClassVar[tuple[str, ...]] = ("seed", "n_envs", "device")
    action_kinds: ClassVar[tuple[type, ...]] = (spaces.Box,)
    needs_bounds: ClassVar[bool] = False
    takes_images: ClassVar[bool | None] = None  # None: with an `encoder_class` it does
    squashes: ClassVar[bool] = False  # whether its actions are a Gaussian's, through a tanh

    observation_space: spaces.Space  # the environment's
    action_space: Any  # one of `action_kinds`
    remembered: dict[str, Any]  # what `hyperparameters` shows
    made = False  # True when the constructor is through
    critic: Any  # what many have, and some need not
    gamma: float
    reward_scale: float

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_classes(cls)

    def __init__(
        self,
        env: EnvLike,
        seed: int | None = None,
        normalize: Sequence[str] = (),
        device: str | torch.device = "cpu",
    ) -> None:
        self.env_source, self.device = env, as_device("device", device)
        self.observation_space, self.action_space = spaces_of(env)
        check_environment(type(self), self.observation_space, self.action_space)
        self.seed = int(np.random.default_rng().integers(2**31) if seed is None else seed)
        self.remembered["seed"] = self.seed
        self.flat_space = observation_box(self.observation_space)  # what its networks get
        self.obs_size = int(np.prod(self.flat_space.shape))
        # Two streams, so that an exploring `predict` between two `learn` calls changes no training.
        self.rng, self.predict_rng = np.random.default_rng(self.seed).spawn(2)
        self.normalizer: Normalizer | None = None
        if normalize:
            # This class's own settings are not set yet, and a class below may take none of them.
            settings = self.remembered | vars(self).get("decided", {})
            sizes = self.obs_size, settings.get("n_envs", 1), settings["gamma"]
            self.normalizer = Normalizer(normalize, *sizes)
            # Of this agent, not of its class; gamma is the normaliser's too.
            vars(self)["saved"] = (*self.saved, "normalizer")
            vars(self)["settled"] = (*self.settled, "gamma")
        self.steps = 0
        self.history = History()
        self.rates: dict[str, tuple[Rate, tuple[str, ...]]] = {}  # see `follow`
        self.losses: dict[str, torch.Tensor] = {}  # of the last updates, where not all are logged
        self.env: Resumable | None = None
        self.obs: np.ndarray | None = None

    def __repr__(self) -> str:
        where = env_id(self.env_source) or "its own environment"
        return f"<{type(self).__name__} on {where}, seed {self.seed}, {self.steps:,} steps>"

    if not TYPE_CHECKING:  # for a type checker, what is not there is not there

        def __getattr__(self, name: str) -> Any:
            settings = vars(self).get("remembered", {})
            if name in settings:
                return settings[name]
            raise missing_attribute(self, name)

        def __setattr__(self, name: str, value: Any) -> None:
            known = self.__dict__
            if name in known and name not in known["remembered"] and name != "env":
                known[name] = value  # what training counts and keeps: it must take no time
            elif self.made:
                change(self, name, value)
            else:
                super().__setattr__(name, value)

    @property
    def hyperparameters(self) -> Mapping[str, Any]:
        """All settings by name, to read: `agent.gamma = 0.9` sets one, `dict(...)` makes a copy."""
        return MappingProxyType(self.remembered)

    # ---- what a subclass brings -----------------------------------------------------------------

    @abstractmethod
    def train_step(self) -> None:
        """Collect some experience, learn from it, and raise `self.steps`."""

    @abstractmethod
    def act(self, obs: torch.Tensor, rng: np.random.Generator | None) -> np.ndarray:
        """Actions for a batch of flat observations (B, obs_size), greedy if `rng` is None."""

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
        if any(env.was_used() for env in self.training_envs()):
            self.obs = None  # by somebody else, since: a new episode begins
        getattr(callback, "start", _nothing)(self, total_steps)
        try:
            with one_thread(), torch.inference_mode(False):
                self.watch()
                settle(self)  # also what was put in place of a network since
                parameters.check_trained(self)
                while self.steps < goal:
                    one_train_step(self)
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

    @explained
    def action_probability(
        self, obs: np.ndarray, actions: np.ndarray | int | None = None, log: bool = False
    ) -> np.ndarray | float | tuple[np.ndarray, ...]:
        """How likely exploring is to take which action: see `helpers.agents.probabilities`."""
        return probabilities.action_probability(self, obs, actions, log)

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

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise `ValueError` for the first one that cannot be, as `helpers.agents.limits` says.

        A constructor begins with `self.check_settings(locals())`: all its arguments, by name.
        """
        check_limits(settings)
        if not self.made:
            note_decided(self, settings)

    def follow(self, name: str, rate: Rate, *optimizers: str) -> None:
        """Let optimisers, by the names of attributes, have the setting `name` as learning rate.

        The first follows a schedule (`follow_schedules` goes on), others keep its first value.
        """
        rate = as_rate(name, rate)
        for optimizer in optimizers:
            set_learning_rate(getattr(self, optimizer), rate_at(rate, 0))
        self.rates[name] = rate, optimizers

    def follow_schedules(self) -> None:
        """Set the learning rates that change to what they are at this step."""
        for name, (rate, optimizers) in self.rates.items():
            if callable(rate):
                set_learning_rate(getattr(self, optimizers[0]), rate_now(name, rate, self.steps))

    @contextmanager
    def seeded(self) -> Iterator[None]:
        """Initialise networks from the agent's seed; torch's own random state is left alone.

        They are then moved to the agent's device.
        """
        # All threads share torch's random state: agents made side by side wait for each other.
        with SEEDING, torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(self.seed)  # `manual_seed` asks for GPUs, too
            yield
        for part in vars(self).values():
            if isinstance(part, nn.Module) and part is not self.normalizer:
                part.to(self.device)

    def new_episode(self) -> tuple[Resumable, np.ndarray]:
        """The environment that it trains in, and the first observation of an episode there.

        The environment is seeded once: later episodes start elsewhere.
        """
        env, seed = self.env, None
        if env is None:
            env, seed = make_training_env(self.env_source), self.seed
        obs, _ = env.reset(seed=seed)
        check_finite(np.zeros(1), np.asarray(obs), self.steps)
        self.env = env
        return env, obs

    def flat(self, obs: np.ndarray) -> torch.Tensor:
        """A batch of observations (B, *shape) as the networks take them: float32 (B, obs_size)."""
        check_rows(self, obs)
        return self.normal(self.measured(obs))

    def measured(self, obs: np.ndarray) -> torch.Tensor:
        """The same before it is normalised."""
        return torch.as_tensor(np.asarray(obs, dtype=np.float32)).reshape(len(obs), self.obs_size)

    def normal(self, obs: torch.Tensor) -> torch.Tensor:
        """Observations (..., obs_size) normalised, if the agent does that, and on its device."""
        return (obs if self.normalizer is None else self.normalizer.obs(obs)).to(self.device)

    def normal_batch(self, batch: Any) -> Any:
        """A batch of a memory normalised, if the agent does that, and on its device."""
        if vars(self).get("updates") == 1:  # the warm-up has just ended
            warn_of_loose_bounds(self)
        batch = batch if self.normalizer is None else self.normalizer.batch(batch)
        if self.device.type == "cpu":
            return batch
        return batch._make(part.to(self.device) for part in batch)

    def training_envs(self) -> list[Resumable]:
        """What it has made so far of the environments that it trains in."""
        envs = getattr(self, "envs", None)
        return envs.envs if envs is not None else [self.env] if self.env is not None else []

    def measure(self, obs: np.ndarray) -> None:
        """Let the normaliser, if there is one, learn from observations (N, *shape) of others."""
        if self.normalizer is not None:
            self.normalizer.of_obs.add(self.measured(obs))

    def watch(self) -> None:
        """Let the normaliser, if there is one, learn from what training has seen since."""
        if self.normalizer is not None:
            envs = self.training_envs()
            self.normalizer.learn_from([env.seen or [] for env in envs], self.measured)
            warn_of_far_numbers(self.normalizer, envs)
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

    # ---- reaching in ----------------------------------------------------------------------------

    def get_parameters(self) -> dict[str, dict]:
        """Copies of all networks and optimisers: name (see `saved`) -> state_dict."""
        return parameters.get_parameters(self)

    @explained
    def set_parameters(self, states: Mapping[str, Mapping], exact: bool = True) -> None:
        """Copy what `get_parameters` gave, of this agent or one like it, into this one.

        With `exact=False` only the named parts are set: `{"actor": ...}` sets the actor alone, and
        its target network, which is a part of its own, goes on from where it is. The agent's own
        settings, such as learning rates, stay. Raises `ValueError` with one sentence for unknown or
        missing names, shapes that differ, and NaN; then nothing has changed.
        """
        parameters.set_parameters(self, states, exact)

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
        self.env_source = env
        for name in {"env", "envs", "obs"} & vars(self).keys():
            setattr(self, name, None)
        return self

    # ---- saving and loading ---------------------------------------------------------------------

    @explained
    def save(self, path: str | os.PathLike, replay: bool = False) -> None:
        """Write weights, optimisers, hyperparameters, spaces, random state and counts to one file.

        With `replay` the file also holds the replay memory and the episode under way: going on
        after `load`, which does all steps of that episode again, then equals never having stopped.
        The file appears whole or not at all. It holds tensors and plain values only, so that `load`
        can refuse everything else: raises `ValueError` for what else would be in it.
        """
        switch("replay", replay)
        checkpoint.write(path, checkpoint.contents(self, replay))

    @classmethod
    def load(cls, path: str | os.PathLike, env: EnvLike | None = None, **settings: Any) -> Self:
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
        with torch.inference_mode(False):
            return checkpoint.agent_from(cls, checkpoint.read(path), env, path, settings)

    if not TYPE_CHECKING:  # it knows class methods only
        load = MakesAgents(load.__func__)


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


def _nothing(*_args) -> None:
    """Stands in for a hook that a callback does not have."""

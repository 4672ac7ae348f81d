"""Networks of any depth, with layer normalisation if wanted, and networks for pictures.

The lessons' own networks have two hidden layers each, written out. These here are what an agent
builds when it is asked for anything else, `TD3(env, hidden=(400, 300), layer_norm=True)`, and when
observations are pictures.
"""

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import nn

from helpers.algorithms.ddpg import DeterministicActor, QNetwork, start_small
from helpers.algorithms.rlpd import NormedQNetwork, NormedTwinQNetwork
from helpers.algorithms.sac import SquashedGaussianActor
from helpers.algorithms.td3 import TwinQNetwork
from helpers.envs.make import is_image, one_line, picture_shape


def choose_networks(
    agent: Any, hidden: int | Sequence[int], layer_norm: bool
) -> tuple[nn.Module, nn.Module]:
    """An actor and a critic of the agent's classes, for its spaces.

    Where observations are pictures, an encoder sees for both. Raises `ValueError` for classes that
    cannot be built, compute something else, or have nothing to see.
    """
    space, kinds = agent.flat_space, (agent.actor_class, agent.critic_class)
    encoder = _encoder(agent.encoder_class, space)
    sizes = (encoder.features if encoder else math.prod(space.shape), agent.action_size)
    actor, critic = (build(kind, sizes, hidden, layer_norm) for kind in kinds)
    check_outputs(actor, critic, sizes, agent.outputs)
    if encoder is not None:
        actor, critic = ImageActor(encoder, actor), ImageCritic(encoder, critic)
    return actor, critic


def _encoder(kind: type[nn.Module], space: Any) -> Any:
    """Eyes of this class for pictures, None for what is no picture."""
    if is_image(space):
        return kind(picture_shape(space))
    if kind is not Encoder:
        raise ValueError(
            f"{kind.__name__} is an encoder_class and would see nothing of {one_line(space)}: only "
            "uint8 pictures (channels, height, width) of 8 x 8 and more are encoded, so let "
            "observations be such, or leave encoder_class out."
        )
    return None


def build(
    kind: type[nn.Module], sizes: tuple[int, int], hidden: int | Sequence[int], layer_norm: bool
) -> nn.Module:
    """A network of this class; a lesson's own has a deeper one for what it does not take.

    Raises `ValueError` for another class that does not take it either.
    """
    deep = isinstance(hidden, Sequence) or layer_norm
    if deep and kind in DEEPER:
        widths = hidden if isinstance(hidden, Sequence) else (hidden, hidden)
        return DEEPER[kind](*sizes, widths, layer_norm or kind is NormedTwinQNetwork)
    asked = {"layer_norm": True} if layer_norm else {}
    try:
        return kind(*sizes, hidden, **asked)
    except TypeError as error:
        settings = f"hidden={hidden}" + (" and layer_norm=True" if layer_norm else "")
        reason = one_line(error).rstrip(".")[:120]
        raise ValueError(
            f"{kind.__name__} cannot be built with {settings} ({reason}): let its __init__ take "
            "obs_size, action_dim and these, or leave them out."
        ) from error


@torch.no_grad()
def check_outputs(
    actor: Any, critic: Any, sizes: tuple[int, int], outputs: tuple[int, int]
) -> None:
    """Raise `ValueError` unless both networks give what an agent with them learns from.

    `sizes`: of an observation and of an action; `outputs`: how many tensors actor and critic give.
    Copies are asked, so that nothing in them moves; three rows tell values (B,) from (B, 1), of
    which a loss would make (B, B).
    """
    obs, action = (torch.zeros(3, size) for size in sizes)
    acts, values = outputs
    words = "a mean and a log_std" if acts == 2 else "actions"
    _check_answer(actor, (obs,), [action.shape] * acts, f"{words} of shape (B, {sizes[1]})")
    if acts == 1 and (_answer(actor, (obs + 1e4,))[0].abs() > 1.001).any():
        raise ValueError(
            f"{type(actor).__name__} must give actions in [-1, 1] whatever it sees, as one that "
            "ends with a tanh does: the environment's units come later."
        )
    words = "two values a row, a pair of shapes (B,), as there are two critics"
    words = words if values == 2 else "one value a row, shape (B,)"
    _check_answer(critic, (obs, action), [obs.shape[:1]] * values, words)
    if values == 2 and not hasattr(critic, "q1"):
        raise ValueError(
            f"{type(critic).__name__} must have a q1(obs, action), the first of its two values: "
            "the agent asks for it alone."
        )


def takes_one_alone(agent: Any) -> bool:
    """Whether its actor is known to take one observation alone: batch norm takes rows only."""
    return agent.actor_class in DEEPER and agent.encoder_class in (Encoder, NatureEncoder)


def _check_answer(network: Any, asked: tuple, shapes: list[torch.Size], words: str) -> None:
    """Raise `ValueError` unless a copy of the network, `asked` this, gives tensors of `shapes`."""
    name, given = type(network).__name__, " and ".join(str(tuple(each.shape)) for each in asked)
    try:
        there = _answer(network, asked)
        there = there if len(shapes) == 1 else list(there[0] if len(there) == 1 else there)
    except Exception as error:  # it may fail in any way
        reason = one_line(error).rstrip(".")[:160]
        raise ValueError(f"{name} cannot be asked with {given} ({reason}).") from error
    if [getattr(each, "shape", None) for each in there] != shapes:
        got = ", ".join(str(tuple(getattr(each, "shape", "?"))) for each in there)
        raise ValueError(f"{name} must give {words}; asked with {given} it gave {got}.")


def _answer(network: Any, asked: tuple) -> list:
    """What a copy of the network says, that much or a pair of it."""
    answer = copy.deepcopy(network).eval()(*asked)
    return list(answer) if isinstance(answer, (tuple, list)) else [answer]


def of_depth(make: Callable[..., nn.Sequential], *sizes: int, hidden: int | Sequence[int]):
    """`make(*sizes, hidden)`, a lesson's network, or the same with a layer for each width.

    `sizes`: the number of inputs, and of outputs, which is 1 unless `make` asks for it.
    """
    if not isinstance(hidden, Sequence):
        return make(*sizes, hidden)
    n_inputs, n_outputs = (*sizes, 1)[:2]
    return nn.Sequential(*hidden_layers(n_inputs, hidden), nn.Linear(hidden[-1], n_outputs))


def hidden_layers(n_inputs: int, sizes: Sequence[int], layer_norm: bool = False) -> nn.Sequential:
    """The hidden layers of a network: (..., n_inputs) to (..., sizes[-1]).

    Each is a linear layer and a ReLU. With `layer_norm` the outputs of the linear layer are first
    brought to mean 0 and variance 1 over its units. Source: Ba, Kiros & Hinton 2016, "Layer
    Normalization", section 3.
    """
    layers: list[nn.Module] = []
    for size in sizes:
        layers.append(nn.Linear(n_inputs, size))
        if layer_norm:  # the ReLU then cuts about half of it
            layers.append(nn.LayerNorm(size))
        layers.append(nn.ReLU())
        n_inputs = size
    return nn.Sequential(*layers)


class Deep(nn.Module):
    """Any hidden layers, and an output that starts small."""

    def __init__(
        self, n_inputs: int, n_outputs: int, hidden: Sequence[int], layer_norm: bool = False
    ) -> None:
        super().__init__()
        self.hidden = hidden_layers(n_inputs, hidden, layer_norm)
        self.output = nn.Linear(hidden[-1], n_outputs)
        start_small(self.output)


class DeepActor(Deep):
    """The actor mu with any hidden layers: observations (..., obs_size) to actions in [-1, 1]."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.output(self.hidden(obs)))


class DeepSquashedGaussianActor(Deep):
    """The actor of SAC with any hidden layers; see `SquashedGaussianActor`."""

    def __init__(
        self, obs_size: int, action_dim: int, hidden: Sequence[int], layer_norm: bool = False
    ) -> None:
        super().__init__(obs_size, 2 * action_dim, hidden, layer_norm)

    def forward(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean, log_std = self.output(self.hidden(obs)).chunk(2, dim=-1)
        return mean, log_std.clamp(*SquashedGaussianActor.log_std_range)


class DeepQNetwork(Deep):
    """The critic Q with any hidden layers: observations and actions (B, ...) to values (B,)."""

    def __init__(
        self, obs_size: int, action_dim: int, hidden: Sequence[int], layer_norm: bool = False
    ) -> None:
        super().__init__(obs_size + action_dim, 1, hidden, layer_norm)

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        x = self.hidden(torch.cat([obs, action], dim=-1))
        return self.output(x).squeeze(-1)


class DeepTwinQNetwork(TwinQNetwork):
    """Two critics that share nothing, with any hidden layers."""

    def __init__(
        self, obs_size: int, action_dim: int, hidden: Sequence[int], layer_norm: bool = False
    ) -> None:
        nn.Module.__init__(self)
        self.first: Any = DeepQNetwork(obs_size, action_dim, hidden, layer_norm)
        self.second: Any = DeepQNetwork(obs_size, action_dim, hidden, layer_norm)


# What stands in for the lessons' networks when more layers, or normalised ones, are asked for.
DEEPER: dict[type[nn.Module], Any] = {
    DeterministicActor: DeepActor,
    SquashedGaussianActor: DeepSquashedGaussianActor,
    QNetwork: DeepQNetwork,
    TwinQNetwork: DeepTwinQNetwork,
    NormedTwinQNetwork: DeepTwinQNetwork,  # always normalised, see `build`
}


# ---- pictures ------------------------------------------------------------------------------------


class Encoder(nn.Module):
    """Eyes: pictures, flat (..., channels x height x width) in 0 to 255, to (..., features).

    One picture alone, without a batch, is among them: (size,) to (features,).

    Small 3 x 3 filters slide over the picture and look for the same thing everywhere. Stacked
    pictures are its channels, so a filter compares a place now with the same place before: that is
    how speed is seen. After Yarats et al. 2021, "Improving Sample Efficiency in Model-Free
    Reinforcement Learning from Images" (their `encoder.py`: convolutions with ReLU, a linear layer
    to 50 numbers, normalised, tanh), but with fewer channels and layers.

    An agent of one's own may have another one: `encoder_class = Wide`, where `class Wide(Encoder)`
    has other `channels` and `features`.
    """

    channels: ClassVar[tuple[int, ...]] = (16, 32)  # each convolution halves height and width
    features: ClassVar[int] = 50

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape = shape
        n_inputs, height, width = shape
        layers: list[nn.Module] = []
        for channels in self.channels:
            # Every second place is enough: neighbouring ones see nearly the same.
            layers += [nn.Conv2d(n_inputs, channels, 3, stride=2, padding=1), nn.ReLU()]
            n_inputs, height, width = channels, (height + 1) // 2, (width + 1) // 2
        self.convolutions = nn.Sequential(*layers)
        # What was found where, in a few numbers that stay within [-1, 1].
        self.summary = nn.Linear(n_inputs * height * width, self.features)
        self.norm = nn.LayerNorm(self.features)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        # Brightness compared with the mean of the pictures: an empty background is about 0, and
        # what differs from it counts.
        pictures = obs.reshape(-1, *self.shape).float() / 255
        pictures = pictures - pictures.mean(dim=(1, 2, 3), keepdim=True)
        found = self.convolutions(pictures).flatten(1)
        features = torch.tanh(self.norm(self.summary(found)))
        return features.reshape(*obs.shape[:-1], self.features)


class NatureEncoder(nn.Module):
    """Larger eyes for larger pictures, 36 x 36 and more: `encoder_class = NatureEncoder`.

    The layers of Mnih et al. 2015, "Human-level control through deep reinforcement learning":
    three convolutions, then 512 units, a ReLU after each.
    """

    features: ClassVar[int] = 512

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape = shape
        if min(shape[1:]) < 36:
            raise ValueError(f"NatureEncoder sees pictures of 36 x 36 and more, not {shape}.")
        layers: list[nn.Module] = []
        n_inputs, height, width = shape
        for channels, size, stride in ((32, 8, 4), (64, 4, 2), (64, 3, 1)):
            layers += [nn.Conv2d(n_inputs, channels, size, stride), nn.ReLU()]
            n_inputs = channels
            height, width = ((side - size) // stride + 1 for side in (height, width))
        self.convolutions = nn.Sequential(*layers)
        self.summary = nn.Linear(n_inputs * height * width, self.features)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        pictures = obs.reshape(-1, *self.shape).float() / 255
        found = self.convolutions(pictures).flatten(1)
        return torch.relu(self.summary(found)).reshape(*obs.shape[:-1], self.features)


class ImageCritic(nn.Module):
    """A critic that sees: its own loss teaches the encoder what is worth seeing.

    `critic` is one of one or two critics that takes features in place of observations.
    """

    def __init__(self, encoder: nn.Module, critic: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.critic: Any = critic

    def forward(self, obs: torch.Tensor, action: torch.Tensor):
        return self.critic(self.encoder(obs), action)

    def q1(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return self.critic.q1(self.encoder(obs), action)


class ImageActor(nn.Module):
    """An actor that sees with the critic's eyes, and does not change them.

    The critic's loss alone teaches the encoder: it is none of the actor's parameters, and no
    gradient reaches it from here. (In Yarats et al. 2021, `sac_ae.py`, the actor shares the
    convolutions alone.) Copy an actor together with its critic, or the copy's eyes stay as they
    are.
    """

    def __init__(self, encoder: nn.Module, actor: nn.Module) -> None:
        super().__init__()
        self.actor = actor
        self.borrowed = [encoder]  # in a list, where torch does not count it as a part

    def forward(self, obs: torch.Tensor) -> Any:
        with torch.no_grad():
            features = self.borrowed[0](obs)
        return self.actor(features)


NETWORKS = (
    *DEEPER, *DEEPER.values(), NormedQNetwork, Encoder, NatureEncoder, ImageActor, ImageCritic,
)  # fmt: skip

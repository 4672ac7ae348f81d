"""Lesson 03: the fifteen steps of TD3, and where `td3_data_flow` draws what takes part in them."""

from dataclasses import dataclass

from helpers.show.colours import BLUE, GREEN, GREY, ORANGE, VERMILLION


@dataclass(frozen=True)
class Step:
    """One of the fifteen: what happens, as a formula, and which code does it."""

    sentence: str
    formula: str
    code: str


STEPS = (
    Step(
        "At the beginning: an actor with random weights, and its target network, a copy.",
        r"$\mu \; \mathrm{at\ random}, \qquad \mu' \leftarrow \mu$",
        "Agent",
    ),
    Step(
        "Two critics, each with random weights of its own, and a copy of each.",
        r"$Q_1, Q_2 \; \mathrm{at\ random}, \qquad Q'_1, Q'_2 \leftarrow Q_1, Q_2$",
        "Agent",
    ),
    Step(
        "From now on at every step: act with noise, and store the transition.",
        r"$a = \mathrm{clip}(\mu(s) + \sigma\,\mathcal{N}(0, I), -1, 1)$",
        "train",
    ),
    Step(
        "A batch of old and new transitions is drawn from the buffer at random.",
        r"$(s, a, r, s', \mathrm{terminated})_{1 \ldots B} \sim \mathrm{buffer}$",
        "ReplayBuffer.sample",
    ),
    Step(
        "The target actor says what it would do next, in the next states of the batch.",
        r"$a' = \mu'(s')$",
        "smoothed_target_action",
    ),
    Step(
        "Smoothing: every sample and every dimension gets noise of its own, clipped.",
        r"$\tilde{a} = \mathrm{clip}(a' + \mathrm{clip}(\varepsilon, -c, c), -1, 1)$",
        "smoothed_target_action",
    ),
    Step(
        "Two target critics say what the next state and that action are worth.",
        r"$q'_1 = Q'_1(s', \tilde{a}) \qquad q'_2 = Q'_2(s', \tilde{a})$",
        "clipped_double_q_target",
    ),
    Step(
        "The lower of the two counts, for every row of the batch.",
        r"$q'_{\min} = \min(q'_1, q'_2)$",
        "clipped_double_q_target",
    ),
    Step(
        "The target: the reward, and the discounted future unless the episode terminated.",
        r"$y = r + \gamma\,(1 - \mathrm{terminated})\,q'_{\min}$",
        "clipped_double_q_target",
    ),
    Step(
        "Both critics say what the batch's states and actions are worth.",
        r"$q_1 = Q_1(s, a) \qquad q_2 = Q_2(s, a)$",
        "twin_critic_loss",
    ),
    Step(
        "The loss: how far both are from the same target y, one mean squared error each.",
        r"$L = \frac{1}{B}\sum\,(q_1 - y)^2 + \frac{1}{B}\sum\,(q_2 - y)^2$",
        "twin_critic_loss",
    ),
    Step(
        "One gradient step of both critics, down the loss. No gradient goes through y.",
        r"$\phi_i \leftarrow \phi_i - \eta\,\nabla_{\!\phi_i} L \qquad i = 1, 2$",
        "update",
    ),
    Step(
        "At every second update: one of the actor, up what the first critic says of its actions.",
        r"$\theta \leftarrow \theta + \eta\,\nabla_{\!\theta}\;"
        r"\frac{1}{B}\sum\,Q_1(s, \mu_\theta(s))$",
        "actor_loss_by_q1",
    ),
    Step(
        "Then soft updates: both target critics move a little way towards the critics,",
        r"$\phi'_i \leftarrow (1 - \tau)\,\phi'_i + \tau\,\phi_i \qquad i = 1, 2$",
        "polyak_update",
    ),
    Step(
        "and the target actor moves a little way towards the actor.",
        r"$\theta' \leftarrow (1 - \tau)\,\theta' + \tau\,\theta$",
        "polyak_update",
    ),
)
FLOW = (9.5, 5.3)  # inches; the places below are inches too, from the lower left corner


@dataclass(frozen=True)
class Box:
    """A thing that has a name; `steps` are those that it takes part in."""

    text: str
    x: float
    y: float  # its middle
    width: float
    height: float
    colour: str
    steps: tuple[int, ...]
    dashed: bool = False
    group: bool = False  # holds other boxes, and has its name at the bottom


@dataclass(frozen=True)
class Arrow:
    """A line along `points` with a head at its end, and a word beside it."""

    points: tuple[tuple[float, float], ...]
    colour: str
    steps: tuple[int, ...]
    text: str = ""
    at: tuple[float, float] = (0.0, 0.0)
    dashed: bool = False


BOXES = (
    Box("environment", 1.0, 4.55, 1.5, 0.46, GREY, (3,)),
    Box("replay buffer", 1.0, 3.72, 1.5, 0.42, GREY, (3, 4)),
    Box("", 1.0, 1.67, 1.5, 3.02, GREY, (4,)),
    Box("actor μ", 3.0, 3.2, 1.1, 0.56, VERMILLION, (1, 3, 13, 15)),
    Box("target\nactor μ′", 3.0, 0.98, 1.1, 0.56, VERMILLION, (1, 5, 15), dashed=True),
    Box("critics", 5.85, 3.0, 1.9, 1.06, BLUE, (2, 10, 11, 12, 14), group=True),
    Box("Q₁", 5.4, 3.2, 0.78, 0.46, BLUE, (2, 10, 12, 13, 14)),
    Box("Q₂", 6.3, 3.2, 0.78, 0.46, BLUE, (2, 10, 12, 14)),
    Box("target critics", 5.85, 1.22, 1.9, 1.06, BLUE, (2, 7, 14), dashed=True, group=True),
    Box("Q₁′", 5.4, 1.42, 0.78, 0.46, BLUE, (2, 7, 14), dashed=True),
    Box("Q₂′", 6.3, 1.42, 0.78, 0.46, BLUE, (2, 7, 14), dashed=True),
    Box("noise ε,\nwithin ± c", 4.2, 1.76, 0.96, 0.5, ORANGE, (6,)),
    Box("min", 7.45, 1.22, 0.6, 0.46, GREEN, (8,)),
    Box("target y", 8.75, 1.22, 1.1, 0.56, GREEN, (9, 11)),
    Box("loss", 8.75, 3.0, 1.1, 0.56, GREEN, (11, 12)),
)
ARROWS = (
    Arrow(((1.75, 4.45), (2.72, 4.45), (2.72, 3.48)), GREY, (3,), "s", (2.2, 4.32)),
    Arrow(((3.3, 3.48), (3.3, 4.7), (1.75, 4.7)), VERMILLION, (3,), "a", (2.2, 4.82)),
    Arrow(((1.0, 4.32), (1.0, 3.93)), GREY, (3,), "s, a, r, s′, terminated", (1.77, 4.1)),
    Arrow(((1.0, 3.51), (1.0, 3.18)), GREY, (4,)),
    Arrow(((1.75, 0.98), (2.45, 0.98)), GREY, (5,)),
    Arrow(((3.55, 0.98), (4.06, 0.98)), VERMILLION, (5, 6), "a′", (3.76, 1.1), dashed=True),
    Arrow(((4.2, 1.51), (4.2, 1.12)), ORANGE, (6,)),
    Arrow(((4.34, 0.98), (4.9, 0.98)), GREY, (6, 7), "ã,\nwith s′", (4.62, 1.2)),
    Arrow(((6.8, 1.22), (7.15, 1.22)), BLUE, (7, 8), dashed=True),
    Arrow(((7.75, 1.22), (8.2, 1.22)), GREEN, (8, 9)),
    Arrow(((1.75, 0.34), (8.75, 0.34), (8.75, 0.94)), GREY, (9,)),
    Arrow(((1.75, 2.68), (4.9, 2.68)), GREY, (10,)),
    Arrow(((6.8, 2.85), (8.2, 2.85)), BLUE, (10, 11), "q₁, q₂", (7.5, 2.72)),
    Arrow(((8.75, 1.5), (8.75, 2.72)), GREEN, (11,), "y", (8.88, 2.1)),
    Arrow(((8.2, 3.16), (6.8, 3.16)), BLUE, (12,), "gradient", (7.5, 3.42)),
    Arrow(((1.75, 3.06), (2.45, 3.06)), GREY, (13,)),
    Arrow(((3.55, 3.06), (5.01, 3.06)), VERMILLION, (13,), "s, μ(s)", (3.95, 2.93)),
    Arrow(((5.01, 3.33), (3.55, 3.33)), VERMILLION, (13,), "gradient", (4.62, 3.46)),
    Arrow(((3.0, 2.92), (3.0, 1.26)), VERMILLION, (1, 15), dashed=True),
    Arrow(((5.4, 2.47), (5.4, 1.75)), BLUE, (2, 14), dashed=True),
    Arrow(((6.3, 2.47), (6.3, 1.75)), BLUE, (2, 14), dashed=True),
)
ENTRIES = (("s", 3.06), ("s, a", 2.68), ("s′", 0.98), ("r, terminated", 0.34))  # of the batch
REMARKS = (  # text, place, size, steps
    ("batch", (0.56, 3.0), 9.5, (4,)),
    ("noise", (3.68, 4.08), 8.5, (3,)),
    ("every second update", (4.22, 3.72), 8.5, (13,)),
    (
        "copies first, then\nsoft updates, at\nevery second update",
        (4.05, 2.32),
        8.5,
        (1, 2, 14, 15),
    ),
)
JOINTS = (((3.3, 4.08), VERMILLION, (3,)), ((4.2, 0.98), ORANGE, (6,)))  # where noise is added
BADGES: tuple[tuple[int, float, float], ...] = (
    (1, 2.45, 3.48), (2, 6.8, 3.53), (3, 3.3, 4.48), (4, 0.72, 3.34), (5, 2.45, 1.26),
    (6, 4.2, 0.66), (7, 4.9, 1.75), (8, 7.15, 1.45), (9, 8.2, 1.5), (10, 4.9, 2.47),
    (11, 9.3, 3.28), (12, 7.5, 3.16), (13, 4.4, 3.06), (14, 5.85, 2.11), (15, 3.0, 2.1),
)  # fmt: skip

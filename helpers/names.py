"""What settings and methods are called in other libraries, and what they are called here.

Read off Stable-Baselines3 2.9.2 (its TD3, SAC, A2C and PPO), the documentation of Stable-Baselines
2.10 (its A2C and base class), the code of TD3's authors (sfujim/TD3 on GitHub, `main.py` at
10a61fa), CleanRL (`td3_continuous_action.py`, `sac_continuous_action.py` and `ppo.py` at 004f8a0),
Spinning Up (its TD3, SAC and PPO for PyTorch, at 2092113) and pg-is-all-you-need (04.TD3 at
020459a, and its A2C and DDPGfD). NAMES.md shows these tables, and errors quote them.
"""

import difflib
import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

SB3, SB2, AUTHORS, CLEANRL, PG, SPINUP = (
    "Stable-Baselines3", "Stable-Baselines 2", "TD3's authors", "CleanRL", "pg-is-all-you-need",
    "Spinning Up",
)  # fmt: skip


@dataclass(frozen=True)
class Name:
    """`name` is called `here` (names, or "" for nothing), in `libraries`; `words` say more."""

    name: str
    here: str
    words: str = ""
    libraries: tuple[str, ...] = (SB3,)

    def __str__(self) -> str:
        """The right-hand side of the table in NAMES.md."""
        here = ", ".join(f"`{each}`" for each in self.here.split())
        return f"{here or 'none'}{': ' if self.words else ''}{self.words}"


OWN_NETWORKS = "or the own networks of a subclass of DDPG, TD3 or SAC"
CALLBACKS = "of `helpers.training.callbacks`"
SETTINGS = [
    Name("policy", "", "`hidden` chooses the networks, or a subclass of DDPG, TD3 or SAC does"),
    Name("env", "env", "an id, an environment, or a function that makes one"),
    Name("n_envs", "n_envs", "of A2C and PPO, which make the copies, 16 unless told"),
    Name("learning_rate",
        "learning_rate actor_learning_rate critic_learning_rate temperature_learning_rate",
        "which of them, each agent says; a function gets the steps so far, not what remains",
    ),
    Name("buffer_size", "buffer_size capacity",
        "of DDPG, TD3 and SAC; a `ReplayBuffer` has a `capacity`"),
    Name("learning_starts", "learning_starts"),
    Name("batch_size", "batch_size"),
    Name("tau", "tau"),
    Name("gamma", "gamma"),
    Name("train_freq", "train_freq", "a number of steps"),
    Name("gradient_steps", "gradient_steps"),
    Name("action_noise", "noise",
        "such as `GaussianNoise(0.1)` of `helpers.agents.noise`, in units of [-1, 1]",
    ),
    Name("replay_buffer_class", "", "a subclass sets `buffer`, as DDPGfD does; there is no HER"),
    Name("replay_buffer_kwargs", "", "a subclass sets `buffer`, as DDPGfD does; there is no HER"),
    Name("optimize_memory_usage", "", "pictures are kept as whole numbers anyway"),
    Name("n_steps", "n_steps",
        "of a rollout, in each of `n_envs`, in A2C and PPO; of a return, in DDPGfD",
    ),
    Name("policy_delay", "policy_delay"),
    Name("target_policy_noise", "target_noise", libraries=(SB3, PG)),
    Name("target_noise_clip", "noise_clip"),
    Name("gae_lambda", "lam"),
    Name("ent_coef", "entropy_coef temperature",
        'in SAC "auto_0.1" is `temperature=0.1`, and 0.1 is that with `learn_temperature=False`',
        (SB3, SB2)),
    Name("target_entropy", "target_entropy", 'of SAC; None is "auto"'),
    Name("target_update_interval", "", "the targets move at every update of SAC"),
    Name(
        "vf_coef", "value_coef", "of PPO; A2C's critic has its own optimiser, and `critic_steps`",
        libraries=(SB3, SB2),
    ),
    Name("max_grad_norm", "max_grad_norm", "of the actor's step, in PPO of the common one"),
    Name("n_epochs", "n_epochs", "of PPO"),
    Name("clip_range", "clip_range", "of PPO, a number; a callback may change it"),
    Name("clip_range_vf", "value_clip_range", "of PPO; there the clipped error alone counts"),
    Name("target_kl", "target_kl", "of PPO"),
    Name("rms_prop_eps", "", "the optimiser is Adam"),
    Name("use_rms_prop", "", "the optimiser is Adam"),
    Name("use_sde", "", "exploration is drawn anew at each step, there is no gSDE"),
    Name("sde_sample_freq", "", "exploration is drawn anew at each step"),
    Name("use_sde_at_warmup", "", "exploration is drawn anew at each step"),
    Name("rollout_buffer_class", "", "a rollout is the dataclass `Rollout`"),
    Name("rollout_buffer_kwargs", "", "a rollout is the dataclass `Rollout`"),
    Name("normalize_advantage", "", "A2C and PPO always do it"),
    Name("stats_window_size", "", '`history["return"]` holds every episode'),
    Name("tensorboard_log", "", f"the callback `TensorBoard(folder)` {CALLBACKS}"),
    Name("policy_kwargs", "", f"`hidden`, {OWN_NETWORKS}"),
    Name("net_arch", "hidden", "one width, or one for each layer"),
    Name("activation_fn", "", f"ReLU, {OWN_NETWORKS}"),
    Name("features_extractor_class", "", "a subclass's `encoder_class`"),
    Name("features_extractor_kwargs", "", "a subclass's `encoder_class`"),
    Name("share_features_extractor", "", "the actor sees with the critic's encoder"),
    Name("normalize_images", "", "pictures always become numbers from 0 to 1"),
    Name("n_critics", "", "DDPG has one, TD3 and SAC have two"),
    Name("log_std_init", "", "the policies of A2C and PPO begin with a standard deviation of 1"),
    Name("ortho_init", "", "PPO always does it, A2C never"),
    Name("optimizer_class", "", "the optimiser is Adam"),
    Name("optimizer_kwargs", "", "the optimiser is Adam; its `param_groups` may be set by hand"),
    Name("verbose", "", f"the callback `Print(every=1000)` {CALLBACKS}"),
    Name("seed", "seed"),
    Name("device", "device", '"cpu" unless told, "cuda", or "auto"'),
]  # fmt: skip

METHODS = [
    Name("learn", "learn", "`learn(total_steps, callback)`"),
    Name("total_timesteps", "total_steps", "of `learn`", (SB3, SB2, CLEANRL)),
    Name("callback", "callback", "of `learn`: a function of the agent, False ends the training"),
    Name("log_interval", "log_every", "a setting, in updates; A2C and PPO log them all"),
    Name("tb_log_name", "", "the callback `TensorBoard(folder)`"),
    Name("reset_num_timesteps", "", "`steps` goes on counting, since schedules go by it"),
    Name(
        "progress_bar",
        "",
        "the callback `LiveCurves()` of `helpers.show.plotting` shows one in a notebook, "
        f"`Print()` {CALLBACKS} prints lines anywhere",
    ),
    Name("predict", "predict", "**it gives the action alone, no pair**, greedy unless told"),
    Name("observation", "obs", "of `predict` and `action_probability`", (SB3, SB2)),
    Name(
        "state",
        "",
        "no policy here has a memory; `evaluate_policy` is `helpers.evaluation.evaluate`",
        (SB3, SB2),
    ),
    Name("episode_start", "", "no policy here has a memory"),
    Name("deterministic", "deterministic", "True unless you say otherwise"),
    Name("save", "save", "`save(path, replay=False)`"),
    Name("exclude", "", "a file holds all of the agent; `replay` adds the memory"),
    Name("include", "", "a file holds all of the agent; `replay` adds the memory"),
    Name("load", "load", "`load(path, env, **settings)`; settings replace the file's"),
    Name("path", "path"),
    Name("custom_objects", "", "pass settings by name, `load(path, noise=Mine(0.2))`"),
    Name("print_system_info", "", "a file is tensors and plain values, of any system"),
    Name("force_reset", "", "without the replay memory a new episode always begins"),
    Name("kwargs", "settings", "of `load`, by name"),
    Name("save_replay_buffer", "save", "`save(path, replay=True)`"),
    Name("load_replay_buffer", "load", "of what `save(path, replay=True)` wrote"),
    Name("truncate_last_traj", "", "the episode under way is saved too, and goes on"),
    Name("get_parameters", "get_parameters"),
    Name("set_parameters", "set_parameters"),
    Name("load_path_or_dict", "states", "of `set_parameters`; for a path there is `load`"),
    Name("exact_match", "exact", "of `set_parameters`"),
    Name("set_env", "set_env"),
    Name("get_env", "training_envs", "all that it has made; `env_source` is what it was given"),
    Name("set_random_seed", "load", "`load(path, seed=1)`, or the seed of a new agent"),
    Name("get_vec_normalize_env", "", 'the setting `normalize=("obs", "rewards")`'),
    Name("logger", "history", "name -> list of (step, value)"),
    Name("set_logger", "", "`history` is there, and callbacks read it"),
    Name("dump_logs", "", "`history` is there, and callbacks read it"),
    Name("iteration", "", "`history` counts environment steps"),
    Name("num_timesteps", "steps"),
    Name("replay_buffer", "buffer", "`store` of the agent adds a step"),
    Name("rollout_buffer", "", "a rollout is what `collect` of A2C and PPO gives"),
    Name("n_rollout_steps", "n_steps", "a setting of A2C and PPO"),
    Name("ep_info_buffer", "history", '`history["return"]` holds every episode'),
    Name("actor_target", "target_actor"),
    Name("critic_target", "target_critic"),
    Name("ep_success_buffer", "", "count in a wrapper: `agent.last` has the last step only"),
    Name("start_time", "", "the callback `Print(every=1000)` says how fast it is"),
    Name("log_ent_coef", "temperature", "of SAC: `agent.temperature()`"),
    Name("ent_coef_optimizer", "temperature_optimizer", "of SAC"),
    Name("policy_class", "", "networks are not chosen by a name"),
    Name("policy_aliases", "", "networks are not chosen by a name"),
    Name("collect_rollouts", "collect"),
    Name("train", "train_step", "collects experience and learns from it"),
]

AROUND = [
    Name(
        "evaluate_policy", "evaluate", "of `helpers.evaluation`; the result has `.mean` and `.std`"
    ),
    Name("model", "policy", "of `evaluate`, an agent or a function from obs to action"),
    Name("n_eval_episodes", "episodes", "of `evaluate` and `Evaluate`"),
    Name(
        "BaseCallback", "", "a function of the agent, or an object with `__call__`, `start`, `stop`"
    ),
    Name("CallbackList", "CallbackList", f"`CallbackList(one, other)` {CALLBACKS}"),
    Name("EvalCallback", "Evaluate", f"`Evaluate(every, episodes, env, path=path)` {CALLBACKS}"),
    Name("eval_env", "env", "of `Evaluate`"),
    Name("eval_freq", "every", "of `Evaluate`, in steps", (SB3, AUTHORS)),
    Name("best_model_save_path", "path", "of `Evaluate`, a file"),
    Name("log_path", "", "`curve` of `Evaluate` holds all evaluations"),
    Name("callback_on_new_best", "", "a callback after `Evaluate` in the list reads its `best`"),
    Name("callback_after_eval", "", "a callback after `Evaluate` in the list reads its `curve`"),
    Name("CheckpointCallback", "Checkpoint", f"`Checkpoint(path, steps=10_000)` {CALLBACKS}"),
    Name("save_freq", "steps", "of `Checkpoint`"),
    Name("save_path", "path", "of `Checkpoint`, a file, which the next one replaces"),
    Name("name_prefix", "", "`Checkpoint(path)` has one file, which the next one replaces"),
    Name("save_vecnormalize", "", "a file always holds what `normalize` measured"),
    Name("StopTrainingOnRewardThreshold", "StopAtReturn", f"`StopAtReturn(target)` {CALLBACKS}"),
    Name("reward_threshold", "target", "of `StopAtReturn`"),
    Name("StopTrainingOnMaxEpisodes", "", 'a function that counts `agent.history["return"]`'),
    Name("StopTrainingOnNoModelImprovement", "", "a function that reads `best` of `Evaluate`"),
    Name("EveryNTimesteps", "", "a callback that asks `agent.steps`"),
    Name("ConvertCallback", "", "a function is a callback"),
    Name("ProgressBarCallback", "LiveCurves", "of `helpers.show.plotting`"),
    Name("LogEveryNTimesteps", "Print", f"`Print(every=1000)` {CALLBACKS}"),
    Name("return_episode_rewards", "", "the result of `evaluate` has `.returns` and `.lengths`"),
    Name("HerReplayBuffer", "", "there is no HER: of a Dict with a goal all parts are seen"),
    Name("NormalActionNoise", "GaussianNoise", "`GaussianNoise(sigma)`, no mean"),
    Name("OrnsteinUhlenbeckActionNoise", "OUNoise", "`OUNoise(sigma, theta, dt)`"),
    Name("mean", "mu", "of `OUNoiseAround`; other noises are around 0"),
    Name("initial_noise", "", "an `OUNoise` starts every episode at 0"),
    Name("dtype", "", "numbers are float32, pictures uint8"),
    Name("observation_space", "obs_shape", "of a `ReplayBuffer`, such as `(3,)`"),
    Name("action_space", "action_shape", "of a `ReplayBuffer`, such as `(1,)`"),
    Name("handle_timeout_termination", "", "a buffer keeps `terminated` and `truncated` apart"),
    Name("make_vec_env", "n_envs", "a setting of A2C and PPO, which make their copies themselves"),
    Name("VecNormalize", "normalize", 'the setting `normalize=("obs", "rewards")`'),
    Name("NatureCNN", "NatureEncoder", "of `helpers.agents.layers`: a subclass's `encoder_class`"),
    Name("Monitor", "history", '`history["return"]` and `history["length"]`, no wrapper'),
]

ELSEWHERE = [
    Name("discount", "gamma", "", (AUTHORS,)),
    Name("start_timesteps", "learning_starts", "", (AUTHORS,)),
    Name("initial_random_steps", "learning_starts", "", (PG,)),
    Name("expl_noise", "noise", "`GaussianNoise(0.1)`", (AUTHORS,)),
    Name("exploration_noise", "noise", "`GaussianNoise(0.1)`", (CLEANRL, PG)),
    Name("mu", "mu", "of `OUNoiseAround`; other noises are around 0", (PG,)),
    Name("ou_noise_theta", "noise", "`OUNoise(sigma, theta)`", (PG,)),
    Name("ou_noise_sigma", "noise", "`OUNoise(sigma, theta)`", (PG,)),
    Name("policy_noise", "target_noise", "", (AUTHORS, CLEANRL)),
    Name("target_policy_noise_clip", "noise_clip", "", (PG,)),
    Name("policy_freq", "policy_delay", "", (AUTHORS,)),
    Name("policy_frequency", "policy_delay", "", (CLEANRL,)),
    Name("policy_update_freq", "policy_delay", "", (PG,)),
    Name("memory_size", "buffer_size", "", (PG,)),
    Name("entropy_weight", "entropy_coef", "", (PG,)),
    Name("pretrain_step", "pretraining", "", (PG,)),
    Name("n_step", "n_steps", "", (PG,)),
    Name("lambda1", "n_step_weight", "", (PG,)),
    Name("lambda2", "weight_decay", "", (PG,)),
    Name("lambda3", "gradient_weight", "", (PG,)),
    Name("prior_eps", "eps", "", (PG,)),
    Name("demo", "remember", "`remember(demos)`, a method", (PG,)),
    Name("env_id", "env", "", (CLEANRL,)),
    Name("num_envs", "n_envs", "of A2C and PPO", (CLEANRL,)),
    Name("num_steps", "n_steps", "of a rollout, in A2C and PPO", (CLEANRL,)),
    Name("anneal_lr", "learning_rate", "takes `LinearSchedule(1e-3, 1e-4, 10_000)`", (CLEANRL,)),
    Name("num_minibatches", "batch_size", "the rows of a minibatch", (CLEANRL,)),
    Name("update_epochs", "n_epochs", "of PPO", (CLEANRL,)),
    Name("norm_adv", "", "A2C and PPO always do it", (CLEANRL,)),
    Name("clip_coef", "clip_range", "of PPO", (CLEANRL,)),
    Name("clip_vloss", "value_clip_range", "of PPO", (CLEANRL,)),
    Name("env_fn", "env", "a function that makes one is fine", (SPINUP,)),
    Name("actor_critic", "", f"`hidden`, {OWN_NETWORKS}", (SPINUP,)),
    Name("ac_kwargs", "", f"`hidden`, {OWN_NETWORKS}", (SPINUP,)),
    Name("hidden_sizes", "hidden", "one width, or one for each layer", (SPINUP,)),
    Name("replay_size", "buffer_size", "", (SPINUP,)),
    Name("polyak", "tau", "1 - polyak: 0.005 for 0.995", (SPINUP,)),
    Name("lr", "learning_rate actor_learning_rate critic_learning_rate", "", (SPINUP,)),
    Name("pi_lr", "actor_learning_rate learning_rate", "", (SPINUP,)),
    Name("q_lr", "critic_learning_rate", "", (CLEANRL, SPINUP)),
    Name("policy_lr", "actor_learning_rate", "", (CLEANRL,)),
    Name(
        "alpha",
        "temperature",
        "of SAC, fixed with `learn_temperature=False`; not DDPGfD's `alpha`",
        libraries=(CLEANRL, SPINUP),
    ),
    Name("autotune", "learn_temperature", "of SAC", (CLEANRL,)),
    Name("target_network_frequency", "", "the targets move at every update of SAC", (CLEANRL,)),
    Name("vf_lr", "learning_rate", "both networks begin with the same rate", (SPINUP,)),
    Name("start_steps", "learning_starts", "random actions and no update until then", (SPINUP,)),
    Name("update_after", "learning_starts", "random actions and no update until then", (SPINUP,)),
    Name("update_every", "train_freq", "with the same number as `gradient_steps`", (SPINUP,)),
    Name("act_noise", "noise", "`GaussianNoise(0.1)`", (SPINUP,)),
    Name("clip_ratio", "clip_range", "of PPO", (SPINUP,)),
    Name("train_pi_iters", "n_epochs", "of PPO, each in minibatches of `batch_size`", (SPINUP,)),
    Name("train_v_iters", "critic_steps", "of A2C; PPO's critic learns as often", (SPINUP,)),
    Name("steps_per_epoch", "n_steps", "of a rollout in each of `n_envs`", (SPINUP,)),
    Name("epochs", "total_steps", "of `learn`: all steps in one number", (SPINUP,)),
    Name("num_test_episodes", "episodes", "of `evaluate` and `Evaluate`", (SPINUP,)),
    Name(
        "max_ep_len",
        "",
        "the limit is the environment's, `gymnasium.make(id, max_episode_steps=1000)`",
        (SPINUP,),
    ),
    Name("logger_kwargs", "", "`history` is there, and callbacks read it", (SPINUP,)),
    Name("max_timesteps", "total_steps", "of `learn`", (AUTHORS,)),
    Name("num_frames", "total_steps", "of `learn`", (PG,)),
    Name("select_action", "predict", "greedy unless told otherwise", (AUTHORS, PG)),
    Name("state_dim", "env", "its spaces say it", (AUTHORS,)),
    Name("action_dim", "env", "its spaces say it", (AUTHORS,)),
    Name("max_action", "env", "its spaces say it", (AUTHORS,)),
    Name("torch_deterministic", "seed", "the same seed, the same training, on a CPU", (CLEANRL,)),
    Name("cuda", "device", '"cpu" unless told, "cuda", or "auto"', (CLEANRL,)),
    Name("capture_video", "", "`helpers.show.video` records", (CLEANRL,)),
    Name("save_model", "save", "a method", (AUTHORS, CLEANRL)),
    Name("load_model", "load", "a method", (AUTHORS,)),
    Name(
        "lr_schedule",
        "learning_rate actor_learning_rate critic_learning_rate temperature_learning_rate",
        "takes `LinearSchedule(1e-3, 1e-4, 10_000)`",
        (SB3, SB2),
    ),
    Name("momentum", "", "the optimiser is Adam", (SB2,)),
    Name("epsilon", "", "the optimiser is Adam", (SB2,)),
    Name("full_tensorboard_log", "", "the callback `TensorBoard(folder)`", (SB2,)),
    Name("n_cpu_tf_sess", "", "one thread is fastest for networks of this size", (SB2,)),
    Name("random_exploration", "warm_up_noise", "there a probability, here a noise", (SB2,)),
    Name("logp", "log", "of `action_probability`", (SB2,)),
    Name("mask", "", "no policy here has a memory", (SB2,)),
]

NAMES = {each.name: each for each in (*SETTINGS, *METHODS, *AROUND, *ELSEWHERE)}


def unknown(taker: str, name: str, known: Collection[str], others: Collection[str] = ()) -> str:
    """The sentence for a keyword that `taker` does not take: what to write in its place.

    `known` are those that it takes, `others` those that something else of ours takes.
    """
    there = NAMES.get(name)
    if there is not None and not there.here:
        return f"{taker} takes no {name}: {there.words.replace('`', '')}."
    if there is not None:
        also = f" ({there.words})".replace("`", "") if there.words else ""
        if fitting := [each for each in there.here.split() if each in known]:
            return f"{name} is called {' and '.join(fitting)} here{also}."
        if name in there.here.split():
            return f"{taker} takes no {name}, others here do{also}."
        here = " or ".join(there.here.split())
        return f"{taker} takes no {name}, which is called {here} here{also}."
    if name in others:
        return f"{taker} takes no {name}, others here do."
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"{taker} takes no {name}: write {near[0]}, if that is meant."
    return f"{taker} takes no {name}; it takes: {', '.join(known)}."


def check_names(
    taker: str, names: Collection[str], known: Collection[str], others: Collection[str] = ()
) -> None:
    """Raise `TypeError` for keywords that `taker` does not take, as `unknown` says it of each."""
    if wrong := [unknown(taker, name, known, others) for name in names if name not in known]:
        raise TypeError(" ".join(wrong))


def explained(method: Callable[Given, Result]) -> Callable[Given, Result]:
    """A method or function that says of a keyword that it does not take what it is called here."""
    known = [name for name in inspect.signature(method).parameters if name != "self"]
    name = method.__name__

    @functools.wraps(method)
    def called(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        if kwargs:
            taker = type(args[0]).__name__ if name == "__init__" else name
            check_names(taker, kwargs, known)
        return method(*args, **kwargs)

    return called


def as_markdown() -> str:
    """The tables of NAMES.md: the names of Stable-Baselines3, then those of others."""
    lines: list[str] = []
    heads = {
        "settings": SETTINGS,
        "methods, their parameters, attributes": METHODS,
        "functions and classes around an agent": AROUND,
    }
    lines += ["| Stable-Baselines3 | here |", "| --- | --- |"]
    for head, names in heads.items():
        lines.append(f"| **{head}** | |")
        lines += [f"| `{each.name}` | {each} |" for each in names]
    lines += ["", "| elsewhere | in | here |", "| --- | --- | --- |"]
    others = [each for each in NAMES.values() if each.libraries != (SB3,)]
    for each in others:
        where = ", ".join(library for library in each.libraries if library != SB3)
        lines.append(f"| `{each.name}` | {where} | {each} |")
    return "\n".join(lines)


def is_elsewhere(name: str, agent: object) -> bool:
    """Whether `name` is a setting of another library, or what it calls something of the agent's."""
    there = NAMES.get(name)
    return there is not None and (
        there in SETTINGS or any(hasattr(agent, each) for each in there.here.split())
    )


def called_here(method: str) -> str | None:
    """What a method of Stable-Baselines3's agents is called here; None if it is none of them."""
    there = NAMES.get(method)
    return there.here or None if there is not None and there in METHODS else None


def missing_attribute(agent: Any, name: str) -> AttributeError:
    """What is said of an attribute or method that an agent does not have."""
    kind, there = type(agent), NAMES.get(name)
    if there is None:
        return AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")
    if not there.here:
        words = there.words.replace("`", "")
        return AttributeError(f"There is no {name} here: {words}.")
    known = {*dir(kind), *vars(agent), *agent.remembered}
    return AttributeError(unknown(kind.__name__, name, known))


if __name__ == "__main__":
    print(as_markdown())

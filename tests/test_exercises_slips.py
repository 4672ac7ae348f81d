"""Answers that stand in no list of mistakes: edits of the reference, and what is said of them."""

import pytest
import torch

from helpers.checks import find, grade
from helpers.checks.edits import Edit, edited
from helpers.checks.running import expected

DRAW = "self.rng.integers(0, self.size, batch_size)"
LAYERS = "[layer for layer in network.modules() if isinstance(layer, nn.Linear)]"
ORTHOGONAL = "nn.init.orthogonal_(layer.weight, math.sqrt(2))"
NOT_PASSED_ON = "Begin with `super().reset(seed=seed)`"
LOSS, BACKWARD = "-(log_probs * weights).mean()", "loss.backward(retain_graph=True); return loss"
BY_Q1 = "-critic.q1(obs, action).mean()"
ERROR = "((values - targets) ** 2).mean()"
# The exercise, its edits (what stands there and what comes in its place), and part of the verdict.
SLIPS = [
    ("0.1", [("np.zeros(len(rewards))", "np.zeros_like(rewards)"), ("reversed(range(len(rewards)))",
      "range(len(rewards))")], "whole numbers"),  # beside looking into the past
    ("1.1", [("layers.append(", "layers.insert(0, nn.Dropout(0.3)); layers.append(")], "dropout"),
    ("1.1", [("(*layers)", "(*layers, nn.Dropout(0.3))")], "dropout"),
    ("1.4", [("layers.append(", "layers.insert(2, nn.Dropout(0.3)); layers.append(")], "dropout"),
    ("1.1", [("(*layers)", "(*layers, nn.Hardtanh(-100, 100))")], ""),
    ("1.4", [("(*layers)", "(*layers, nn.Hardtanh(-100, 100))")], ""),
    ("1.4", [("return nn.Sequential(*layers)", "network = nn.Sequential(*layers); network"
      ".register_forward_hook(lambda m, obs, values: values.squeeze()); return network")],
     "(2, 3)"),  # on a small batch
    ("1.3", [(f"return {LOSS}", "pass")], "no return"),
    ("1.3", [(f"return {LOSS}", f"loss = {LOSS}; {BACKWARD}")], "backward"),
    ("1.5", [(f"return {ERROR}", f"loss = {ERROR}; {BACKWARD}")], "backward"),
    ("1.11", [("actions - mean", "actions - mean.detach()")], "no gradient"),
    ("1.11", [("/ log_std.exp()", "/ log_std.exp().detach()"),
              ("- log_std -", "- log_std.detach() -")], "gradient to log_std"),
    *(("1.11", [("z = (", f"log_std = {limited}; z = (")], "") for limited in (
        "log_std.clamp(-5, 2)", "log_std.clamp(-10, 10)", "(log_std.exp() + 1e-6).log()",
        "log_std.exp().clamp(min=1e-3).log()")),
    ("1.10", [('"entropy": entropy}', '"entropy": entropies[0]}')],
     "The entropy returned after the update should be"),
    ("2.1", [("super().__init__()\n", "pass\n")], "has to begin with `super().__init__()`"),
    ("2.2", [("[obs, action]", "[obs[:, :1].expand_as(obs), action]")], ""),
    ("2.2", [("start_small(self.output)", "nn.init.uniform_(self.output.weight, -0.3, 0.3)")],
     "weights of the last layer not small"),
    ("2.2", [("self.hidden1 = nn.Linear(obs_size + action_dim, hidden)",
              "self.first = [nn.Linear(obs_size + action_dim, hidden)]"),
             ("self.hidden1(x)", "self.first[0](x)")], "some layers in a plain list"),
    ("2.2", [("start_small(self.output)",
              "start_small(self.output); self.norm = nn.LayerNorm(obs_size + action_dim)"),
             ("torch.cat([obs, action], dim=-1)", "self.norm(torch.cat([obs, action], dim=-1))")],
     "normalised layers"),
    ("2.6", [(DRAW, DRAW.replace("batch_size", "min(batch_size, self.size)"))],
     "no batch larger than the memory"),
    ("2.6", [(DRAW, DRAW.replace("self.size", "min(max(self.size, batch_size), self.capacity)"))],
     "no batch larger than the memory"),
    ("2.6", [(DRAW, f"{DRAW}; indices[0] = (self.position - 1) % self.capacity")],
     "some much more often than others"),
    ("2.6", [("(obs, action, reward,", "(obs, action, int(reward),")], "none of these"),
    ("2.6", [("# 1. Random", "raise NotImplementedError('exercise 2.6')  # 1. Random")],
     "`sample` still raises"),
    ("2.6", [(DRAW, "self.rng.randint(9)")], "rng.integers"),
    ("2.6", [("array[self.position] = part", "array.append(part)")], "An array keeps its length"),
    ("2.9", [("agent.actor_optimizer.step()", "pass"), ("agent.critic_optimizer.step()", "pass")],
     "or leave the steps out"),
    ("2.3", [("@torch.no_grad()\n", ""), ("(1 - batch.terminated) * ", "")], "no mask"),
    ("2.3", [("(1 - batch.terminated)", "~batch.terminated")], "subtract 0.0 and 1.0 from 1"),
    ("2.3", [("(1 - batch.terminated)", "(1 - (batch.terminated | batch.truncated))")],
     "`&` and `|` are for booleans"),  # for which torch raises NotImplementedError
    ("3.3", [("(1 - batch.terminated)", "~batch.terminated")],
     "these are numbers: subtract 0.0 and 1.0 from 1."),
    # Its outputs are those of two networks of which one is never asked: not so its layers.
    ("3.1", [("self.first = QNetwork(obs_size, action_dim, hidden)",
              "self.first = self.second = QNetwork(obs_size, action_dim)"),
             ("        self.second = QNetwork(obs_size, action_dim, hidden)\n", "")],
     "64 -> 1`. Compare the case below. Your version never uses `hidden`."),
    # Beside `.mean()` of `q` it is 0, as it is where the mean was subtracted.
    ("3.4", [(f"return {BY_Q1}",
              "q = critic.q1(obs, action); return (q - q.max().detach()).square().mean()")],
     "batch of one. Work out the case"),
    ("3.4", [("action = actor(obs)", "action = actor")],
     "A `SmallActor` is no tensor: did you mean what it returns?"),
    ("3.4", [("action = actor(obs)", "critic.zero_grad(); action = actor(obs)")],
     "changes stored gradients"),
    ("3.4", [(f"return {BY_Q1}", f"loss = {BY_Q1}; {BACKWARD}")], "changes stored gradients"),
    ("3.2", [("torch.as_tensor(rng.standard_normal(action.shape, dtype=np.float32))",
              "(torch.manual_seed(int(rng.integers(9))), torch.randn(action.shape))[1]")],
     "uses a shared stream"),
    # Noise that is alike because it was cut off is not one number.
    ("3.2", [("action.shape, ", "action.shape[1], "), ("* target_noise", "* noise_clip"),
             ("(-noise_clip, noise_clip)", "(-target_noise, target_noise)")],
     "one noise for all rows: "),
    ("3.5", [("agent.critic_optimizer.zero_grad()",
              "agent.critic_optimizer.zero_grad(); batch.reward.mul_(2)")], "parts of the batch"),
    # What values cannot show.
    ("4.6", [("while node > 1:", "for node in range(2 * self.first_leaf - 1, 1, -1):")],
     "computes the whole tree"),
    ("4.7", [("node = 1\n", "node, start = 1, prefix_sum\n"), ("return node - self.first_leaf",
      "return int(self.nodes[self.first_leaf:].cumsum()"
      ".searchsorted(min(start, np.nextafter(self.nodes[1], 0)), 'right'))")],
     "adds up the leaves"),
    ("4.7", [("return node", "self.nodes[0] = 9; return node")], "changes the tree"),
    ("4.1", [("allow_pickle=False", "allow_pickle=True")], "pickles allowed"),
    ("4.8", [("self.rng.random(batch_size)", "self.rng.random()")],
     "one random number for all ranges"),
    ("5.6", [("super().reset(seed=seed)", "super.reset(seed=seed)")], "`super` has to be called"),
    ("5.6", [("super().reset(seed=seed)", "super().reset()")], NOT_PASSED_ON),
    ("5.6", [("super().reset(seed=seed)", "pass")], NOT_PASSED_ON),
    ("6.5", [("- value).mean()", "- value).sum()")], "sum instead of mean"),
    ("6.5", [("torch.minimum(q1, q2)", "q1 + q2")], "by the sum of both"),
    ("7.3", [("order.tensor_split(parts)", "torch.split(order, parts)")],
     "cut by the size, given the number"),
    ("7.3", [("order.tensor_split(parts)", "np.split(order.numpy(), parts)")],
     "`np.array_split` cuts any number"),
    ("7.3", [("torch.from_numpy(rng.permutation(n_rows))", "torch.arange(n_rows).flip(0)")],
     "in order, backwards or shifted"),
    ("7.5", [("() - log_ratio)", "() - torch.log10(log_ratio.exp()))")], "`torch.log10`"),
    ("7.8", [(f"*hidden, output = {LAYERS}", "hidden, output = [*iter(network)], network")],
     "take all its layers, `.modules()`"),
    ("7.8", [(ORTHOGONAL, "layer.weight = nn.init.orthogonal_(torch.empty(layer.weight.shape))")],
     "Change weights and biases in place"),
    ("7.8", [("nn.init.zeros_(layer.bias)",
              "layer.bias.data = torch.zeros(layer.out_features + 1)")],
     "The result of `orthogonal_init` could not be used"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "edits", "says"), SLIPS)
def test_a_slip_has_its_verdict(number, edits, says):
    reference = find(number).reference
    result = grade(number, edited(reference, [Edit(*each) for each in edits], "an answer"))
    assert not result.passed
    assert says in f"{result.diagnosis}: {result}", str(result)
    assert "stand-in" not in result.message


@pytest.mark.parametrize("number", ["1.10", "2.8", "3.5", "4.12", "6.7", "7.4", "8.2"])
def test_each_loss_that_an_update_returns_is_compared(number):
    for seen in expected(find(number)).observations:
        for part, names in seen.items():
            if part.startswith("names of the losses returned"):
                after = part.removeprefix("names of the losses")
                assert all(seen[f"{name}{after}"].numeric for name in names.value.split(", "))


def test_a_bug_that_stands_in_changed_code_is_not_a_task_that_was_not_begun():
    exercise = find("2.9")
    given = edited(exercise.reference, exercise.mistakes[0].spellings[0], "as given")
    assert grade("2.9", given).status == "not started"
    again = Edit("agent.critic_optimizer.zero_grad()", "agent.critic_optimizer.zero_grad(); pass")
    changed = edited(exercise.reference, [*exercise.mistakes[0].spellings[0], again], "changed")
    result = grade("2.9", changed)
    assert result.status == "not mended"
    assert str(result).startswith("↻ 2.9 Find the bug: not yet\n  The bug is still there.")


def test_an_update_that_returns_nothing_may_return_something():
    last = Edit("agent.actor_optimizer.step()", "agent.actor_optimizer.step(); return loss")
    assert grade("2.9", edited(find("2.9").reference, [last], "an answer")).passed


def test_another_way_with_the_same_gradient_passes():
    def entropy_of_fixed_weights(logits):
        log_probs = torch.log_softmax(logits, dim=-1)
        return -(log_probs.exp() * log_probs.detach()).sum(dim=-1)

    assert grade("1.8", entropy_of_fixed_weights).passed

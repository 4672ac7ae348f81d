"""The demonstrations that lesson 04 learns from: `python -m tools.demos` (a quarter of a minute).

Lesson 02's DDPG learns Pendulum-v1, whose reward guides it, and then acts in both environments:
they share observations and actions, so that its policy works unchanged where the reward is sparse.
"""

from pathlib import Path

from helpers.demos import Demos, record_demos, save_demos
from helpers.evaluation import evaluate
from helpers.settings import get_setting

FOLDER = Path(__file__).resolve().parent.parent / "data" / "demos"
SHAPED, SPARSE = "Pendulum-v1", "SparsePendulum-v0"
NAMES = {SHAPED: "pendulum", SPARSE: "sparse_pendulum"}
EPISODES, START, AGENT_SEED = 5, 0, 0  # starts 0 to 4: no evaluation uses them

README = """\
# Demonstrations

Made by `python -m tools.demos`: lesson 02's DDPG with lesson 02's setting, seed {agent_seed},
trained on {shaped} for {steps:,} steps, then acting greedily. Episode i starts from
`reset(seed=i)`; seeds {first} to {last}.

| file | environment | returns of its episodes | steps | the same policy on 100 other starts |
| --- | --- | --- | --- | --- |
{rows}

Read them with `helpers.demos.load_demos`. Each file is a compressed `.npz`; its array `about` is
a text in JSON that says what it is, by whom and with which returns.
"""


def row(demos: Demos, agent) -> str:
    """One line of the table."""
    returns = ", ".join(f"{value:.0f}" for value in demos.returns)
    others = evaluate(agent, demos.env_id, episodes=100)
    spread = f"{others.mean:.1f} ± {others.std:.1f}, worst {others.returns.min():.1f}"
    name = NAMES[demos.env_id]
    return f"| `{name}.npz` | {demos.env_id} | {returns} | {len(demos):,} | {spread} |"


def main() -> None:
    setting = get_setting("ddpg", SHAPED)
    agent = setting.make(seed=AGENT_SEED).learn(setting.steps)
    maker = (
        f"lesson 02's DDPG after {setting.steps:,} steps in {SHAPED}, seed {AGENT_SEED}, acting "
        f"greedily from starts {START} to {START + EPISODES - 1} (python -m tools.demos)"
    )
    rows = []
    for env_id, name in NAMES.items():
        demos = record_demos(agent, env_id, EPISODES, START, maker)
        save_demos(FOLDER / f"{name}.npz", demos)
        rows.append(row(demos, agent))
        print(demos)
    text = README.format(
        agent_seed=AGENT_SEED,
        shaped=SHAPED,
        steps=setting.steps,
        first=START,
        last=START + EPISODES - 1,
        rows="\n".join(rows),
    )
    (FOLDER / "README.md").write_text(text)


if __name__ == "__main__":
    main()

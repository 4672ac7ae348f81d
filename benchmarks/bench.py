"""Time the course's code against other libraries, on this machine.

`python course.py bench ddpg --json data/results/bench.json`
"""

import datetime
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.measure import Benchmark, measure, table
from benchmarks.peers import installed
from benchmarks.report import RESULT, cpu, rows_before, write_report
from benchmarks.training import a2c, ddpg, ppo, sac, td3
from helpers.training.study import Parser, circumstances, save

BENCHMARKS: dict[str, Callable[[], Benchmark]] = {
    each.__name__: each for each in (td3, ddpg, sac, a2c, ppo)
}
SIZES = ("rounds", "steps")  # what a benchmark has and the command line may change


def bench(
    benchmarks: dict[str, Benchmark],
    rounds: int | None = None,
    steps: int | None = None,
    store: Callable[[list[dict]], None] = lambda rows: None,
) -> None:
    """Run and show one benchmark after another; `store` gets the rows of each as it is done."""
    show = partial(print, flush=True)
    for name, benchmark in benchmarks.items():
        turns, turn = rounds or benchmark.rounds, steps or benchmark.steps
        show(f"{name}: {benchmark.title}")
        show(f"  one core, in turns, {turn:,} at a time; rounds that count: {turns}")
        rows = measure(benchmark, turns, turn)
        show(table(rows), end="\n\n")
        when = datetime.datetime.now(datetime.UTC).date().isoformat()
        about = {"benchmark": name, "title": benchmark.title, "date": when, "cpu": cpu()}
        store([{**about, "rounds": turns, "steps": turn, **row} for row in rows])


def understood(options: Namespace) -> dict[str, Benchmark]:
    """The benchmarks that are asked for, by default all. Raises `ValueError` for what cannot be."""
    for name in options.names:
        if name not in BENCHMARKS:
            raise ValueError(f"Unknown benchmark '{name}'; there are: {', '.join(BENCHMARKS)}.")
    for name in SIZES:
        size = getattr(options, name)
        if size is not None and size < 1:
            raise ValueError(f"--{name} counts from 1, it cannot be {size}.")
    if options.json and not options.json.absolute().parent.is_dir():
        raise ValueError(f"There is no folder '{options.json.parent}' to write --json to.")
    return {name: BENCHMARKS[name]() for name in dict.fromkeys(options.names or BENCHMARKS)}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(
        prog="python course.py bench",
        description="Time the course's code against other libraries: medians over rounds in which "
        "the contenders take turns; 'as long' is how many times as long one takes as the course.",
    )
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(BENCHMARKS)}; or all")
    parser.add_argument("--rounds", type=int, help="how often each has its turn")
    parser.add_argument("--steps", type=int, help="how much work a turn is: steps, batches")
    parser.add_argument("--json", type=Path, metavar="FILE", help="a file for all rounds' results")
    parser.add_argument(
        "--report", action="store_true", help=f"keep them in {RESULT.name} and benchmarks/README.md"
    )
    options = parser.parse_args(arguments)
    try:
        benchmarks = understood(options)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    sizes = [f"--{name} {getattr(options, name)}" for name in SIZES if getattr(options, name)]
    command = " ".join(["python course.py bench", *benchmarks, *sizes, "--json FILE.json"])
    record = {"command": command, **circumstances(*installed()), "results": []}

    def store(rows: list[dict]) -> None:
        record["results"] += rows
        if options.json:
            save(options.json, record)
        if options.report:
            # What is not measured yet keeps its rows: this may be cut off before it comes to them.
            before = rows_before({row["benchmark"] for row in record["results"]})
            write_report(record | {"results": before + record["results"]}, list(BENCHMARKS))

    try:
        bench(benchmarks, options.rounds, options.steps, store)
    except KeyboardInterrupt:
        print("Stopped: what is finished is shown above.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

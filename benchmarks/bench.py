"""Time the course's code against other libraries, on this machine: `python course.py bench ddpg`"""

import datetime
import sys
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.measure import Benchmark, measure, table
from benchmarks.report import RESULT, cpu, write_report
from benchmarks.training import a2c, ddpg, ppo, sac, td3
from helpers.training.study import Parser

BENCHMARKS: dict[str, Callable[[], Benchmark]] = {
    each.__name__: each for each in (td3, ddpg, sac, a2c, ppo)
}


def bench(name: str, benchmark: Benchmark, rounds: int) -> list[dict]:
    """Run and show a benchmark; a row for each contender."""
    show, steps = partial(print, flush=True), benchmark.steps
    show(f"{name}: {benchmark.title}")
    show(f"  one core, in turns, {steps:,} at a time; rounds that count: {rounds}")
    rows = measure(benchmark, rounds)
    show(table(rows), end="\n\n")
    when = datetime.datetime.now(datetime.UTC).date().isoformat()
    about = {"benchmark": name, "title": benchmark.title, "date": when, "cpu": cpu()}
    return [{**about, "rounds": rounds, "steps": steps, **row} for row in rows]


def main(arguments: Sequence[str] | None = None) -> int:
    known = ", ".join(BENCHMARKS)
    parser = Parser(
        prog="python course.py bench",
        description="Time the course's code against other libraries: medians over rounds in which "
        "the contenders take turns; 'as long' is how many times as long one takes as the course.",
    )
    parser.add_argument("names", nargs="*", metavar="name", help=f"{known}; or all")
    parser.add_argument("--rounds", type=int, default=9, help="how often each has its turn")
    parser.add_argument(
        "--report", action="store_true", help=f"keep them in {RESULT.name} and benchmarks/README.md"
    )
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"unknown benchmark '{name}'; there are: {known}")
    if options.rounds < 1:
        parser.error(f"--rounds counts from 1, it cannot be {options.rounds}")
    try:
        for name in dict.fromkeys(options.names or BENCHMARKS):
            rows = bench(name, BENCHMARKS[name](), options.rounds)
            if options.report:
                write_report(rows, list(BENCHMARKS))
    except KeyboardInterrupt:
        print("Stopped: what is finished is shown above.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

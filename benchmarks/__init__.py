"""How fast the course's code is beside others' (`python course.py bench`).

`measure.py` takes turns and times, `bench.py` is the command with the list of benchmarks; every
other module holds benchmarks, each of them one function.
"""

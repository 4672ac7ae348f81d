"""Who handed in an assignment but has no graded notebook: `python ungraded.py 01_a2c`."""

import sys
from pathlib import Path

HERE, NAME = Path(__file__).parent, sys.argv[1]
for folder in sorted((HERE / "submitted").glob(f"*/{NAME}")):
    student = folder.parent.name
    if not (HERE / "autograded" / student / NAME / f"{NAME}.ipynb").exists():
        print(f"{student} handed in:", *sorted(path.name for path in folder.iterdir()))

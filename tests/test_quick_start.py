"""helpers/agents/quick_start.py: torch comes without the garbage collector; nobody notices."""

import subprocess
import sys

import pytest

SAY = "import gc; import helpers.agents; print(gc.isenabled(), gc.get_freeze_count() > 10_000)"


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("", "True True"),
        ("import torch;", "True False"),  # whoever has it already keeps all as it is
        ("import gc; gc.disable();", "False False"),
    ],
)
def test_torch_is_imported_without_the_collector(before, said):
    done = subprocess.run([sys.executable, "-c", before + SAY], capture_output=True, text=True)
    assert done.stdout.strip() == said, done.stderr


def test_the_collector_works_again_if_torch_cannot_be_imported():
    broken = "import sys; sys.modules['torch.version'] = None\ntry: import helpers.agents\n"
    broken += "except ImportError: import gc; print(gc.isenabled())"
    done = subprocess.run([sys.executable, "-c", broken], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr

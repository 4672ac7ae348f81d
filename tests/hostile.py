"""What makes a damaged, foreign or malicious file of a good agent's."""

import os
import pickle
import shutil
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

PENDULUM = "Pendulum-v1"
TINY = {"hidden": 4, "learning_starts": 5, "batch_size": 4, "buffer_size": 50, "seed": 0}


class Payload:
    """Unpickled without care, this leaves a file."""

    def __init__(self, ran: Path) -> None:
        self.ran = ran

    def __reduce__(self):
        return Path.touch, (self.ran,)


class Called:
    """As `Payload`, by a function of the builtins, which nothing need import."""

    def __init__(self, ran: Path) -> None:
        self.ran = ran

    def __reduce__(self):
        return exec, (f"open({str(self.ran)!r}, 'w')",)


class Stated:
    """Runs when its state is set."""

    def __init__(self, ran: Path) -> None:
        self.ran = ran

    def __reduce__(self):
        return torch.nn.Linear, (1, 1), {"forward": Payload(self.ran)}


class File:
    """A good agent's file for a test to change; `ran` must never appear."""

    def __init__(self, folder: Path, whole: bytes) -> None:
        self.path, self.ran, self.folder = folder / "agent.pt", folder / "ran", folder
        self.path.write_bytes(whole)

    def content(self) -> dict:
        return torch.load(self.path)

    def put(self, content: object) -> None:
        torch.save(content, self.path)

    def say(self, **changes: object) -> None:
        """Other entries."""
        self.put(self.content() | changes)

    def set(self, **changes: object) -> None:
        """Other hyperparameters."""
        self.say(hyperparameters=self.content()["hyperparameters"] | changes)

    def weights(self, change) -> None:
        """Another first layer of the actor."""
        content = self.content()
        state = content["state"]["actor"]
        name = next(iter(state))
        state[name] = change(state[name])
        self.put(content)

    def bytes(self, change) -> None:
        self.path.write_bytes(change(self.path.read_bytes()))

    def members(self, change, method: int = zipfile.ZIP_STORED) -> None:
        """A zip with other members: `change` gets and gives name -> bytes."""
        with zipfile.ZipFile(self.path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(self.path, "w", method) as archive:
            for name, data in change(members).items():
                archive.writestr(name, data)


def planted(kind):
    """Everything is in order, except for one value."""

    def damage(file: File) -> None:
        content = file.content()
        content["history"]["return"] = kind(file.ran)
        file.put(content)

    return damage


def pickle_for(name):
    """Another member of that name, in place of torch's."""

    def change(file: File) -> None:
        payload = pickle.dumps(Payload(file.ran))
        file.members(
            lambda members: {n: payload if n.endswith(name) else d for n, d in members.items()}
        )

    return change


def objects(file: File) -> None:
    """An array of objects that run code."""
    np.save(file.folder / "a.npy", np.array([Payload(file.ran)] * 3, dtype=object))
    shutil.move(file.folder / "a.npy", file.path)


def objects_in_npz(file: File) -> None:
    with open(file.path, "wb") as out:
        np.savez(out, format=np.array([Payload(file.ran)], dtype=object))


def script(file: File) -> None:
    """A TorchScript archive, which is a program."""
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), file.path)


def module_id(file: File) -> None:
    """An id that gymnasium would import a module for."""
    (file.folder / "evil_module.py").write_text(f"open({str(file.ran)!r}, 'w')")
    file.say(env_id="evil_module:Pendulum-v1")


def module_id_of_python(file: File) -> None:
    file.say(env_id="this:Pendulum-v1")


def laughs() -> list:
    """Ten lists of ten lists of ten ...: a few bytes that print as billions of words."""
    thing = ["ha"] * 10
    for _ in range(11):
        thing = [thing] * 10
    return thing


def ring() -> list:
    """A list that holds itself."""
    thing: list = []
    thing.append(thing)
    return thing


def nested(levels: int) -> list:
    thing: list = []
    for _ in range(levels):
        thing = [thing]
    return thing


def promise(data: bytes) -> bytes:
    """The zip's directory says that a member is a thousand times as large."""
    entry = data.index(b"PK\x01\x02")
    size = struct.unpack_from("<I", data, entry + 24)[0] * 1000 + 10**9
    return data[: entry + 20] + struct.pack("<II", size, size) + data[entry + 28 :]


def bomb(file: File) -> None:
    """Small, and 200 MB when it is unpacked."""
    file.members(
        lambda members: members | {"agent/data/99": bytes(200 * 2**20)}, zipfile.ZIP_DEFLATED
    )


def overlapping(file: File) -> None:
    """Hundreds of entries of the directory show the same bytes."""
    data = file.path.read_bytes()
    end = data.rindex(b"PK\x05\x06")
    start = data.index(b"PK\x01\x02")
    directory = data[start:end]
    largest = max(directory.split(b"PK\x01\x02")[1:], key=lambda e: struct.unpack_from("<I", e, 16))
    copies, name = [], largest[42 : 42 + struct.unpack_from("<H", largest, 24)[0]]
    for i in range(200):
        other = name[:-3] + f"{i:03}".encode()
        copies.append(b"PK\x01\x02" + largest.replace(name, other))
    more = b"".join(copies)
    count = len(directory.split(b"PK\x01\x02")) - 1 + 200
    tail = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(directory + more), start, 0)
    file.path.write_bytes(data[:start] + directory + more + tail)


def picture(file: File) -> None:
    shutil.copy(next(Path("data/pictures").glob("*.png")), file.path)


def fifo(file: File) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    file.path.unlink()
    os.mkfifo(file.path)


def folder(file: File) -> None:
    file.path.unlink()
    file.path.mkdir()


def cut(share: float):
    return lambda f: f.bytes(lambda data: data[: int(share * len(data))])


def without(name: str):
    def damage(file: File) -> None:
        content = file.content()
        del content[name]
        file.put(content)

    return damage


def optimizer(file: File) -> None:
    """NaN where the optimiser remembers gradients."""
    content = file.content()
    for moments in content["state"]["actor_optimizer"]["state"].values():
        for value in moments.values():
            if isinstance(value, torch.Tensor):
                value.fill_(torch.nan)
    file.put(content)


def stretched(tensor):
    """Billions of numbers that are all the same one."""
    return torch.zeros(1).expand(10**6, 10**6)


def many_times(file: File) -> None:
    """The weights of a wide layer are said to be there: one tensor, thousands of times."""
    file.set(hidden=20_000)
    content = file.content()
    content["state"]["more"] = [torch.zeros(500_000)] * 1000
    file.put(content)


def noise(**changes):
    return lambda f: f.set(
        noise={"kind": "OUNoise", "sigma": 0.2, "theta": 0.15, "dt": 1.0} | changes
    )

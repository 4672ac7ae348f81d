"""Arrays in a compressed `.npz`, written whole or not at all, read without trust.

`numpy.load(path, allow_pickle=False)` runs no code either, but it believes sizes: a file of a few
kilobytes can make it fill the memory. Here a caller says what it expects, and nothing is unpacked
before the headers promise just that.
"""

import zipfile
from collections.abc import Iterable
from math import prod
from pathlib import Path
from typing import Self

import numpy as np

from helpers.files import replaced_whole


def write_npz(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """What `numpy.savez_compressed` writes, without the time: the same bytes for the same arrays.

    Raises `ValueError` for an array of objects.
    """
    with replaced_whole(path) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w") as file:
                array = np.ascontiguousarray(array).reshape(array.shape)
                np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)


class NpzReader:
    """A `.npz` that must hold arrays of just these `names`, at most `max_bytes` in all.

        with NpzReader(path, ["obs", "reward"], 10**6) as file:
            obs = file.read("obs", (100, 3), np.dtype("<f4"))

    Raises `ValueError` for another content, and what `zipfile` raises for a file that is not a zip.
    """

    def __init__(self, path: Path, names: Iterable[str], max_bytes: int) -> None:
        if not path.is_file():
            raise ValueError("it is not a file")
        if path.stat().st_size > max_bytes:
            raise ValueError(f"it is larger than {max_bytes // 2**20} MB")
        self.archive = zipfile.ZipFile(path)
        try:
            self.members = self._members({f"{name}.npy" for name in names}, max_bytes)
        except BaseException:
            self.archive.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self.archive.close()

    def _members(self, expected: set[str], max_bytes: int) -> dict[str, zipfile.ZipInfo]:
        found = self.archive.infolist()
        if len(found) != len(expected) or {member.filename for member in found} != expected:
            raise ValueError("it holds other arrays than such a file does")
        if sum(member.file_size for member in found) > max_bytes:
            raise ValueError(f"unpacked it would be larger than {max_bytes // 2**20} MB")
        for member in found:
            # A method such as LZMA may ask for any amount of memory; bit 0 means encrypted.
            known = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            if not known or member.flag_bits & 1:
                raise ValueError("it is packed in another way than numpy packs")
        return {member.filename.removesuffix(".npy"): member for member in found}

    def read_text(self, name: str, max_bytes: int) -> str:
        """The text that an array without dimensions holds."""
        if self.members[name].file_size > max_bytes:
            raise ValueError(f"{name} is too long")
        return self.read(name, (), None).item()

    def read(self, name: str, shape: tuple[int, ...], dtype: np.dtype | None) -> np.ndarray:
        """The array `name`, which must have this shape and type; None: it must be a text."""
        member = self.members[name]
        # zipfile unpacks no more than file_size bytes, whatever is packed.
        with self.archive.open(member) as file:
            if np.lib.format.read_magic(file) != (1, 0):
                raise ValueError(f"{name} is in another version of numpy's format")
            found, fortran, kind = np.lib.format.read_array_header_1_0(file)
            if (kind.kind != "U") if dtype is None else (kind != dtype):
                raise ValueError(f"{name} holds {kind.name}, not {dtype or 'text'}")
            if found != shape or (fortran and len(shape) > 1):
                raise ValueError(f"{name} has another shape than {shape}")
            size = prod(shape) * kind.itemsize
            if size != member.file_size - file.tell():
                raise ValueError(f"{name} is not as long as it says")
            data = bytearray(file.read(size))
        if len(data) != size:
            raise ValueError(f"{name} is cut short")
        if kind.kind == "b" and set(bytes(data)) - {0, 1}:
            raise ValueError(f"{name} holds other things than True and False")
        return np.frombuffer(data, kind).reshape(shape)

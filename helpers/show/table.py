"""A small table on a notebook's page: HTML there, aligned text anywhere else."""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Table:
    """`rows` of cells below `heads`; the cells at `marked`, (row, column), are set in bold.

    Columns of numbers are aligned to the right, others to the left. The floats of a column, from
    the second on, have as many decimals as the largest needs for three digits. `caption` stands
    below. All numbers have a real minus, and commas between thousands.
    """

    heads: Sequence[object]
    rows: Sequence[Sequence[object]]
    caption: str = ""
    marked: Collection[tuple[int, int]] = ()

    def __str__(self) -> str:
        columns = [
            [f"{cell:{'<' if side == 'left' else '>'}{max(map(len, cells))}}" for cell in cells]
            for cells, side in self._columns()
        ]
        lines = ["   ".join(row).rstrip() for row in zip(*columns, strict=True)]
        return "\n".join([*lines, _typeset(self.caption)] if self.caption else lines)

    def _repr_html_(self) -> str:
        columns = [
            [self._cell(row, column, side, text) for row, text in enumerate(cells, start=-1)]
            for column, (cells, side) in enumerate(self._columns())
        ]
        head, *rows = (f"<tr>{''.join(row)}</tr>" for row in zip(*columns, strict=True))
        caption = escape(_typeset(self.caption))
        below = f"<p style='opacity: .8'>{caption}</p>" if caption else ""
        return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>{below}"

    def _cell(self, row: int, column: int, side: str, text: str) -> str:
        tag, text = "td" if row >= 0 else "th", escape(text)
        text = f"<b>{text}</b>" if (row, column) in self.marked else text
        return f"<{tag} style='text-align: {side}'>{text}</{tag}>"

    def _columns(self) -> Iterator[tuple[list[str], str]]:
        """Of each column its head and its cells, as they are written, and its side."""
        for column, (head, *cells) in enumerate(zip(self.heads, *self.rows, strict=True)):
            texts = [_typeset(str(cell)) for cell in (_rounded(cells) if column else cells)]
            numbers = all(re.match(r"[\d−]|$", text) for text in texts)
            yield [str(head), *texts], "right" if numbers else "left"


def _rounded(cells: Sequence[object]) -> list[object]:
    """Floats with as many decimals as the largest needs for three digits; all else as it is."""
    sizes = [abs(cell) for cell in cells if isinstance(cell, float) and 0 < abs(cell) < math.inf]
    decimals = max(0, 2 - math.floor(math.log10(max(sizes, default=100))))
    return [f"{round(c, decimals) + 0:.{decimals}f}" if isinstance(c, float) else c for c in cells]


def _typeset(text: str) -> str:
    """The text with commas between thousands and a real minus before numbers."""
    text = re.sub(r"(?<![\w.])[1-9]\d{3,}", lambda digits: f"{int(digits[0]):,}", text)
    return re.sub(r"(?<!\w)-(?=\d)", "−", text)

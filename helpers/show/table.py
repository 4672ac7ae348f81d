"""A small table on a notebook's page: HTML there, aligned text anywhere else."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from html import escape


@dataclass(frozen=True)
class Table:
    """`rows` of cells below `heads`; the cells at `marked`, (row, column), are set in bold.

    The first column is aligned to the left, all others to the right. `caption` stands below.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""
    marked: Collection[tuple[int, int]] = field(default=())

    def __str__(self) -> str:
        cells = [[str(cell) for cell in row] for row in (self.heads, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "   ".join(
                f"{cell:{'<' if column == 0 else '>'}{width}}"
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in cells
        ]
        return "\n".join([*lines, self.caption] if self.caption else lines)

    def _repr_html_(self) -> str:
        head = "".join(self._cell("th", column, text) for column, text in enumerate(self.heads))
        body = "".join(
            "<tr>"
            + "".join(
                self._cell("td", column, text, (number, column) in self.marked)
                for column, text in enumerate(row)
            )
            + "</tr>"
            for number, row in enumerate(self.rows)
        )
        below = f"<p style='opacity: .8'>{escape(self.caption)}</p>" if self.caption else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"

    @staticmethod
    def _cell(tag: str, column: int, text: object, bold: bool = False) -> str:
        side = "left" if column == 0 else "right"
        words = f"<b>{escape(str(text))}</b>" if bold else escape(str(text))
        return f"<{tag} style='text-align: {side}'>{words}</{tag}>"

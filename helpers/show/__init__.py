"""What appears on a notebook's page: curves, figures, videos, tables, and what moves by hand."""

from helpers.show import figures
from helpers.show.driving import drive
from helpers.show.plotting import LiveCurves, band, label, new_figure, show
from helpers.show.structures import structures_table
from helpers.show.table import Table
from helpers.show.trying import try_it
from helpers.show.video import Video, record, side_by_side
from helpers.show.watching import live

__all__ = [
    "LiveCurves", "Table", "Video", "band", "drive", "figures", "label", "live", "new_figure",
    "record", "show", "side_by_side", "structures_table", "try_it",
]  # fmt: skip

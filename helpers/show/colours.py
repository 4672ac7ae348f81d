"""The colours of all figures, and their dashes."""

from matplotlib.colors import LinearSegmentedColormap

# The colour-blind-safe palette of Okabe and Ito (2008), most distinct first.
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
VERMILLION, PURPLE, SKY = "#D55E00", "#CC79A7", "#56B4E9"
COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY)
# For text on white, where the palette's own are too light to read (a contrast under 4.5).
DARK = {
    ORANGE: "#8F6200",
    GREEN: "#00704F",
    VERMILLION: "#B85100",
    PURPLE: "#A8527F",
    SKY: "#1B75A8",
}
INK, GREY, GRID = "#24292F", "#6E7781", "#E6E8EB"
FAINT = "#C4C9CF"  # of axes
FRAME = "#D0D7DE"  # around a picture
DIVERGING = LinearSegmentedColormap.from_list("torque", ["#5B3A8E", "#FFFFFF", VERMILLION])
DASHES, SHORT = (0, (5, 3)), (0, (3, 1.6))

from . import distribution_chart as distribution_chart, drawing as drawing
from .chart import Chart as Chart
from .distribution_chart import Values as Values
from .drawing import GRID as GRID, INK as INK, MUTED as MUTED, PALETTE as PALETTE, Spec as Spec

from . import folder as folder
from .charts import Chart as Chart
from .folder import write_comparison as write_comparison
from .notebook import (
    PlotKind as PlotKind,
    html_of as html_of,
    plot_of as plot_of,
    table_html as table_html,
    text_of as text_of,
)

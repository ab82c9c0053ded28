from .charts import Chart as Chart
from .notebook import (
    PlotKind as PlotKind,
    html_of as html_of,
    plot_of as plot_of,
    table_html as table_html,
    text_of as text_of,
)
from .run_reports import (
    full_name as full_name,
    report_formats as report_formats,
    write_comparison as write_comparison,
    write_reports as write_reports,
)
from .text import said as said

from .run_reports import (
    html_of as html_of,
    plot_of as plot_of,
    text_of as text_of,
    write_comparison as write_comparison,
    write_reports as write_reports,
)
from .text.wording import said as said

from . import pages as pages
from .browse import (
    Limits as Limits,
    details_of as details_of,
    headline as headline,
    script_json as script_json,
)
from .pages import (
    ASSETS as ASSETS,
    comparison_parts as comparison_parts,
    environment as environment,
    extents as extents,
    report_parts as report_parts,
    write_page as write_page,
)
from .query_browser import metric_entry as metric_entry, tag as tag

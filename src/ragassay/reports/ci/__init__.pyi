from . import github_workflow as github_workflow
from .badge import (
    write_badge as write_badge,
    write_badge_of_comparison as write_badge_of_comparison,
)
from .junit_xml import (
    lack_of as lack_of,
    worst_rows as worst_rows,
    write_junit as write_junit,
    write_junit_of_comparisons as write_junit_of_comparisons,
)

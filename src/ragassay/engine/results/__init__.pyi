from . import fingerprint as fingerprint
from .attribution import (
    Given as Given,
    given_of as given_of,
    judges_of as judges_of,
    mixed as mixed,
    names_in as names_in,
)
from .clustering import (
    CONVERSATION_KEYS as CONVERSATION_KEYS,
    IN_CLUSTER as IN_CLUSTER,
    NO_CLUSTERS as NO_CLUSTERS,
    cluster_column as cluster_column,
    cluster_of as cluster_of,
    conversations_of_ids as conversations_of_ids,
    named_conversation as named_conversation,
)
from .comparison_result import (
    Comparison as Comparison,
    Difference as Difference,
    Standing as Standing,
)
from .data_language import DataLanguage as DataLanguage
from .folders import (
    NUGGETS as NUGGETS,
    ORE as ORE,
    RUBRICS as RUBRICS,
    RUN as RUN,
    SAMPLES as SAMPLES,
    SCORES as SCORES,
    SUMMARY as SUMMARY,
    VERDICTS as VERDICTS,
    FolderWriter as FolderWriter,
    ReportFormat as ReportFormat,
    ResultSink as ResultSink,
    check_consistency as check_consistency,
    holds_consistency as holds_consistency,
    open_run as open_run,
    report_files as report_files,
    save_run as save_run,
)
from .gate_result import GateResult as GateResult
from .result import CONSISTENCY as CONSISTENCY, Result as Result
from .score_columns import ScoreColumns as ScoreColumns
from .score_rows import (
    ROW_FIELDS as ROW_FIELDS,
    Rows as Rows,
    ScoreRow as ScoreRow,
    by_sample as by_sample,
    with_samples as with_samples,
)
from .shown_names import shown as shown
from .slicing import Slicer as Slicer
from .summarising import (
    GEOMETRIC_FLOOR as GEOMETRIC_FLOOR,
    IntervalOptions as IntervalOptions,
    averaged_over as averaged_over,
    count_incomplete as count_incomplete,
    crowded as crowded,
    cut as cut,
    describe as describe,
    interval_of as interval_of,
    lacks_no_sample as lacks_no_sample,
    largest_of_uneven as largest_of_uneven,
    plain as plain,
    sample_clusters as sample_clusters,
    slice_summaries as slice_summaries,
    summarise as summarise,
    totals as totals,
)
from .summary import (
    Displayed as Displayed,
    MetricSummary as MetricSummary,
    Slice as Slice,
    Spending as Spending,
    Summary as Summary,
    all_failed as all_failed,
    is_incomplete as is_incomplete,
    missing_by_accident as missing_by_accident,
)
from .verdicts import (
    KeptVerdicts as KeptVerdicts,
    Record as Record,
    VerdictFile as VerdictFile,
    Verdicts as Verdicts,
)

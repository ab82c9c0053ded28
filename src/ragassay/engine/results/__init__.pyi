from . import fingerprint as fingerprint
from .attribution import (
    Given as Given,
    given_of as given_of,
    judges_of as judges_of,
    mixed as mixed,
    names_in as names_in,
)
from .result import (
    CONSISTENCY as CONSISTENCY,
    ROW_FIELDS as ROW_FIELDS,
    Result as Result,
    ScoreColumns as ScoreColumns,
    ScoreRow as ScoreRow,
)
from .result_sink import ResultSink as ResultSink
from .run_folder import (
    IN_CLUSTER as IN_CLUSTER,
    NO_CLUSTERS as NO_CLUSTERS,
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
    check_consistency as check_consistency,
    cluster_column as cluster_column,
    cluster_of as cluster_of,
    holds_consistency as holds_consistency,
    open_run as open_run,
    report_files as report_files,
    save_run as save_run,
)
from .score_rows import (
    Rows as Rows,
    by_sample as by_sample,
    with_samples as with_samples,
)
from .shown_names import shown as shown
from .slicing import (
    CONVERSATION_KEYS as CONVERSATION_KEYS,
    Slicer as Slicer,
    conversations_of_ids as conversations_of_ids,
    named_conversation as named_conversation,
)
from .summarising import (
    GEOMETRIC_FLOOR as GEOMETRIC_FLOOR,
    IntervalOptions as IntervalOptions,
    averaged_over as averaged_over,
    count_incomplete as count_incomplete,
    cut as cut,
    describe as describe,
    interval_of as interval_of,
    lacks_no_sample as lacks_no_sample,
    plain as plain,
    sample_clusters as sample_clusters,
    slice_summaries as slice_summaries,
    summarise as summarise,
    totals as totals,
)
from .summary import (
    Comparison as Comparison,
    Difference as Difference,
    Displayed as Displayed,
    GateResult as GateResult,
    MetricSummary as MetricSummary,
    Slice as Slice,
    Spending as Spending,
    Standing as Standing,
    Summary as Summary,
    all_failed as all_failed,
    missing_by_accident as missing_by_accident,
)
from .verdicts import (
    KeptVerdicts as KeptVerdicts,
    Record as Record,
    VerdictFile as VerdictFile,
    Verdicts as Verdicts,
)

from . import native as native
from .benchmarks import (
    METRICS_RULE as METRICS_RULE,
    Record as Record,
    Tasks as Tasks,
    extended as extended,
    mlcube as mlcube,
)
from .format import (
    NO as NO,
    SURE as SURE,
    Format as Format,
    Head as Head,
    all_formats as all_formats,
    get as get,
)
from .native import packed as packed, schema as schema, to_record as to_record, write as write
from .nugget_bank_file import (
    Importance as Importance,
    Nugget as Nugget,
    NuggetBank as NuggetBank,
    QueryNuggets as QueryNuggets,
)
from .placement import Placement as Placement, PlacingMapper as PlacingMapper, place as place
from .question_files import (
    Questions as Questions,
    SourceColumns as SourceColumns,
    columns_of_data as columns_of_data,
    source_columns as source_columns,
)
from .reading import (
    Paths as Paths,
    detect as detect,
    files_of as files_of,
    from_records as from_records,
    load as load,
    map_records as map_records,
    read as read,
)
from .records import (
    BY_FLAGS as BY_FLAGS,
    FIELD_OF as FIELD_OF,
    FIRST_TIME as FIRST_TIME,
    LAST_TIME as LAST_TIME,
    LISTS as LISTS,
    Columns as Columns,
    FieldKeys as FieldKeys,
    Mapper as Mapper,
    MapperOptions as MapperOptions,
    Notes as Notes,
    OptionWords as OptionWords,
    aliases as aliases,
    answer_values as answer_values,
    are_names as are_names,
    canonical as canonical,
    field_values as field_values,
    folded as folded,
    passages as passages,
    timestamp as timestamp,
    with_earlier_turns as with_earlier_turns,
)
from .sources import (
    Row as Row,
    delimited as delimited,
    encodings as encodings,
    json_files as json_files,
    kind as kind,
    opening as opening,
    standard_input as standard_input,
    workbooks as workbooks,
)
from .trec import (
    Moments as Moments,
    Qrels as Qrels,
    qrels_and_runs as qrels_and_runs,
    read_scales as read_scales,
    trec_preferences as trec_preferences,
    trec_run as trec_run,
)

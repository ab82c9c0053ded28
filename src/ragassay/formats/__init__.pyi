from . import (
    mlcube as mlcube,
    native as native,
    trec_files as trec_files,
    trec_judgements as trec_judgements,
)
from .format import NO as NO, SURE as SURE, Format as Format, Head as Head
from .mtrag_records import Record as Record, Tasks as Tasks, extended as extended
from .native import packed as packed, schema as schema, to_record as to_record, write as write
from .nugget_bank_file import (
    Importance as Importance,
    Nugget as Nugget,
    NuggetBank as NuggetBank,
    QueryNuggets as QueryNuggets,
)
from .reading import (
    detect as detect,
    from_records as from_records,
    get as get,
    known as known,
    load as load,
    map_records as map_records,
    read as read,
)
from .records import (
    FIELD_OF as FIELD_OF,
    FIRST_TIME as FIRST_TIME,
    LAST_TIME as LAST_TIME,
    FieldKeys as FieldKeys,
    Mapper as Mapper,
    MapperOptions as MapperOptions,
    Notes as Notes,
    OptionWords as OptionWords,
    Row as Row,
    aliases as aliases,
    answer_values as answer_values,
    delimited as delimited,
    expected_answers as expected_answers,
    folded as folded,
    joined as joined,
    kind as kind,
    opening as opening,
    passages as passages,
    timestamp as timestamp,
)
from .trec_judgements import Moments as Moments, read_scales as read_scales
from .trec_run import Qrels as Qrels

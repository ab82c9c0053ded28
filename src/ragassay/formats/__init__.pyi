from . import (
    aliases as aliases,
    delimited as delimited,
    expected_answers as expected_answers,
    mlcube as mlcube,
    native as native,
    opening as opening,
    trec_files as trec_files,
    trec_judgements as trec_judgements,
)
from .aliases import FIELD_OF as FIELD_OF, folded as folded
from .delimited import Row as Row
from .expected_answers import joined as joined
from .field_values import timestamp as timestamp
from .format import NO as NO, SURE as SURE, Format as Format, Head as Head
from .kinds import kind as kind
from .mtrag_records import Record as Record, Tasks as Tasks, extended as extended
from .native import packed as packed, schema as schema, to_record as to_record, write as write
from .notes import Notes as Notes
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
    read as read,
)
from .sample_records import Mapper as Mapper
from .trec_judgements import Scale as Scale, read_scales as read_scales
from .trec_run import Qrels as Qrels

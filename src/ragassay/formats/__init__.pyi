from . import native as native
from .column_placement import (
    Held as Held,
    Placement as Placement,
    columns_of_data as columns_of_data,
    place as place,
    source_columns as source_columns,
)
from .format import NO as NO, SURE as SURE, Format as Format, Head as Head
from .format_words import BY_FLAGS as BY_FLAGS, OptionWords as OptionWords, kind as kind
from .joined_references import Questions as Questions
from .native import schema as schema, to_record as to_record
from .nugget_bank_file import NuggetBank as NuggetBank
from .reading import (
    all_formats as all_formats,
    detect as detect,
    files_of as files_of,
    from_records as from_records,
    get as get,
    head as head,
    load as load,
    read as read,
    share_traces as share_traces,
)
from .records import (
    answers_and_turns as answers_and_turns,
    field_values as field_values,
    passages as passages,
)
from .records.chosen_columns import Columns as Columns
from .records.field_names import folded as folded
from .records.sample_records import Mapper as Mapper, MapperOptions as MapperOptions, Notes as Notes
from .records.step_contents import are_names as are_names
from .sources import opening as opening

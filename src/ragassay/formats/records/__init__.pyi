from . import (
    aliases as aliases,
    answer_values as answer_values,
    field_values as field_values,
    messages as messages,
    passages as passages,
    retrieved as retrieved,
)
from .aliases import (
    ALIKE as ALIKE,
    FIELD_OF as FIELD_OF,
    SUBSTANCE as SUBSTANCE,
    FieldKeys as FieldKeys,
    clear_keys as clear_keys,
    folded as folded,
    likeness as likeness,
    names_of as names_of,
    pick as pick,
)
from .chosen_columns import (
    LIST_FIELDS as LIST_FIELDS,
    ChosenColumns as ChosenColumns,
    Columns as Columns,
    canonical as canonical,
)
from .field_values import (
    FIRST_TIME as FIRST_TIME,
    LAST_TIME as LAST_TIME,
    folded_text as folded_text,
    timestamp as timestamp,
)
from .identities import has_made_id as has_made_id
from .notes import Notes as Notes
from .option_words import BY_FLAGS as BY_FLAGS, OptionWords as OptionWords
from .retrieved import LISTS as LISTS, are_names as are_names, unpacked as unpacked
from .sample_records import (
    Mapper as Mapper,
    MapperOptions as MapperOptions,
    Record as Record,
)
from .texts_within import (
    all_texts as all_texts,
    is_list_of_texts as is_list_of_texts,
    text_paths as text_paths,
    unread as unread,
)

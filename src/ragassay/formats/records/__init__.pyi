from . import aliases as aliases
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
from .identities import has_made_id as has_made_id
from .notes import Notes as Notes
from .option_words import BY_FLAGS as BY_FLAGS, OptionWords as OptionWords
from .sample_records import (
    Mapper as Mapper,
    MapperOptions as MapperOptions,
    Record as Record,
)
from .sessions import with_earlier_turns as with_earlier_turns
from .texts_within import (
    all_texts as all_texts,
    is_list_of_texts as is_list_of_texts,
    text_paths as text_paths,
    unread as unread,
)
from .values import (
    FIRST_TIME as FIRST_TIME,
    LAST_TIME as LAST_TIME,
    LISTS as LISTS,
    answer_values as answer_values,
    are_names as are_names,
    field_values as field_values,
    folded_text as folded_text,
    messages as messages,
    passages as passages,
    retrieved as retrieved,
    timestamp as timestamp,
    unpacked as unpacked,
)

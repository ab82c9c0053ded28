from .document_names import DocumentNames as DocumentNames, same_document as same_document
from .languages import (
    code_of as code_of,
    held as held,
    language_in as language_in,
    language_of as language_of,
    likely_languages as likely_languages,
    listed as listed,
    stated_language as stated_language,
    without_yes_or_no as without_yes_or_no,
    word_lists as word_lists,
)
from .numbers import SIGNS as SIGNS, folded as folded, numerals as numerals
from .porter_stems import porter_stem as porter_stem
from .scripts import CHARACTERS as CHARACTERS, UNSPACED as UNSPACED
from .sentence_cutting import (
    begins_sentence as begins_sentence,
    ends_sentence as ends_sentence,
    sentences as sentences,
)
from .word_cutting import stemmed as stemmed, words as words

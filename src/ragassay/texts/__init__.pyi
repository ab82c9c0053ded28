from .languages import (
    code_of as code_of,
    language_of as language_of,
    without_yes_or_no as without_yes_or_no,
    word_lists as word_lists,
)
from .word_cutting import stemmed as stemmed, words as words

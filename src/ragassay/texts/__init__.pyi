from .sentence_cutting import sentences as sentences
from .word_cutting import porter_stem as porter_stem

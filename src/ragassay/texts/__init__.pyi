from .word_cutting import porter_stem as porter_stem
from .sentence_cutting import sentences as sentences

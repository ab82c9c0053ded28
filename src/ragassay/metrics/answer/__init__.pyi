from . import text as text
from .answer_match import (
    AnswerMatches as AnswerMatches,
    accepted as accepted,
    blank_references as blank_references,
    with_prompt as with_prompt,
)
from .bertscore import (
    EMPTY as EMPTY,
    MODEL as MODEL,
    RESCALE as RESCALE,
    BertScoring as BertScoring,
    EncoderMetric as EncoderMetric,
    OnScale as OnScale,
    against_references as against_references,
    bertscores as bertscores,
    cut_note as cut_note,
    grouped as grouped,
)
from .bleu import corpus_bleu as corpus_bleu, sentence_bleu as sentence_bleu
from .no_answer import Answered as Answered, NoAnswer as NoAnswer
from .references import (
    ReferencedAnswer as ReferencedAnswer,
    ReferenceMetric as ReferenceMetric,
    plain as plain,
    tokeniser as tokeniser,
)
from .rouge_metrics import (
    MEASURES as MEASURES,
    PARTS as PARTS,
    PRF as PRF,
    Compared as Compared,
    Measure as Measure,
    compare as compare,
    compared as compared,
    overlap as overlap,
    rouge as rouge,
)
from .text import (
    bare_words as bare_words,
    encode as encode,
    rouge_tokens as rouge_tokens,
    squad_normal as squad_normal,
)

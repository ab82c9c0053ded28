from .baselines import Baseline as Baseline, baseline as baseline, has_baseline as has_baseline
from .encoder import Encoder as Encoder
from .layers import RECOMMENDED as RECOMMENDED, layer_for as layer_for
from .loading import load_encoder as load_encoder, tokenizer_of as tokenizer_of
from .memory import ByteCache as ByteCache, text_key as text_key
from .model_reading import ReadTexts as ReadTexts
from .tensors import tensors_of as tensors_of
from .token_matching import Idf as Idf, Pair as Pair, TokenMatch as TokenMatch, compare as compare
from .token_rows import padded as padded
from .word_vectors import WordVectors as WordVectors

from .anchoring import anchor as anchor
from .golden_folder import QUERIES as QUERIES, schema as schema
from .golden_join import joined as joined

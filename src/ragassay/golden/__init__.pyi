from .alignment import Anchored as Anchored, ChunkAligner as ChunkAligner, anchor as anchor
from .document_readers import Heading as Heading
from .documents import (
    COPY as COPY,
    Document as Document,
    load_documents as load_documents,
    names_of as names_of,
    readable_documents as readable_documents,
)
from .exchange import (
    EXPORTS as EXPORTS,
    Placing as Placing,
    export_format as export_format,
    exported as exported,
    imported as imported,
    left_out as left_out,
    without_records as without_records,
)
from .golden_card import change_card as change_card
from .golden_diff import (
    Change as Change,
    difference as difference,
    differing as differing,
    excerpt as excerpt,
)
from .golden_folder import (
    DOCUMENTS as DOCUMENTS,
    MANIFEST as MANIFEST,
    QUERIES as QUERIES,
    GoldenSet as GoldenSet,
    alone as alone,
    check_output as check_output,
    is_golden as is_golden,
    json_value as json_value,
    relative_folder as relative_folder,
    schema as schema,
    with_contexts as with_contexts,
)
from .golden_item import (
    GoldenItem as GoldenItem,
    GoldSpan as GoldSpan,
    NegativeReference as NegativeReference,
    Status as Status,
    Utterance as Utterance,
    nearly as nearly,
    negatives_in as negatives_in,
    tags_in as tags_in,
    unplaced as unplaced,
    wrong_record as wrong_record,
)
from .golden_join import (
    drafts_left_out as drafts_left_out,
    joined as joined,
    misplaced as misplaced,
)
from .golden_sampling import (
    furthest as furthest,
    sampled as sampled,
    shared_out as shared_out,
    split as split,
)

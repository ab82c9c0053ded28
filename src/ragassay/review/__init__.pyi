from .answer_labels import AnswerLabels as AnswerLabels
from .label_calibration import CALIBRATION as CALIBRATION
from .label_log import LABELS as LABELS, LabelLog as LabelLog
from .label_sheets import (
    read_label_sheet as read_label_sheet,
    write_label_sheet as write_label_sheet,
)
from .review_agreement import (
    Agreement as Agreement,
    agreement as agreement,
    disagreements as disagreements,
    label_agreement as label_agreement,
    label_disagreements as label_disagreements,
    save_adjudication as save_adjudication,
    tell_card as tell_card,
)
from .review_editing import EDITABLE as EDITABLE
from .review_log import Decision as Decision, Review as Review, Standing as Standing
from .review_page import create_review_app as create_review_app
from .review_settings import ReviewSettings as ReviewSettings
from .review_sheets import read_sheet as read_sheet, write_sheet as write_sheet
from .review_store import (
    ReviewConflictError as ReviewConflictError,
    ReviewStore as ReviewStore,
    version_of as version_of,
)

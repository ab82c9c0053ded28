from . import ledger_admin as ledger_admin
from .ledger_admin import Row as Row, Stats as Stats, SystemRow as SystemRow
from .ledger_file import MEMORY as MEMORY
from .ledger_selection import Selection as Selection
from .store import (
    DEFAULT as DEFAULT,
    PROVENANCE as PROVENANCE,
    Entry as Entry,
    Ledger as Ledger,
    is_there as is_there,
)
from .system_answers import KeptFailure as KeptFailure, SystemAnswers as SystemAnswers
from .vectors import KIND as KIND, Paid as Paid, VectorStore as VectorStore

from . import (
    consistency_csv as consistency_csv,
    consistency_table as consistency_table,
    ore_files as ore_files,
    ragreport_csv as ragreport_csv,
    tables as tables,
    trecrag_csv as trecrag_csv,
    workbook as workbook,
)
from .ore_values import (
    COLUMNS as COLUMNS,
    NUMBERS as NUMBERS,
    SpecValues as SpecValues,
    judged_rows as judged_rows,
)
from .rows_by_sample import (
    consistency_of as consistency_of,
    run_numbers as run_numbers,
)
from .trecrag_csv import write_trecrag as write_trecrag
from .workbook import write_workbook as write_workbook

from . import mlcube as mlcube
from .mtrag_records import Record as Record, Tasks as Tasks, extended as extended

from .replay import Replay as Replay, vote_of as vote_of
from .replay_file import label_of as label_of
from .verdict_records import about_of as about_of, short as short, to_record as to_record

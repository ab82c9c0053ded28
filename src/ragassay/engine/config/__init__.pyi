from .config_file import SAMPLING as SAMPLING, ConfigFile as ConfigFile
from .config_paths import (
    found_from as found_from,
    make_absolute as make_absolute,
    make_relative as make_relative,
    named_files as named_files,
)
from .config_reading import read_config as read_config
from .environment import (
    is_for_a_key as is_for_a_key,
    read_filled as read_filled,
    variable_of as variable_of,
)
from .judging import OWN as OWN, POOLED as POOLED, Judging as Judging
from .metric_selection import (
    MetricSelection as MetricSelection,
    make_plan as make_plan,
    own_metrics as own_metrics,
    published_names as published_names,
    with_options as with_options,
)
from .option import Option as Option, options_of as options_of
from .parameters import iso_time as iso_time
from .run_config import (
    GROUPS as GROUPS,
    RunConfig as RunConfig,
    make_config as make_config,
    sampling_key as sampling_key,
)
from .saved_mapping import save_mapping as save_mapping

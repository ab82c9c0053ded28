from .suite import (
    Suite as Suite,
    advice_on as advice_on,
    aliases_of as aliases_of,
    all_suites as all_suites,
    every_alias as every_alias,
    general_aliases as general_aliases,
    get as get,
    metrics_by_name as metrics_by_name,
    our_names as our_names,
    peer_metrics as peer_metrics,
    peer_of as peer_of,
    published_elsewhere as published_elsewhere,
)

from .suite import (
    Suite as Suite,
    advice_on as advice_on,
    aliases_of as aliases_of,
    all_suites as all_suites,
    every_alias as every_alias,
    get as get,
    metrics_by_name as metrics_by_name,
    published_elsewhere as published_elsewhere,
)

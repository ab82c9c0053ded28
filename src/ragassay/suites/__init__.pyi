from .suite import (
    Suite as Suite,
    Total as Total,
    every_alias as every_alias,
    get as get,
    known as known,
    named as named,
    published_elsewhere as published_elsewhere,
)

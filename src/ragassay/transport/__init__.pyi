from . import secrets as secrets
from .accounts import PricedAccount as PricedAccount, Stopped as Stopped
from .breaker import Breaker as Breaker
from .budget import Budget as Budget, Reservation as Reservation
from .limits import MOST as MOST, Limiter as Limiter
from .prices import Price as Price, as_of as as_of, price_of as price_of
from .protocol_registry import aliases as aliases, protocols as protocols, providers as providers
from .provider_table import (
    OWN_KEY as OWN_KEY,
    OWN_URL as OWN_URL,
    Provider as Provider,
    own_key as own_key,
)
from .secrets import NO_KEY as NO_KEY, Secret as Secret, from_environment as from_environment
from .sending import (
    BACKOFF_S as BACKOFF_S,
    INTERRUPTED as INTERRUPTED,
    Sender as Sender,
    SendRequest as SendRequest,
    Tally as Tally,
)

from . import requests as requests, token_estimate as token_estimate
from .ledger_lookup import Reuse as Reuse
from .llm_judge import LLMJudge as LLMJudge

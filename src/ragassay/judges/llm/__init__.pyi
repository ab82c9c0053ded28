from . import requests as requests, tokens as tokens
from .ledger_lookup import Reuse as Reuse
from .llm_judge import LLMJudge as LLMJudge

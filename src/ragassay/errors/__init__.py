"""Errors that a user can mend, and what is wrong with data in words.

Each is shown as one sentence and never as a traceback (unless ``--debug`` asks for it).
"""

from .user_errors import (
    ArgumentError as ArgumentError,
    CountedFact as CountedFact,
    InputError as InputError,
    LedgerError as LedgerError,
    OptionError as OptionError,
    RagassayError as RagassayError,
    RagassayWarning as RagassayWarning,
    UsageError as UsageError,
    called as called,
    did_you_mean as did_you_mean,
    extra_needed as extra_needed,
    first_line as first_line,
    meant_or_all as meant_or_all,
    warn_user as warn_user,
)

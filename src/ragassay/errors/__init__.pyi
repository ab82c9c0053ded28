from .problem_words import (
    encoding_problem as encoding_problem,
    json_problem as json_problem,
    json_words as json_words,
    mistake as mistake,
    mistakes as mistakes,
    shown_value as shown_value,
    system_problem as system_problem,
    validation_problem as validation_problem,
)
from .recorded_warnings import record_warnings as record_warnings
from .user_errors import (
    ArgumentError as ArgumentError,
    CountedFact as CountedFact,
    InputError as InputError,
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

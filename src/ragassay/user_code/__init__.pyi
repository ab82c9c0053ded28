from .background_loop import Background as Background, run as run
from .code_sources import (
    is_as_written as is_as_written,
    is_defined_once as is_defined_once,
    is_installed as is_installed,
    own_classes as own_classes,
    source_of as source_of,
)
from .object_calls import described as described, in_thread as in_thread, is_async as is_async
from .object_loading import (
    has_module as has_module,
    is_python_word as is_python_word,
    load_object as load_object,
    object_hint as object_hint,
)

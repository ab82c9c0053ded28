from .run.prepared_run import evaluate as evaluate
from .run.rescoring import explain as explain, rescore as rescore

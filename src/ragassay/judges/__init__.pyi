from .asking import (
    IN_PART as IN_PART,
    Ask as Ask,
    Asked as Asked,
    Asker as Asker,
    Scope as Scope,
    Unanswered as Unanswered,
    Usage as Usage,
)
from .combining import combinable as combinable, differ as differ
from .judge import Judge as Judge
from .judge_factory import (
    Address as Address,
    JudgeOptions as JudgeOptions,
    address_of as address_of,
    hidden_words as hidden_words,
    kinds as kinds,
    make_judge as make_judge,
)
from .llm.llm_judge import LLMJudge as LLMJudge
from .offline import OfflineJudge as OfflineJudge
from .own_prompts import placeholders as placeholders, read_prompts as read_prompts
from .panel import (
    JudgeGroup as JudgeGroup,
    Panel as Panel,
    Vote as Vote,
    decided as decided,
    rule_of as rule_of,
)
from .planning_judge import (
    NOT_ASKED as NOT_ASKED,
    Demand as Demand,
    PlanningAsker as PlanningAsker,
    PlanningJudge as PlanningJudge,
)
from .python_judge import PythonJudge as PythonJudge
from .python_words import (
    check_judge_name as check_judge_name,
    named_judges as named_judges,
    names_object as names_object,
    word_of as word_of,
)
from .question import Question as Question
from .recorded import (
    Replay as Replay,
    about_of as about_of,
    label_of as label_of,
    short as short,
    to_record as to_record,
    vote_of as vote_of,
)
from .reply import R_co as R_co, Reply as Reply, whole_number as whole_number
from .verdict import (
    Failure as Failure,
    Provenance as Provenance,
    Verdict as Verdict,
    evidence_id as evidence_id,
)

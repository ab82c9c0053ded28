from .rubric import JudgePrompt as JudgePrompt, Rubric as Rubric, RubricPart as RubricPart
from .rubric_files import (
    bundled as bundled,
    read_judge_prompt as read_judge_prompt,
    read_rubric as read_rubric,
)

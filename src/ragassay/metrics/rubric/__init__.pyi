from .ragreport import ReportSatisfaction as ReportSatisfaction
from .rubric_grade import rubric_metric as rubric_metric

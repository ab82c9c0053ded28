"""Errors of a client: refused requests, a service that is away, jobs that fail or take too long."""

from __future__ import annotations

from ragassay.base.errors import RagassayError


class RequestRefused(RagassayError):  # noqa: N818 - what happened, not a defect
    """The service did not do what was asked.

    Attributes:
        status: HTTP's.
        detail: a sentence that says what is wrong, and what to do.
        field: of the request or file, where one is wrong.
        line: of the file, where one is wrong.
    """

    def __init__(
        self, status: int, detail: str, field: str | None = None, line: int | None = None
    ) -> None:
        super().__init__(f"{detail} (HTTP {status})" if status else detail)
        self.status, self.detail, self.field, self.line = status, detail, field, line


class Unauthorised(RequestRefused):
    """The token is missing or not valid (401), or does not allow it (403)."""


class NotFound(RequestRefused):
    """What the request names is not there (404)."""


class Unreachable(RequestRefused):
    """The service did not answer (status 0), or cannot work now (502, 503, 504). The client tried
    again, where that could do no harm."""


class JobFailed(RagassayError):  # noqa: N818
    """A job (``job_id``) ended without a result."""

    def __init__(self, job_id: str, why: str) -> None:
        super().__init__(f"The job {job_id} failed: {why}")
        self.job_id = job_id


class JobIncomplete(JobFailed):
    """A job ended with a result that lacks something; it can be read, and tried again."""

    def __init__(self, job_id: str, why: str) -> None:
        again = "allow_incomplete=True returns it all the same."
        RagassayError.__init__(self, f"The job {job_id} is incomplete: {why} {again}")
        self.job_id = job_id


class JobTimeout(RagassayError):  # noqa: N818
    """A job (``job_id``) did not end in the time that was given. It goes on."""

    def __init__(self, job_id: str, seconds: float, status: str) -> None:
        super().__init__(
            f"The job {job_id} is {status} after {seconds:g} seconds. It goes on: wait again."
        )
        self.job_id = job_id

"""What the words of providers mean. Texts are of the forms in which agents pass them on."""

from __future__ import annotations

import pytest
from harness2_agents.failures import LONGEST_WAIT, Kind, Problem, problem_in
from hypothesis import given
from hypothesis import strategies as st

SAID = [
    # waits
    (Kind.RATE_LIMIT, 'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}'),
    (Kind.RATE_LIMIT, "unexpected status 429 Too Many Requests: try again in 20s"),
    (Kind.RATE_LIMIT, "Rate limit reached for m in organization o on tokens per min (TPM): Limit 30000"),
    (Kind.RATE_LIMIT, "429 RESOURCE_EXHAUSTED"),
    (Kind.RATE_LIMIT, "exceeded retry limit, last status: 429 Too Many Requests"),
    # services
    (Kind.SERVICE, 'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
    (Kind.SERVICE, "unexpected status 503 Service Unavailable"),
    (Kind.SERVICE, "HTTP 500: Internal Server Error"),
    (Kind.SERVICE, "The server had an error: server_error"),
    (Kind.SERVICE, "exceeded retry limit, last status: 502 Bad Gateway"),
    (Kind.SERVICE, "JSON parsing failed: Text: <html>"),
    (Kind.SERVICE, "400 Bad Request"),
    # ways
    (Kind.NETWORK, "Unable to connect to API (ECONNREFUSED)"),
    (Kind.NETWORK, "stream disconnected before completion: error sending request for url"),
    (Kind.NETWORK, "The socket connection was closed unexpectedly"),
    (Kind.NETWORK, "getaddrinfo ENOTFOUND api.invalid"),
    (Kind.NETWORK, "Cannot connect to API: Was there a typo in the url or port?"),
    (Kind.NETWORK, "API Error: Connection error."),
    (Kind.NETWORK, "fetch failed"),
    (Kind.NETWORK, "unexpected status 502 Bad Gateway: the relay could not reach http://127.0.0.1:1: refused"),
    (Kind.NETWORK, "Request timed out."),
    # money
    (Kind.BUDGET, '429 {"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}'),
    (Kind.BUDGET, "Your credit balance is too low to access the API"),
    (Kind.BUDGET, "You've hit your usage limit. Try again later."),
    (Kind.BUDGET, "402 Payment Required"),
    # configuration
    (
        Kind.ACCESS,
        'API Error: 401 {"error":{"type":"authentication_error","message":"invalid x-api-key"}}',
    ),
    (Kind.ACCESS, "unexpected status 401 Unauthorized: Incorrect API key provided"),
    (Kind.ACCESS, "403 Forbidden"),
    (Kind.ACCESS, "Not logged in. Please run /login"),
    (Kind.ACCESS, "The model `m-9` does not exist or you do not have access to it."),
    (Kind.ACCESS, "Model not found: stub/m-9."),
    (Kind.ACCESS, "There's an issue with the selected model (m-9). It may not exist or you may not have access to it."),
    (Kind.ACCESS, "unexpected status 404 Not Found"),
    (Kind.ACCESS, "400 unsupported_parameter: reasoning.effort"),
    # of the model
    (Kind.REFUSAL, "The response was filtered due to our content policy"),
    (Kind.REFUSAL, "API Error: 400 appears to violate our Usage Policy"),
    (Kind.REFUSAL, "invalid_prompt: your prompt was flagged as potentially violating"),
    # of the agent
    (Kind.OVERFLOW, "400 This model's maximum context length is 32000 tokens"),
    (Kind.OVERFLOW, "Prompt is too long"),
    (Kind.OVERFLOW, "Your input exceeds the context window of this model"),
    (Kind.OVERFLOW, "413 request_too_large"),
]


LOCAL = [
    "",
    "I fixed 429 lines",
    "file not found: a.txt",
    "the tests passed",
    "exit code 1",
    "EACCES: permission denied, open '/workspace/x'",
    "the model called a tool whose file was not found",
    "titles of bottles",
    "skill model-notes: SKILL.md not found",
]
"""Words of an agent about its own files: one that is taken for a refused key would end a whole run."""


@pytest.mark.parametrize(("kind", "text"), SAID, ids=lambda value: str(value)[:60])
def test_words_of_providers_are_told_apart(kind: Kind, text: str) -> None:
    found = problem_in(text)
    assert found is not None
    assert found.kind is kind


@pytest.mark.parametrize(
    "text", ["", "I fixed 429 lines", "file not found: a.txt", "the tests passed", "exit code 1", *LOCAL]
)
def test_words_that_name_no_provider_mean_nothing(text: str) -> None:
    assert problem_in(text) is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, Kind.ACCESS), (402, Kind.BUDGET), (413, Kind.OVERFLOW), (429, Kind.RATE_LIMIT), (500, Kind.SERVICE)],
)
def test_a_status_alone_is_enough(status: int, kind: Kind) -> None:
    found = problem_in("something went wrong", status)
    assert found is not None
    assert found.kind is kind


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("429: Please try again in 1.5s.", 2),
        ("429: try again in 2m30s", 150),
        ("429: try again in 340ms", 1),
        ("rate limit; retry-after: 12", 12),
        ('429 RESOURCE_EXHAUSTED "retryDelay": "34s"', 34),
        ("rate limit, please retry in 1 minute 5 seconds", 65),
        ("rate limit", 0),
    ],
)
def test_the_wait_that_was_asked_for_is_told(text: str, seconds: int) -> None:
    found = problem_in(text)
    assert found is not None
    assert found.wait_seconds == seconds


def test_the_header_goes_before_the_words() -> None:
    found = problem_in("429, try again in 5s", retry_after="17")
    assert found is not None
    assert found.wait_seconds == 17


def test_a_wait_of_hours_is_a_quota_that_is_used_up() -> None:
    found = problem_in(f"429: try again in {LONGEST_WAIT + 1}s")
    assert found is not None
    assert (found.kind, found.wait_seconds) == (Kind.BUDGET, 0)


@pytest.mark.parametrize(("kind", "text"), SAID, ids=lambda value: str(value)[:60])
def test_what_is_not_the_agents_doing_is_a_loss_that_says_what_was_said(kind: Kind, text: str) -> None:
    found = problem_in(text)
    assert found is not None
    lost = found.lost()
    if kind in (Kind.REFUSAL, Kind.OVERFLOW):
        assert lost is None
    else:
        assert lost is not None
        assert lost.cause == kind.value
        assert text in lost.what


@given(st.text(max_size=300), st.none() | st.integers(-1, 1000), st.text(max_size=10))
def test_any_words_can_be_asked_about(text: str, status: int | None, retry_after: str) -> None:
    found = problem_in(text, status, retry_after)
    assert found is None or found.wait_seconds >= 0


def test_long_words_are_cut() -> None:
    found = problem_in("429 " + "x" * 100_000)
    assert found is not None
    assert len(found.said) < 1000


def test_no_service_is_waited_for_longer_than_an_hour() -> None:
    assert problem_in("retry after 99999999 s", 503) == Problem(Kind.SERVICE, "retry after 99999999 s", LONGEST_WAIT)


def test_a_wait_of_any_length_can_be_read() -> None:
    found = problem_in(f"slow down, retry after {'9' * 400} s", 429)
    assert found is not None
    assert (found.kind, found.wait_seconds) == (Kind.BUDGET, 0)

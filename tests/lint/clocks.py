#!/usr/bin/python3
"""Waits go by the steady clock: Abseil's own timed waits end by the wall clock, as do those of the standard library that are given
a time of it, and all stand still for as long as that steps back. absl::Now() tells wrong times after a step."""
import re

import tree

ALLOWED = {
    "dataplane/clock.cc": "reads the clocks",
    "dataplane/executor/timed_wait.cc": "waits",
    "deploy/ci/tsan_absl.cc": "tells ThreadSanitizer of those waits",
    "tests/dataplane/stepped_clock_test.cc": "waits as gRPC does",
}
COMMENT = re.compile(r"//.*")
RULES = (
    (re.compile(r"(?:\.|->)((?:Await|LockWhen|ReaderLockWhen|WriterLockWhen|Wait|WaitForNotification)With(?:Timeout|Deadline))\b"),
     "waits by the wall clock: use AwaitFor or AwaitUntil of dataplane/executor/timed_wait.h"),
    (re.compile(r"\b(absl::Now)\(\)"), "is wrong after a step of the clock: use dataplane/now.h or dataplane/deadline.h"),
    (re.compile(r"\b(system_clock)\b"), "may step: use dataplane/now.h or dataplane/deadline.h"),
    (re.compile(r"\b(pthread_(?:cond_timedwait|mutex_timedlock)|sem_timedwait)\b"),
     "waits by the wall clock: use dataplane/executor/timed_wait.h"),
)


def check(files):
    for path in files.code():
        if path in ALLOWED:
            continue
        for number, line in enumerate(files.text(path).splitlines(), 1):
            for rule, why in RULES:
                for found in rule.finditer(COMMENT.sub("", line)):
                    yield path, number, f"{found.group(1)} {why}"


if __name__ == "__main__":
    tree.main(check)

#include "tests/lab/log_writes/shard.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace tapedeck::lab {
namespace {

// It goes through a pipe as it lies in memory.
static_assert(std::is_trivially_copyable_v<ReplayCounts>);
static_assert(sizeof(ReplayCounts) <= 4096, "PIPE_BUF: written at once (pipe(7))");

absl::Status Failed(const char* what) {
  return absl::InternalError(absl::StrCat(what, ": ", std::strerror(errno)));
}

[[noreturn]] void End(const absl::StatusOr<ReplayCounts>& counts, int to) {
  const bool told = counts.ok() && write(to, &*counts, sizeof *counts) == sizeof *counts;
  if (!counts.ok()) std::fprintf(stderr, "a shard: %s\n", counts.status().ToString().c_str());
  std::fflush(stdout);
  _exit(told ? 0 : 1);
}

}  // namespace

absl::StatusOr<Shard> Shard::Start(const std::function<absl::StatusOr<ReplayCounts>()>& run) {
  int ends[2];
  if (pipe(ends) != 0) return Failed("pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    End(run(), ends[1]);
  }
  close(ends[1]);
  if (child < 0) return Failed("fork");
  return Shard(child, ends[0]);
}

absl::StatusOr<ReplayCounts> Shard::Wait() const {
  ReplayCounts counts;
  ssize_t got = 0;
  do {
    got = read(counts_, &counts, sizeof counts);
  } while (got < 0 && errno == EINTR);
  close(counts_);
  int status = 0;
  while (waitpid(child_, &status, 0) < 0) {
    if (errno != EINTR) return Failed("waitpid");
  }
  if (got == sizeof counts && status == 0) return counts;
  return absl::InternalError(absl::StrCat("a shard ended without counts, wait status ", status));
}

}  // namespace tapedeck::lab

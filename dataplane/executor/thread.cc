#include "dataplane/executor/thread.h"

#include <pthread.h>

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/errors.h"

namespace tapedeck::dataplane {
namespace {

constexpr size_t kLongestName = 15;  // pthread_setname_np(3), without the terminating null

}  // namespace

absl::StatusOr<std::thread> StartThread(const std::string& name, std::function<void()> run) {
  try {
    return std::thread([name = name.substr(0, kLongestName), run = std::move(run)] {
      pthread_setname_np(pthread_self(), name.c_str());
      run();
    });
  } catch (const std::system_error& error) {
    return LimitReached(
        "threads", "RLIMIT_NPROC",
        absl::StrCat(
            "pthread_create of ", name, ": ", error.code().message(),
            "; the process may have no more threads or address space: wait for other work to end, "
            "or raise RLIMIT_NPROC, RLIMIT_AS or the control group's pids.max"));
  }
}

}  // namespace tapedeck::dataplane

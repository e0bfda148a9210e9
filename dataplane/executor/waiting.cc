#include "dataplane/executor/waiting.h"

#include <cstdlib>
#include <string>

#include "dataplane/log.h"

namespace tapedeck::dataplane {
namespace {

thread_local int forbidden = 0;

bool WaitingAborts() {
  static const bool aborts = [] {
    const char* value = std::getenv("TAPEDECK_WAITING");
    return value != nullptr && absl::string_view(value) == "abort";
  }();
  return aborts;
}

}  // namespace

NoWaiting::NoWaiting() { ++forbidden; }

NoWaiting::~NoWaiting() { --forbidden; }

void MayWait(absl::string_view what) {
  if (forbidden == 0) return;
  Log(LogLevel::kError, "executor", "a thread that carries sessions must not wait",
      {{"for", std::string(what)}});
  if (WaitingAborts()) std::abort();
}

}  // namespace tapedeck::dataplane

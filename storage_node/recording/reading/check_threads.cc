#include "storage_node/recording/reading/check_threads.h"

#include <algorithm>
#include <thread>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::recording {
namespace {

constexpr size_t kLeastProcessors = 8;
constexpr size_t kMostThreads = 4;

}  // namespace

size_t CheckThreads::Suggested() {
  const size_t processors = std::thread::hardware_concurrency();
  return processors < kLeastProcessors ? 0 : std::min(processors / 4, kMostThreads);
}

absl::StatusOr<std::shared_ptr<CheckThreads>> CheckThreads::Create(size_t threads) {
  std::shared_ptr<CheckThreads> checks(new CheckThreads);
  for (size_t i = 0; i < threads; ++i) {
    TD_ASSIGN_OR_RETURN(checks->threads_.emplace_back(),
                        services::TaskThread::Create(absl::StrCat("td-check-", i), checks->queue_));
  }
  return checks;
}

}  // namespace tapedeck::storage_node::recording

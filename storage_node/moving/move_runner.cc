#include "storage_node/moving/move_runner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::storage_node::moving {

// Shared by who waits for it and the thread that does it. Any thread.
struct Attempt {
  absl::Mutex mutex;
  absl::Time asked ABSL_GUARDED_BY(mutex) = dataplane::SteadyTime();
  bool given_up ABSL_GUARDED_BY(mutex) = false;
  std::optional<absl::StatusOr<Moved>> result ABSL_GUARDED_BY(mutex);

  bool GoesOn() {
    absl::MutexLock lock(&mutex);
    asked = dataplane::SteadyTime();
    return !given_up;
  }

  void End(absl::StatusOr<Moved> with) {
    absl::MutexLock lock(&mutex);
    result = std::move(with);
  }

  bool HasEnded() {
    absl::MutexLock lock(&mutex);
    return result.has_value();
  }

  // None: it is given up.
  std::optional<absl::StatusOr<Moved>> Await(absl::Duration patience) {
    absl::MutexLock lock(&mutex);
    const auto ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return result.has_value(); };
    for (;;) {
      const absl::Duration left = asked + patience - dataplane::SteadyTime();
      if (result.has_value() || left <= absl::ZeroDuration()) break;
      dataplane::AwaitFor(mutex, absl::Condition(&ended), left);
    }
    given_up = !result.has_value();
    return result;
  }
};

namespace {

// Of the threads that there are.
constexpr int kMostOfOneLun = 4;

absl::Status StandsStill(const LunPair& pair, absl::Duration patience) {
  return services::LunNotResponding(
      absl::StrCat("luns/", pair.from),
      absl::StrCat("the disks of luns/", pair.from, " or luns/", pair.to,
                   " have not answered a move for ", absl::FormatDuration(patience),
                   "; the node moves nothing between these LUNs until they answer"));
}

}  // namespace

absl::StatusOr<Moved> MoveRunner::Run(const LunPair& pair, GoOn go_on, Work work) {
  auto attempt = std::make_shared<Attempt>();
  TD_RETURN_IF_ERROR(threads_.Run([attempt, go_on = std::move(go_on), work = std::move(work)] {
    attempt->End(work([&] { return attempt->GoesOn() && go_on(); }));
  }));
  auto result = attempt->Await(patience_);
  if (result.has_value()) return *std::move(result);
  late_.push_back({pair, std::move(attempt)});
  return StandsStill(pair, patience_);
}

bool MoveRunner::Holds(const LunPair& pair) {
  std::erase_if(late_, [](const Late& late) { return late.attempt->HasEnded(); });
  const auto with = [this](const std::string& lun) {
    return std::ranges::count_if(
        late_, [&](const Late& late) { return late.pair.from == lun || late.pair.to == lun; });
  };
  return with(pair.from) >= kMostOfOneLun || with(pair.to) >= kMostOfOneLun ||
         std::ranges::any_of(late_, [&](const Late& late) {
           return late.pair.from == pair.from && late.pair.to == pair.to;
         });
}

}  // namespace tapedeck::storage_node::moving

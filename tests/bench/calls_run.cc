#include "tests/bench/calls_run.h"

#include <atomic>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/rpc/client/node_client.h"

namespace tapedeck::bench {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(5);

// The first error of any thread.
class FirstError {
 public:
  void Update(const absl::Status& status) {
    absl::MutexLock lock(&mutex_);
    first_.Update(status);
  }
  absl::Status first() {
    absl::MutexLock lock(&mutex_);
    return first_;
  }

 private:
  absl::Mutex mutex_;
  absl::Status first_ ABSL_GUARDED_BY(mutex_);
};

absl::Status Call(const services::client::Channel& node) {
  return services::client::GetNode(node, kPatience).status();
}

}  // namespace

absl::StatusOr<double> CallsPerSecond(const NodeProcess& node, int callers,
                                      absl::Duration duration) {
  std::vector<services::client::Channel> channels;
  for (int i = 0; i < callers; ++i) {
    channels.push_back(node.NewChannel());
    TD_RETURN_IF_ERROR(Call(channels.back()));  // connects
  }
  const absl::Time begin = dataplane::SteadyTime();
  std::atomic<uint64_t> calls = 0;
  FirstError error;
  std::vector<std::thread> threads;
  for (const auto& channel : channels) {
    threads.emplace_back([&, end = begin + duration] {
      while (dataplane::SteadyTime() < end) {
        const absl::Status status = Call(channel);
        if (!status.ok()) return error.Update(status);
        ++calls;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  TD_RETURN_IF_ERROR(error.first());
  return static_cast<double>(calls) / absl::ToDoubleSeconds(dataplane::SteadyTime() - begin);
}

}  // namespace tapedeck::bench

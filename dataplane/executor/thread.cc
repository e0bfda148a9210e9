#include "dataplane/executor/thread.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <deque>
#include <system_error>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/errors.h"

namespace tapedeck::dataplane {
namespace {

constexpr size_t kLongestName = 15;  // pthread_setname_np(3), without the terminating null
constexpr int kLowNice = 10;

absl::StatusOr<std::thread> Make(const std::string& name, std::function<void()> run) {
  try {
    return std::thread([name = name.substr(0, kLongestName), run = std::move(run)] {
      pthread_setname_np(pthread_self(), name.c_str());
      run();
    });
  } catch (const std::system_error& error) {
    return LimitReached(
        "threads", "RLIMIT_NPROC",
        absl::StrCat("pthread_create of ", name, ": ", error.code().message(),
                     "; the process cannot get another thread or more address space; end other "
                     "work, or raise RLIMIT_NPROC, RLIMIT_AS or the control group's pids.max"));
  }
}

// A thread has the priority of the one that makes it, and cannot raise it without privileges: one
// that was lowered makes none by itself. One per process; any thread.
class Starter {
 public:
  Starter() : process_(getpid()), thread_(Make("starter", [this] { Run(); })) {
    if (thread_.ok()) thread_->detach();
  }

  // Waits for one pthread_create, and those that were asked for before.
  absl::StatusOr<std::thread> Start(const std::string& name, std::function<void()> run) {
    // A child of fork has the memory of this one, and not its threads.
    if (!thread_.ok() || getpid() != process_) return Make(name, std::move(run));
    Request request{.name = name, .run = std::move(run)};
    absl::MutexLock lock(&mutex_);
    requests_.push_back(&request);
    mutex_.Await(absl::Condition(&request.done));
    return std::move(request.thread);
  }

 private:
  struct Request {
    std::string name;
    std::function<void()> run;
    absl::StatusOr<std::thread> thread = std::thread();
    bool done = false;
  };

  [[noreturn]] void Run() {
    const auto asked = [this]()
                           ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !requests_.empty(); };
    absl::MutexLock lock(&mutex_);
    while (true) {
      mutex_.Await(absl::Condition(&asked));
      Request& request = *requests_.front();
      requests_.pop_front();
      request.thread = Make(request.name, std::move(request.run));
      request.done = true;
    }
  }

  const pid_t process_;
  absl::Mutex mutex_;
  std::deque<Request*> requests_ ABSL_GUARDED_BY(mutex_);
  absl::StatusOr<std::thread> thread_;
};

}  // namespace

absl::StatusOr<std::thread> StartThread(const std::string& name, std::function<void()> run) {
  // Never destroyed: it waits until the very end.
  static auto& starter = *new Starter;
  return starter.Start(name, std::move(run));
}

void LowerPriority() { setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowNice); }

}  // namespace tapedeck::dataplane

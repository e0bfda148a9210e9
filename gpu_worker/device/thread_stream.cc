#include "gpu_worker/device/thread_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/errors.h"
#include "dataplane/executor/thread.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::device {

absl::StatusOr<std::unique_ptr<ThreadStream>> ThreadStream::Create() {
  std::unique_ptr<ThreadStream> stream(new ThreadStream());
  TD_ASSIGN_OR_RETURN(stream->thread_,
                      dataplane::StartThread("host-stream", [raw = stream.get()] { raw->Run(); }));
  return stream;
}

ThreadStream::~ThreadStream() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

absl::Status ThreadStream::CheckRoom() const {
  absl::MutexLock lock(&mutex_);
  if (work_.size() < kMostWork) return absl::OkStatus();
  return dataplane::LimitReached(
      kMostWork, "work of a stream",
      absl::StrCat("a stream of the host has ", kMostWork, " steps to do; wait for some of them"));
}

void ThreadStream::Enqueue(Work work) {
  absl::MutexLock lock(&mutex_);
  work_.push_back(std::move(work));
  ++enqueued_;
}

bool ThreadStream::Synchronize(dataplane::Deadline deadline) {
  dataplane::MayWait("a stream of the host");
  absl::MutexLock lock(&mutex_);
  const uint64_t all = enqueued_;
  const auto done = [&] {
    mutex_.AssertReaderHeld();
    return done_ >= all;
  };
  return dataplane::AwaitUntil(mutex_, absl::Condition(&done), deadline);
}

void ThreadStream::Run() {
  const GoesOn goes_on = [this] {
    absl::MutexLock lock(&mutex_);
    return !stop_;
  };
  while (true) {
    Work work;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &ThreadStream::HasWork));
      if (stop_) return;
      work = std::move(work_.front());
      work_.pop_front();
    }
    work(goes_on);
    absl::MutexLock lock(&mutex_);
    ++done_;
  }
}

}  // namespace tapedeck::gpu_worker::device

#include "storage_node/engine/uring_engine.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/thread.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::engine {
namespace {

constexpr int kFiles = 256;

}  // namespace

absl::StatusOr<std::unique_ptr<UringEngine>> UringEngine::Create(const std::string& name) {
  std::unique_ptr<UringEngine> engine(new UringEngine);
  if (const int error = engine->SetUp(); error != 0) {
    return absl::UnavailableError(absl::StrCat(
        "io_uring: ", std::strerror(error),
        "; transfers run on threads. In a container allow it in the seccomp profile; on the host "
        "see kernel.io_uring_disabled and RLIMIT_MEMLOCK"));
  }
  TD_ASSIGN_OR_RETURN(engine->thread_,
                      dataplane::StartThread(name, [e = engine.get()] { e->Loop(); }));
  return engine;
}

int UringEngine::SetUp() {
  // One entry more for the inbox.
  int result = io_uring_queue_init(kDepth + 1, &ring_, 0);
  if (result < 0) {
    ring_.ring_fd = -1;
    return -result;
  }
  wake_ = disk::Fd(eventfd(0, EFD_CLOEXEC));
  if (wake_.get() < 0) return errno;
  result = io_uring_register_files_sparse(&ring_, kFiles);
  if (result < 0) return -result;
  {
    absl::MutexLock lock(&mutex_);
    for (int i = kFiles - 1; i >= 0; --i) free_files_.push_back(i);
  }
  return BufferTable::Create(&ring_, &buffers_);
}

UringEngine::~UringEngine() {
  if (thread_.joinable()) {
    {
      absl::MutexLock lock(&mutex_);
      stop_ = true;
    }
    eventfd_write(wake_.get(), 1);
    thread_.join();
  }
  if (buffers_ != nullptr) buffers_->Close();
  if (ring_.ring_fd < 0) return;
  // The kernel ends the ring later, and would keep these files open, and locked, until then.
  io_uring_unregister_files(&ring_);
  io_uring_queue_exit(&ring_);
}

void UringEngine::Start(Transfer transfer) {
  bool first;
  {
    absl::MutexLock lock(&mutex_);
    first = inbox_.empty();
    inbox_.push_back(std::move(transfer));
  }
  if (first) eventfd_write(wake_.get(), 1);
}

void UringEngine::AddFile(int fd) {
  absl::MutexLock lock(&mutex_);
  if (free_files_.empty()) return;  // it goes by its descriptor
  const int place = free_files_.back();
  if (io_uring_register_files_update(&ring_, static_cast<unsigned>(place), &fd, 1) != 1) return;
  free_files_.pop_back();
  files_[fd] = place;
}

void UringEngine::RemoveFile(int fd) {
  absl::MutexLock lock(&mutex_);
  const auto it = files_.find(fd);
  if (it == files_.end()) return;
  int none = -1;
  io_uring_register_files_update(&ring_, static_cast<unsigned>(it->second), &none, 1);
  free_files_.push_back(it->second);
  files_.erase(it);
}

std::unique_ptr<dataplane::Memory> UringEngine::Adopt(std::unique_ptr<dataplane::Memory> memory) {
  const std::span<std::byte> bytes = memory->window().bytes;
  if (const int error = buffers_->Add(bytes); error != 0) {
    dataplane::Log(dataplane::LogLevel::kWarning, "engine",
                   "ring not registered with io_uring: each transfer pins its pages again; raise "
                   "RLIMIT_MEMLOCK",
                   {{"bytes", absl::StrCat(bytes.size())}, {"error", std::strerror(error)}});
    return memory;
  }
  return std::make_unique<RegisteredMemory>(std::move(memory), buffers_);
}

void UringEngine::WatchInbox() {
  io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
  io_uring_prep_read(sqe, wake_.get(), &wake_count_, sizeof(wake_count_), 0);
  io_uring_sqe_set_data(sqe, nullptr);
}

void UringEngine::Loop() {
  WatchInbox();
  while (TakeIn()) {
    while (!waiting_.empty() && under_way_ < kDepth) {
      std::unique_ptr<UnderWay> work = std::move(waiting_.front());
      waiting_.pop_front();
      Submit(std::move(work));
    }
    io_uring_submit_and_wait(&ring_, 1);
    Reap();
  }
}

bool UringEngine::TakeIn() {
  absl::MutexLock lock(&mutex_);
  for (Transfer& transfer : inbox_) {
    waiting_.push_back(std::make_unique<UnderWay>(std::move(transfer)));
  }
  inbox_.clear();
  return !stop_ || under_way_ > 0 || !waiting_.empty();
}

void UringEngine::Submit(std::unique_ptr<UnderWay> work) {
  const std::span<std::byte> rest = work->rest();
  const auto length = static_cast<unsigned>(rest.size());
  const std::optional<int> buffer = buffers_->Find(rest);
  io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
  if (work->write() && buffer.has_value()) {
    io_uring_prep_write_fixed(sqe, work->fd(), rest.data(), length, work->offset(), *buffer);
  } else if (work->write()) {
    io_uring_prep_write(sqe, work->fd(), rest.data(), length, work->offset());
  } else if (buffer.has_value()) {
    io_uring_prep_read_fixed(sqe, work->fd(), rest.data(), length, work->offset(), *buffer);
  } else {
    io_uring_prep_read(sqe, work->fd(), rest.data(), length, work->offset());
  }
  {
    absl::MutexLock lock(&mutex_);
    if (const auto file = files_.find(work->fd()); file != files_.end()) {
      sqe->fd = file->second;
      io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
    }
  }
  io_uring_sqe_set_data(sqe, work.release());
  ++under_way_;
}

void UringEngine::Reap() {
  io_uring_cqe* cqe;
  while (io_uring_peek_cqe(&ring_, &cqe) == 0) {
    std::unique_ptr<UnderWay> work(static_cast<UnderWay*>(io_uring_cqe_get_data(cqe)));
    const int result = cqe->res;
    io_uring_cqe_seen(&ring_, cqe);
    if (work == nullptr) {
      WatchInbox();
    } else {
      --under_way_;
      if (!work->Take(result)) waiting_.push_front(std::move(work));
    }
  }
}

}  // namespace tapedeck::storage_node::engine

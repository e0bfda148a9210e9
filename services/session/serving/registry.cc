#include "services/session/serving/registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/executor/timed_wait.h"
#include "services/base/errors.h"

namespace tapedeck::services::session {
namespace {

// Workers name their rails as they like, and one message has all names and causes; what goes beyond
// is counted together.
constexpr size_t kMaxRailNames = 64;
constexpr char kOtherRails[] = "others";
constexpr size_t kMaxStatsCauseBytes = 1024;

void AddBlocks(const Progress& progress, NodeStats& stats) {
  stats.blocks += progress.blocks;
  stats.bytes += progress.bytes;
  stats.counters += progress.counters;
  model::AddKnown(progress.stage_times, stats.stage_times);
}

void Add(const Progress& progress, NodeStats& stats) {
  AddBlocks(progress, stats);
  for (const RailProgress& rail : progress.rails) {
    auto it = std::ranges::find(stats.rails, rail.name, &RailProgress::name);
    if (it == stats.rails.end() && stats.rails.size() >= kMaxRailNames) {
      it = std::ranges::find(stats.rails, kOtherRails, &RailProgress::name);
      if (it == stats.rails.end()) it = stats.rails.insert(it, RailProgress{.name = kOtherRails});
    }
    if (it == stats.rails.end()) it = stats.rails.insert(it, RailProgress{.name = rail.name});
    it->blocks += rail.blocks;
    it->bytes += rail.bytes;
    it->up = rail.up;
    it->cause = rail.cause.substr(0, kMaxStatsCauseBytes);
  }
}

// Tells a worker why it gets no session. Kept by the tasks that are due: the last lets go of it,
// whether or not the worker has read.
class Refusal final : public ControlEvents {
 public:
  static void Begin(std::unique_ptr<ControlStream> stream, const absl::Status& why,
                    dataplane::Executor* executor, std::shared_ptr<std::atomic<int>> count) {
    const auto refusal = std::make_shared<Refusal>(std::move(stream), executor, std::move(count));
    const int64_t delay_ns = *refusal->count_ > kPromptRefusals ? kRefusalDelayNs : 0;
    executor->Post([refusal, why, executor, delay_ns] {
      refusal->stream_->Start(refusal.get(), executor);
      executor->PostAfter(delay_ns, [refusal, why] { refusal->Tell(why); });
      executor->PostAfter(delay_ns + kFarewellNs, [refusal] { refusal->End(); });
    });
  }

  Refusal(std::unique_ptr<ControlStream> stream, dataplane::Executor* executor,
          std::shared_ptr<std::atomic<int>> count)
      : stream_(std::move(stream)), executor_(executor), count_(std::move(count)) {
    ++*count_;
  }
  ~Refusal() override { End(); }

 private:
  void Tell(const absl::Status& why) {
    if (stream_ == nullptr) return;
    stream_->Send(Finished{.cause = why});
    stream_->Close(absl::OkStatus());
  }
  void End() {
    if (stream_ == nullptr) return;
    stream_.reset();
    --*count_;
  }
  void OnMessage(Message) override {}
  void OnClosed(const absl::Status&) override {
    executor_->Post(lifetime_.Guard([this] { End(); }));
  }

  std::unique_ptr<ControlStream> stream_;
  dataplane::Executor* const executor_;
  const std::shared_ptr<std::atomic<int>> count_;
  dataplane::Lifetime lifetime_;
};

}  // namespace

Registry::Registry(std::vector<dataplane::Executor*> executors,
                   std::vector<dataplane::Transport*> transports, SessionHost* host,
                   flight::Trails* trails, telemetry::trace::Tracer* tracer)
    : executors_(std::move(executors)),
      transports_(std::move(transports)),
      host_(host),
      trails_(trails),
      tracer_(tracer) {}

Registry::~Registry() { Drain(0); }

void Registry::OnStream(std::unique_ptr<ControlStream> stream) {
  std::string id;
  dataplane::Executor* executor;
  {
    absl::MutexLock lock(&mutex_);
    if (draining_) {
      return Refuse(std::move(stream), Draining("the storage node is shutting down"));
    }
    if (sessions_.size() >= kMaxSessions) {
      return Refuse(std::move(stream),
                    LimitReached(kMaxSessions, "sessions",
                                 absl::StrCat("the storage node has ", kMaxSessions,
                                              " open sessions already")));
    }
    id = absl::StrFormat("s%06d", opened_++);
    executor = executors_[opened_ % executors_.size()];
    sessions_[id] = Entry{.executor = executor};
  }
  auto shared = std::make_shared<std::unique_ptr<ControlStream>>(std::move(stream));
  executor->Post([this, id, shared] { Begin(id, std::move(*shared)); });
}

void Registry::Refuse(std::unique_ptr<ControlStream> stream, const absl::Status& why) {
  ++refused_;
  if (*refusals_ < kMaxRefusals) Refusal::Begin(std::move(stream), why, executors_[0], refusals_);
}

void Registry::Begin(const std::string& id, std::unique_ptr<ControlStream> stream) {
  ServerSessionSettings settings{
      .id = id, .transports = transports_, .host = host_, .tracer = tracer_};
  if (trails_ != nullptr) settings.trail = trails_->New({.session = id});
  settings.on_progress = [this, id](Direction direction, const Progress& progress,
                                    uint64_t ring_bytes) {
    Observe(id, direction, progress, ring_bytes);
  };
  ServerSession* session;
  {
    absl::MutexLock lock(&mutex_);
    Entry& entry = sessions_.at(id);
    entry.session = std::make_unique<ServerSession>(
        *entry.executor, settings, std::move(stream),
        [this, id, executor = entry.executor] { executor->Post([this, id] { Ended(id); }); });
    session = entry.session.get();
  }
  session->Start();
}

void Registry::Observe(const std::string& id, Direction direction, const Progress& progress,
                       uint64_t ring_bytes) {
  absl::MutexLock lock(&mutex_);
  Entry& entry = sessions_.at(id);
  entry.direction = direction;
  entry.progress = progress;
  entry.ring_bytes = ring_bytes;
}

void Registry::Ended(const std::string& id) {
  std::unique_ptr<ServerSession> session;
  Progress progress;
  {
    absl::MutexLock lock(&mutex_);
    session = std::move(sessions_.at(id).session);
    progress = session->progress();
  }
  session.reset();  // outside the lock: it cancels the control stream
  // Of a session that has ended no rail is down.
  for (RailProgress& rail : progress.rails) rail.cause.clear();
  absl::MutexLock lock(&mutex_);
  const auto it = sessions_.find(id);
  Add(progress, ended_);
  if (const auto direction = it->second.direction) AddBlocks(progress, ended_by_[*direction]);
  sessions_.erase(it);
}

void Registry::AbortAll(const absl::Status& cause) {
  absl::MutexLock lock(&mutex_);
  for (auto& [id, entry] : sessions_) {
    entry.executor->Post([this, id = id, cause] {
      ServerSession* session = nullptr;
      {
        absl::MutexLock lock(&mutex_);
        const auto it = sessions_.find(id);
        if (it != sessions_.end()) session = it->second.session.get();
      }
      if (session != nullptr) session->Abort(cause);
    });
  }
}

void Registry::Drain(int64_t grace_ns) {
  const auto none_left = [this]()
                             ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return sessions_.empty(); };
  {
    absl::MutexLock lock(&mutex_);
    draining_ = true;
    if (dataplane::AwaitFor(mutex_, absl::Condition(&none_left), absl::Nanoseconds(grace_ns)))
      return;
  }
  AbortAll(Draining("the storage node is shutting down"));
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&none_left));
}

std::string Registry::Left() const {
  absl::MutexLock lock(&mutex_);
  std::string left = absl::StrCat(sessions_.size(), " sessions");
  for (const auto& [id, entry] : sessions_) absl::StrAppend(&left, " ", id);
  return left;
}

NodeStats Registry::stats() const {
  absl::MutexLock lock(&mutex_);
  NodeStats stats = ended_;
  stats.sessions = static_cast<uint32_t>(sessions_.size());
  stats.sessions_opened = opened_;
  for (const auto& [id, entry] : sessions_) {
    Add(entry.progress, stats);
    stats.ring_bytes += entry.ring_bytes;
  }
  return stats;
}

NodeStats Registry::stats(Direction direction) const {
  absl::MutexLock lock(&mutex_);
  const auto ended = ended_by_.find(direction);
  NodeStats stats = ended == ended_by_.end() ? NodeStats() : ended->second;
  for (const auto& [id, entry] : sessions_) {
    if (entry.direction != direction) continue;
    ++stats.sessions;
    AddBlocks(entry.progress, stats);
    stats.ring_bytes += entry.ring_bytes;
  }
  return stats;
}

}  // namespace tapedeck::services::session

#include "tests/bench/sharing_run.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/status_macros.h"
#include "storage_node/luns/lun_check.h"
#include "storage_node/recording/recovery/recovery.h"
#include "storage_node/store/list.h"
#include "tests/bench/streams.h"

namespace tapedeck::bench {
namespace {

constexpr int64_t kBehindNs = 200 * dataplane::kMillisecondNs;

// Not measured: files, rings and followers' memory are new.
constexpr int64_t kWarmUpNs = dataplane::kSecondNs;

double RateOf(uint64_t blocks, uint64_t block_bytes, int64_t ns) {
  return static_cast<double>(blocks * block_bytes) * 1e3 / static_cast<double>(ns);
}

// One LUN, and as many loops as the storage node has.
class Sharing {
 public:
  Sharing(const SharingRun& run, storage_node::store::Store& store,
          std::vector<dataplane::EventLoop*> loops)
      : run_(run), store_(store), loops_(std::move(loops)) {
    if (run.follow_bytes > 0) {
      follow_memory_ = storage_node::follow::TailMemory::Create(run.follow_bytes).value();
    }
  }

  absl::StatusOr<SharingRates> Run();

 private:
  StreamSettings Settings(const std::string& recording, double blocks_per_s = 0) const {
    return {.store = &store_,
            .path = {.channel = "bench", .recording = recording},
            .members = static_cast<uint32_t>(std::max<size_t>(1, run_.store.members.size())),
            .block_bytes = run_.store.block_bytes,
            .slots = run_.store.slots,
            .blocks_per_s = blocks_per_s,
            .behind_ns = kBehindNs,
            .commit = run_.store.commit};
  }
  int64_t Deadline() const {
    return loops_[0]->clock().NowNs() + static_cast<int64_t>(run_.seconds * 1e9);
  }
  // One recording, followed if asked for; it is kept.
  absl::StatusOr<OneRate> One(const std::string& recording, double blocks_per_s, bool follow);
  absl::Status Together(SharingRates* rates);
  absl::Status Delete(const std::string& recording) {
    return store_.DeleteRecording({.channel = "bench", .recording = recording});
  }

  const SharingRun& run_;
  storage_node::store::Store& store_;
  const std::vector<dataplane::EventLoop*> loops_;
  std::shared_ptr<storage_node::follow::TailMemory> follow_memory_;
};

absl::StatusOr<OneRate> Sharing::One(const std::string& recording, double blocks_per_s,
                                     bool follow) {
  TD_ASSIGN_OR_RETURN(const auto stream,
                      RecordStream::Create(Settings(recording, blocks_per_s), *loops_[0]));
  std::unique_ptr<PlayStream> follower;
  if (follow) {
    StreamSettings settings = Settings(recording);
    settings.follow_memory = follow_memory_;
    TD_ASSIGN_OR_RETURN(follower, PlayStream::Create(settings, stream->manifest(), stream->live(),
                                                     *loops_[loops_.size() - 1]));
  }
  stream->Begin(Deadline() + kWarmUpNs);
  if (follower != nullptr) follower->Begin(0);
  absl::SleepFor(absl::Nanoseconds(kWarmUpNs));
  const int64_t warm_ns = stream->since_begin_ns();
  const uint64_t warm_blocks = stream->blocks();
  const double warm_cpu_s = CpuSeconds();
  absl::Status status = stream->Wait();
  const double cpu_s = CpuSeconds() - warm_cpu_s;
  if (follower != nullptr) status.Update(follower->Wait());
  TD_RETURN_IF_ERROR(status);
  if (follower != nullptr && follower->blocks() != stream->blocks()) {
    return absl::DataLossError("the follower has not seen every block");
  }
  const uint64_t blocks = stream->blocks() - warm_blocks;
  OneRate one{.rate = RateOf(blocks, run_.store.block_bytes, stream->elapsed_ns() - warm_ns),
              .cpu_s = cpu_s * 1e9 / static_cast<double>(blocks * run_.store.block_bytes)};
  if (follower != nullptr) {
    one.from_memory = static_cast<double>(follower->blocks_from_memory()) /
                      static_cast<double>(follower->blocks());
  }
  return one;
}

absl::Status Sharing::Together(SharingRates* rates) {
  TD_ASSIGN_OR_RETURN(const auto manifest, storage_node::recording::LoadManifest(
                                               store_, Settings("alone").path, loops_[0]->clock()));
  std::vector<std::unique_ptr<RecordStream>> recordings;
  std::vector<std::unique_ptr<PlayStream>> playbacks;
  StreamSettings settings = Settings("alone");
  settings.behind_ns = 0;
  for (uint32_t i = 0; i < run_.playbacks; ++i) {
    TD_ASSIGN_OR_RETURN(
        auto stream, PlayStream::Create(settings, manifest, nullptr, *loops_[i % loops_.size()]));
    playbacks.push_back(std::move(stream));
  }
  for (uint32_t i = 0; i < run_.recordings; ++i) {
    TD_ASSIGN_OR_RETURN(auto stream, RecordStream::Create(Settings(absl::StrCat("r", i)),
                                                          *loops_[i % loops_.size()]));
    recordings.push_back(std::move(stream));
  }
  const int64_t deadline_ns = Deadline();
  for (const auto& stream : playbacks) stream->Begin(deadline_ns);
  for (const auto& stream : recordings) stream->Begin(deadline_ns);
  absl::Status status;
  std::vector<double> each;
  for (const auto& stream : recordings) {
    status.Update(stream->Wait());
    each.push_back(RateOf(stream->blocks(), run_.store.block_bytes, stream->elapsed_ns()));
    rates->recorded += each.back();
  }
  rates->together = rates->recorded;
  for (const auto& stream : playbacks) {
    status.Update(stream->Wait());
    rates->together += RateOf(stream->blocks(), run_.store.block_bytes, stream->elapsed_ns());
  }
  TD_RETURN_IF_ERROR(status);
  rates->least_to_most = *std::ranges::min_element(each) / *std::ranges::max_element(each);
  recordings.clear();
  for (uint32_t i = 0; i < run_.recordings; ++i) {
    TD_RETURN_IF_ERROR(Delete(absl::StrCat("r", i)));
  }
  return absl::OkStatus();
}

absl::StatusOr<SharingRates> Sharing::Run() {
  SharingRates rates;
  // Leaves the node's memory for followers resident, as any follower before does.
  TD_RETURN_IF_ERROR(One("first", 0, true).status());
  TD_RETURN_IF_ERROR(Delete("first"));
  TD_ASSIGN_OR_RETURN(rates.alone, One("alone", 0, false));
  TD_ASSIGN_OR_RETURN(rates.followed, One("followed", 0, true));
  TD_RETURN_IF_ERROR(Delete("followed"));
  // Once before and once after: a disk that gets faster or slower says nothing about the follower.
  TD_ASSIGN_OR_RETURN(const OneRate after, One("after", 0, false));
  TD_RETURN_IF_ERROR(Delete("after"));
  rates.alone.rate = (rates.alone.rate + after.rate) / 2;
  rates.alone.cpu_s = (rates.alone.cpu_s + after.cpu_s) / 2;
  const double pace = rates.alone.rate * 1e6 / 2 / static_cast<double>(run_.store.block_bytes);
  TD_ASSIGN_OR_RETURN(rates.paced, One("paced", pace, false));
  TD_RETURN_IF_ERROR(Delete("paced"));
  TD_ASSIGN_OR_RETURN(rates.paced_followed, One("paced-followed", pace, true));
  TD_RETURN_IF_ERROR(Delete("paced-followed"));
  TD_RETURN_IF_ERROR(Together(&rates));
  TD_RETURN_IF_ERROR(Delete("alone"));
  return rates;
}

}  // namespace

absl::StatusOr<SharingRates> RunSharing(const SharingRun& run) {
  TD_ASSIGN_OR_RETURN(const auto kind, storage_node::store::FindStoreKind(run.store.kind));
  const services::Lun lun{.name = "luns/bench",
                          .uid = "00112233-4455-4677-8899-aabbccddeeff",
                          .store = run.store.kind,
                          .members = run.store.members};
  TD_RETURN_IF_ERROR(storage_node::luns::CheckLunShape(lun, kind));
  TD_ASSIGN_OR_RETURN(const auto first, dataplane::EventLoop::Create("session-0"));
  TD_ASSIGN_OR_RETURN(const auto second, dataplane::EventLoop::Create("session-1"));
  absl::StatusOr<SharingRates> rates;
  {
    TD_ASSIGN_OR_RETURN(const auto store, kind.create(lun));
    rates = Sharing(run, *store, {first.get(), second.get()}).Run();
  }
  TD_RETURN_IF_ERROR(kind.remove(lun));
  return rates;
}

}  // namespace tapedeck::bench

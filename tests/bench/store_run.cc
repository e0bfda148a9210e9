#include "tests/bench/store_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/status_macros.h"
#include "storage_node/luns/lun_check.h"
#include "storage_node/recording/recovery/recovery.h"
#include "storage_node/store/list.h"
#include "tests/bench/streams.h"

namespace tapedeck::bench {
namespace {

using storage_node::store::RecordingPath;
using storage_node::store::Store;

// Two minutes.
constexpr int kSpareTries = 2400;
constexpr unsigned kSparePauseUs = 50'000;

const RecordingPath kPath{.channel = "bench", .recording = "bench"};

StreamSettings StreamSettingsOf(const StoreRun& run, Store& store) {
  return {.store = &store,
          .path = kPath,
          .members = static_cast<uint32_t>(std::max<size_t>(1, run.members.size())),
          .block_bytes = run.block_bytes,
          .slots = run.slots,
          .blocks = run.blocks,
          .commit = run.commit};
}

absl::Status Record(const StoreRun& run, Store& store, dataplane::EventLoop& loop,
                    StoreRates* rates) {
  TD_ASSIGN_OR_RETURN(const auto stream, RecordStream::Create(StreamSettingsOf(run, store), loop));
  const double cpu_s = CpuSeconds();
  stream->Begin(0);
  const absl::Status status = stream->Wait();
  rates->write_ns = stream->elapsed_ns();
  rates->write_cpu_s = CpuSeconds() - cpu_s;
  return status;
}

absl::Status Play(const StoreRun& run, Store& store, dataplane::EventLoop& loop,
                  StoreRates* rates) {
  TD_ASSIGN_OR_RETURN(const auto manifest,
                      storage_node::recording::LoadManifest(store, kPath, loop.clock()));
  TD_ASSIGN_OR_RETURN(const auto stream,
                      PlayStream::Create(StreamSettingsOf(run, store), manifest, nullptr, loop));
  const double cpu_s = CpuSeconds();
  stream->Begin(0);
  const absl::Status status = stream->Wait();
  rates->read_ns = stream->elapsed_ns();
  rates->read_cpu_s = CpuSeconds() - cpu_s;
  return status;
}

// Blocks that lie in the page cache would be read from there.
void DropPages(const std::vector<std::string>& members) {
  for (const std::string& member : members) {
    const std::string path =
        absl::StrCat(member, "/", kPath.channel, "/", kPath.recording, "/data");
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
  }
}

services::Lun LunOf(const StoreRun& run) {
  services::Lun lun{.name = "luns/bench",
                    .uid = "00112233-4455-4677-8899-aabbccddeeff",
                    .store = run.kind,
                    .members = run.members,
                    .capacity_bytes = (run.blocks + 4 * run.slots) * run.block_bytes};
  if (!run.prewritten || run.members.empty()) return lun;
  lun.prewrite_files = 1;
  lun.prewrite_bytes = (run.blocks + run.members.size() - 1) / run.members.size() * run.block_bytes;
  return lun;
}

// A spare has its name once all of it is written.
absl::Status AwaitSpares(const services::Lun& lun) {
  if (lun.prewrite_files == 0) return absl::OkStatus();
  for (const std::string& member : lun.members) {
    const std::string spare = absl::StrCat(member, "/.tapedeck/spares/0");
    for (int tries = 0; access(spare.c_str(), F_OK) != 0; ++tries) {
      if (tries == kSpareTries) return absl::DeadlineExceededError(absl::StrCat("no ", spare));
      usleep(kSparePauseUs);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StoreRates> RunStore(const StoreRun& run) {
  TD_ASSIGN_OR_RETURN(const auto kind, storage_node::store::FindStoreKind(run.kind));
  const services::Lun lun = LunOf(run);
  TD_RETURN_IF_ERROR(storage_node::luns::CheckLunShape(lun, kind));
  TD_ASSIGN_OR_RETURN(const auto loop, dataplane::EventLoop::Create("session"));
  StoreRates rates;
  absl::Status status;
  {
    TD_ASSIGN_OR_RETURN(const auto store, kind.create(lun));
    status = AwaitSpares(lun);
    if (status.ok()) status = Record(run, *store, *loop, &rates);
    DropPages(run.members);
    if (status.ok()) status = Play(run, *store, *loop, &rates);
    status.Update(store->DeleteRecording(kPath));
  }
  status.Update(kind.remove(lun));
  TD_RETURN_IF_ERROR(status);
  return rates;
}

}  // namespace tapedeck::bench

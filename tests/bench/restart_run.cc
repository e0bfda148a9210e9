#include "tests/bench/restart_run.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/status_macros.h"
#include "storage_node/luns/config_files.h"
#include "storage_node/node/node.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/store/list.h"

namespace tapedeck::bench {
namespace {

using namespace storage_node;  // NOLINT: all of it is the storage node's

constexpr uint64_t kBlockBytes = 1 << 20;
constexpr uint64_t kEntriesAtOnce = 4096;

// One run, on the calling thread.
class Restart {
 public:
  explicit Restart(const RestartRun& run) : run_(run) {}

  absl::StatusOr<RestartTimes> Run();

 private:
  std::string state_dir() const { return absl::StrCat(run_.directory, "/state"); }
  absl::Status MakeLun();
  absl::Status WithStore(const std::function<absl::Status(store::Store&)>& act);
  absl::Status MakeClosed(store::Store& store);
  absl::Status MakeOpen(store::Store& store);
  absl::Status WriteEntries(store::RecordingFiles& files, const format::Manifest& manifest);
  format::Manifest ManifestOf(const std::string& id) const;
  absl::StatusOr<int64_t> Start();

  const RestartRun& run_;
  format::Uuid lun_uid_;
  const dataplane::SystemClock clock_{};
  recording::CallerLoop loop_{clock_};
};

absl::Status Restart::MakeLun() {
  const std::string member = absl::StrCat(run_.directory, "/member");
  std::filesystem::create_directories(member);
  TD_ASSIGN_OR_RETURN(const auto node, node::StorageNode::Create({.state_dir = state_dir()}));
  TD_RETURN_IF_ERROR(node->luns()
                         .CreateLun({.name = "luns/l", .store = "posix", .members = {member}}, "")
                         .status());
  return node->channels()
      .CreateChannel(
          {.name = "luns/l/channels/c", .block_bytes = kBlockBytes, .datatype = "cf32_le"}, "")
      .status();
}

absl::Status Restart::WithStore(const std::function<absl::Status(store::Store&)>& act) {
  TD_ASSIGN_OR_RETURN(const auto luns, luns::ReadLunFiles(state_dir()));
  TD_ASSIGN_OR_RETURN(lun_uid_, format::Uuid::Parse(luns[0].uid));
  TD_ASSIGN_OR_RETURN(const auto kind, store::FindStoreKind(luns[0].store));
  TD_ASSIGN_OR_RETURN(const auto store, kind.open(luns[0]));
  return act(*store);
}

format::Manifest Restart::ManifestOf(const std::string& id) const {
  format::Manifest manifest{.id = id, .block_bytes = kBlockBytes, .datatype = "cf32_le"};
  manifest.identity.lun = lun_uid_;
  manifest.identity.channel = std::string(1, 'c');
  manifest.identity.epoch = 7;
  manifest.open_time_ns = clock_.WallNs();
  return manifest;
}

absl::Status Restart::MakeClosed(store::Store& store) {
  for (uint64_t i = 1; i < run_.recordings; ++i) {
    const std::string id = absl::StrCat("r", i);
    TD_ASSIGN_OR_RETURN(const auto files, store.Open({.channel = "c", .recording = id},
                                                     store::ToCreate(kBlockBytes), loop_));
    format::Manifest manifest = ManifestOf(id);
    manifest.state = services::RecordingState::kSealed;
    TD_RETURN_IF_ERROR(recording::Await<absl::Status>(loop_, [&](auto done) {
      files->WriteManifest(format::EncodeManifest(manifest), std::move(done));
    }));
  }
  return absl::OkStatus();
}

// Blocks of zeros: a sparse file has them all.
absl::Status Restart::WriteEntries(store::RecordingFiles& files, const format::Manifest& manifest) {
  const std::vector<std::byte> zeros(kBlockBytes);
  const format::EntryFormat entries = manifest.entries();
  format::IndexEntry entry{.payload_bytes = kBlockBytes,
                           .payload_crc32c = dataplane::Crc32c(zeros),
                           .pieces = format::CrcOfPieces(zeros, entries.piece_bytes)};
  for (uint64_t first = 0; first < run_.open_blocks; first += kEntriesAtOnce) {
    store::Bytes bytes(kEntriesAtOnce * entries.entry_bytes);
    for (uint64_t i = 0; i < kEntriesAtOnce; ++i) {
      entry.sequence = first + i;
      entry.check = format::CheckValue(manifest.identity, entry.sequence,
                                       format::PlaceOf(entry.sequence, kBlockBytes, 1),
                                       entry.payload_crc32c, kBlockBytes);
      entries.Encode(entry, 0,
                     std::span(bytes).subspan(i * entries.entry_bytes, entries.entry_bytes));
    }
    TD_RETURN_IF_ERROR(recording::Await<absl::Status>(loop_, [&](auto done) {
      files.WriteIndex(0, entries.Offset(first), std::move(bytes), std::move(done));
    }));
  }
  return absl::OkStatus();
}

absl::Status Restart::MakeOpen(store::Store& store) {
  const store::RecordingPath path{.channel = "c", .recording = "open"};
  TD_RETURN_IF_ERROR(store.DeleteRecording(path));
  const format::Manifest manifest = ManifestOf("open");
  {
    TD_ASSIGN_OR_RETURN(const auto files, store.Open(path, store::ToCreate(kBlockBytes), loop_));
    TD_RETURN_IF_ERROR(WriteEntries(*files, manifest));
    const format::Page mark =
        format::EncodeWatermark({.recording = manifest.identity.recording,
                                 .generation = 1,
                                 .durable = run_.open_blocks - run_.unmarked_blocks},
                                0);
    TD_RETURN_IF_ERROR(recording::Await<absl::Status>(loop_, [&](auto done) {
      files->WriteIndex(0, format::WatermarkOffset(1), store::Bytes(mark.begin(), mark.end()),
                        std::move(done));
    }));
    TD_RETURN_IF_ERROR(recording::Await<absl::Status>(loop_, [&](auto done) {
      files->WriteManifest(format::EncodeManifest(manifest), std::move(done));
    }));
    TD_RETURN_IF_ERROR(
        recording::Await<absl::Status>(loop_, [&](auto done) { files->Flush(std::move(done)); }));
  }
  std::error_code error;
  std::filesystem::resize_file(absl::StrCat(run_.directory, "/member/c/open/data"),
                               run_.open_blocks * kBlockBytes, error);
  return error ? absl::InternalError(error.message()) : absl::OkStatus();
}

absl::StatusOr<int64_t> Restart::Start() {
  const int64_t begin_ns = clock_.NowNs();
  TD_ASSIGN_OR_RETURN(const auto node, node::StorageNode::Create({.state_dir = state_dir()}));
  const int64_t took_ns = clock_.NowNs() - begin_ns;
  TD_ASSIGN_OR_RETURN(const auto open,
                      node->recordings().GetRecording("luns/l/channels/c/recordings/open"));
  if (open.state != services::RecordingState::kSalvaged || open.blocks != run_.open_blocks ||
      open.missing_blocks != 0) {
    return absl::InternalError(absl::StrCat("recovered ", open.blocks, " blocks, ",
                                            open.missing_blocks, " missing: ", open.cause));
  }
  return took_ns;
}

absl::StatusOr<RestartTimes> Restart::Run() {
  RestartTimes times;
  TD_RETURN_IF_ERROR(MakeLun());
  TD_RETURN_IF_ERROR(WithStore([this](store::Store& store) { return MakeClosed(store); }));
  TD_RETURN_IF_ERROR(node::StorageNode::Create({.state_dir = state_dir()}).status());
  TD_RETURN_IF_ERROR(WithStore([this](store::Store& store) { return MakeOpen(store); }));
  TD_ASSIGN_OR_RETURN(times.restart_ns, Start());
  TD_RETURN_IF_ERROR(WithStore([this](store::Store& store) { return MakeOpen(store); }));
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(absl::StrCat(state_dir(), "/catalog.sqlite", suffix));
  }
  TD_ASSIGN_OR_RETURN(times.rebuild_ns, Start());
  return times;
}

}  // namespace

absl::StatusOr<RestartTimes> RunRestart(const RestartRun& run) { return Restart(run).Run(); }

}  // namespace tapedeck::bench

#include "storage_node/recordings/sigmf_view.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/model/recording/part.h"
#include "storage_node/format/sigmf.h"
#include "storage_node/recording/await_block.h"

namespace tapedeck::storage_node::recordings {
namespace {

// A run whose first entry cannot be read belongs to the one before it.
absl::StatusOr<std::vector<format::SigmfRun>> ReadRuns(store::Store& store,
                                                       const store::RecordingPath& path,
                                                       const format::Manifest& manifest,
                                                       const dataplane::Clock& clock) {
  recording::CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(const auto files, store.Open(path, {}, loop));
  index::IndexReader index(*files, manifest.entries(), [] {});
  if (!absl::IsNotFound(recording::AwaitEntry(loop, index, manifest.blocks).status())) {
    return absl::FailedPreconditionError(
        "the data ends with an incomplete block, which other programs would read");
  }
  std::vector<format::SigmfRun> runs;
  for (const uint64_t block : format::SigmfRunsOf(manifest)) {
    const auto& entry = recording::AwaitEntry(loop, index, block);
    if (!entry.ok()) continue;
    runs.push_back({.block = block, .sample_index = entry->sample_index});
  }
  return runs;
}

absl::Status Write(store::Store& store, store::OpenData& data, const store::RecordingPath& path,
                   const format::Manifest& manifest, const dataplane::Clock& clock) {
  TD_ASSIGN_OR_RETURN(const auto runs, ReadRuns(store, path, manifest, clock));
  const std::string text = format::EncodeSigmf(manifest, runs);
  return text.empty() ? absl::OkStatus() : data.WriteSigmf(path, text);
}

}  // namespace

void WriteSigmfView(store::Store& store, const store::RecordingPath& path,
                    const format::Manifest& manifest, const dataplane::Clock& clock) {
  store::OpenData* const data = store.extras().open_data;
  if (data == nullptr || manifest.blocks == 0 || manifest.members != 1) return;
  // A part's neighbours are not those of the stream.
  if (manifest.part.has_value()) return;
  const absl::Status status = Write(store, *data, path, manifest, clock);
  if (status.ok()) return;
  dataplane::Log(dataplane::LogLevel::kWarning, "sigmf", "no .sigmf-meta beside the samples",
                 {{"recording", absl::StrCat(path.channel, "/", path.recording)},
                  {"error", std::string(status.message())}});
}

}  // namespace tapedeck::storage_node::recordings

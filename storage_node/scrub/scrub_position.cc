#include "storage_node/scrub/scrub_position.h"

#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/durable_file.h"
#include "storage_node/disk/errors.h"
#include "storage_node/format/json_fields.h"
#include "storage_node/format/json_text.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::scrub {
namespace {

std::string DirectoryOf(const std::string& state_dir) { return absl::StrCat(state_dir, "/scrub"); }

constexpr absl::string_view kEnding = ".json";

// Ids have no comma.
std::string FileOf(const std::string& state_dir, const std::string& parent) {
  return absl::StrCat(DirectoryOf(state_dir), "/", absl::StrReplaceAll(parent, {{"/", ","}}),
                      kEnding);
}

}  // namespace

ScrubPosition ReadScrubPosition(const std::string& state_dir, const std::string& parent) {
  const auto text = disk::ReadFile(FileOf(state_dir, parent), format::kMaxConfigBytes, state_dir);
  if (!text.ok()) return {};
  const auto object = format::OpenJson(*text, "scrub position", format::kMaxConfigBytes);
  if (!object.ok()) return {};
  format::JsonFields fields(*object, "scrub position");
  const ScrubPosition position{.recording = fields.Text("recording"),
                               .block = fields.Uint("block", UINT64_MAX)};
  return fields.status().ok() ? position : ScrubPosition();
}

absl::Status WriteScrubPosition(const std::string& state_dir, const std::string& parent,
                                const ScrubPosition& position) {
  absl::Status status = disk::MakeDirectory(DirectoryOf(state_dir), state_dir);
  if (status.ok()) {
    status = disk::WriteFileAtomically(FileOf(state_dir, parent),
                                       format::SealJson({{"version", 1},
                                                         {"parent", parent},
                                                         {"recording", position.recording},
                                                         {"block", position.block}}),
                                       state_dir);
  }
  return disk::OfState(state_dir, status);
}

absl::Status ForgetScrubPosition(const std::string& state_dir, const std::string& parent) {
  return disk::OfState(state_dir, disk::RemoveFile(FileOf(state_dir, parent), state_dir));
}

void PruneScrubPositions(const std::string& state_dir,
                         const std::function<bool(const std::string& parent)>& wanted) {
  namespace fs = std::filesystem;
  std::multimap<fs::file_time_type, fs::path> kept;
  std::error_code error;
  for (fs::directory_iterator it(DirectoryOf(state_dir), error), end; !error && it != end;
       it.increment(error)) {
    std::string parent = it->path().filename().string();
    if (!absl::EndsWith(parent, kEnding)) continue;
    parent.resize(parent.size() - kEnding.size());
    std::error_code gone;  // another scrub may end at the same time
    if (wanted(absl::StrReplaceAll(parent, {{",", "/"}}))) {
      kept.emplace(it->last_write_time(gone), it->path());
    } else {
      fs::remove(it->path(), gone);
    }
  }
  for (; kept.size() > kMaxScrubPositions; kept.erase(kept.begin())) {
    fs::remove(kept.begin()->second, error);
  }
}

}  // namespace tapedeck::storage_node::scrub

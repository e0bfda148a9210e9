#include "services/copy/checkpoint_file.h"

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/base/files/input_file.h"
#include "services/base/files/part_file.h"

namespace tapedeck::services::copying {
namespace {

using nlohmann::json;

constexpr char kKind[] = "tapedeck copy";
constexpr uint64_t kMostBytes = 4096;
constexpr size_t kTokenBytes = 16;

std::string PathOf(const std::string& folder, const CopyRequest& request) {
  if (folder.empty()) return "";
  // A stream and its oldest segment have one uid, and not as many blocks.
  const std::string where =
      absl::StrCat(request.to.address, " ", request.channel.name, " ", request.source.blocks);
  const uint32_t id = dataplane::Crc32c(std::as_bytes(std::span(where)));
  return absl::StrCat(folder, "/", request.source.uid, "-", absl::StrFormat("%08x", id), ".json");
}

std::string TextIn(const json& object, const char* name) {
  const json value = object.value(name, json());
  return value.is_string() ? value.get<std::string>() : "";
}

absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  return error ? files::WriteFailed(folder, "mkdir", error.value()) : absl::OkStatus();
}

}  // namespace

CheckpointFile::CheckpointFile(const std::string& folder, const CopyRequest& request)
    : folder_(folder), path_(PathOf(folder, request)) {}

std::optional<Checkpoint> CheckpointFile::Read() const {
  if (path_.empty()) return std::nullopt;
  const auto text = files::ReadText(path_, kMostBytes);
  if (!text.ok()) return std::nullopt;
  const json object = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || TextIn(object, "kind") != kKind) return std::nullopt;
  Checkpoint checkpoint{.recording = TextIn(object, "recording"),
                        .token = absl::HexStringToBytes(TextIn(object, "token"))};
  if (checkpoint.recording.empty() || checkpoint.token.size() != kTokenBytes) return std::nullopt;
  return checkpoint;
}

absl::Status CheckpointFile::Write(const Checkpoint& checkpoint) const {
  if (path_.empty()) return absl::OkStatus();
  TD_RETURN_IF_ERROR(MakeFolder(folder_));
  const std::string text = json{{"kind", kKind},
                                {"recording", checkpoint.recording},
                                {"token", absl::BytesToHexString(checkpoint.token)}}
                               .dump();
  TD_ASSIGN_OR_RETURN(const auto part, files::PartFile::Create(path_, /*replace=*/true));
  if (write(part->fd(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return files::WriteFailed(part->path(), "write", errno);
  }
  return part->Publish();
}

void CheckpointFile::Remove() const {
  if (!path_.empty()) unlink(path_.c_str());
}

}  // namespace tapedeck::services::copying

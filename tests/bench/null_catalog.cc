#include "tests/bench/null_catalog.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/status_macros.h"

namespace tapedeck::bench {
namespace {

using services::Channel;
using services::Lun;
using services::Recording;

constexpr char kDatatype[] = "cf32_le";

absl::Status No() { return absl::UnimplementedError("a null node keeps nothing"); }

}  // namespace

absl::StatusOr<NullTarget> NullTargetOf(const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  const bool channel = parts.size() == 4 || parts.size() == 6;
  NullTarget target;
  if (channel && parts[1] == "null" && absl::SimpleAtoi(parts[3], &target.block_bytes) &&
      target.block_bytes > 0 && target.block_bytes <= services::model::kMaxBlockBytes &&
      (parts.size() == 4 || absl::SimpleAtoi(parts[5], &target.blocks))) {
    return target;
  }
  return absl::NotFoundError(absl::StrCat(name, ": a null node has null/{bytes of a block} alone"));
}

absl::StatusOr<Channel> NullCatalog::GetChannel(const std::string& name) {
  TD_ASSIGN_OR_RETURN(const NullTarget target, NullTargetOf(name));
  return Channel{.name = name,
                 .block_bytes = target.block_bytes,
                 .datatype = kDatatype,
                 .commit = dataplane::CommitLevel::kReceived};
}

absl::StatusOr<Recording> NullCatalog::GetRecording(const std::string& name) {
  TD_ASSIGN_OR_RETURN(const NullTarget target, NullTargetOf(name));
  Recording recording;
  recording.name = name;
  recording.state = services::model::RecordingState::kSealed;
  recording.block_bytes = target.block_bytes;
  recording.datatype = kDatatype;
  recording.blocks = target.blocks;
  recording.bytes = target.blocks * target.block_bytes;
  return recording;
}

absl::StatusOr<Lun> NullCatalog::CreateLun(const Lun&, const std::string&) { return No(); }
absl::StatusOr<Lun> NullCatalog::GetLun(const std::string&) { return No(); }
absl::StatusOr<std::vector<Lun>> NullCatalog::ListLuns() { return No(); }
absl::StatusOr<Lun> NullCatalog::UpdateLun(const services::LunUpdate&, const std::string&) {
  return No();
}
absl::Status NullCatalog::DeleteLun(const std::string&, bool) { return No(); }
absl::StatusOr<Lun> NullCatalog::AttachLun(const services::LunAttachment&, const std::string&) {
  return No();
}
absl::Status NullCatalog::DetachLun(const std::string&) { return No(); }
absl::StatusOr<Channel> NullCatalog::CreateChannel(const Channel&, const std::string&) {
  return No();
}
absl::StatusOr<std::vector<Channel>> NullCatalog::ListChannels(const std::string&) { return No(); }
absl::StatusOr<Channel> NullCatalog::UpdateChannel(const services::ChannelUpdate&,
                                                   const std::string&) {
  return No();
}
absl::Status NullCatalog::DeleteChannel(const std::string&) { return No(); }
absl::StatusOr<std::vector<Recording>> NullCatalog::RecordingsAfter(const std::string&,
                                                                    const services::RecordingKey&,
                                                                    size_t) {
  return No();
}
absl::StatusOr<Recording> NullCatalog::UpdateRecording(const services::RecordingUpdate&) {
  return No();
}
absl::Status NullCatalog::DeleteRecording(const std::string&, const std::string&) { return No(); }
absl::Status NullCatalog::VerifyRecording(
    const std::string&, const std::function<bool(const services::VerifyProgress&)>&) {
  return No();
}

}  // namespace tapedeck::bench

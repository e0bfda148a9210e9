#include "services/server/validate.h"

#include <cmath>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "services/convert/fields.h"
#include "services/errors.h"
#include "services/resource_name.h"

namespace tapedeck::services::server {
namespace {

using convert::FieldError;

// O_DIRECT and pages need the multiple; below the minimum the per-block costs rule, the maximum is
// the largest RDMA message of the slowest supported device.
constexpr uint64_t kBlockMultiple = 4096;
constexpr uint64_t kMinBlockBytes = 64 << 10;
constexpr uint64_t kMaxBlockBytes = 8 << 20;

constexpr uint32_t kMinFftPoints = 16;
constexpr uint32_t kMaxFftPoints = 65536;
// A ring of more slots than this is a typing error: 32 GiB at 8 MiB per block.
constexpr uint32_t kMaxSlots = 4096;
constexpr size_t kMaxMembers = 64;
constexpr int kMaxTones = 64;

absl::Status CheckTransfer(const TransferSpec& spec) {
  const size_t colon = spec.storage.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == spec.storage.size()) {
    return FieldError("storage", "must be the HOST:PORT of a storage node");
  }
  const uint32_t points = spec.fft_points;
  const bool power_of_two = (points & (points - 1)) == 0;
  if (points != 0 && (points < kMinFftPoints || points > kMaxFftPoints || !power_of_two)) {
    return FieldError("fft.points", "must be a power of two from 16 to 65536");
  }
  if (spec.slots > kMaxSlots) return FieldError("slots", "must be at most 4096");
  for (const std::string& rail : spec.rails) TD_RETURN_IF_ERROR(CheckId(rail));
  return absl::OkStatus();
}

struct SourceCheck {
  absl::Status operator()(const SynthSpec& synth) const {
    if (synth.tones.size() > kMaxTones) return FieldError("synth.tones", "are more than 64");
    for (const double tone : synth.tones) {
      if (!(std::abs(tone) <= 0.5)) return FieldError("synth.tones", "must be from -0.5 to 0.5");
    }
    if (!(synth.noise >= 0) || std::isinf(synth.noise)) {
      return FieldError("synth.noise", "must be 0 or more");
    }
    return absl::OkStatus();
  }
  absl::Status operator()(const FileSourceSpec& file) const {
    return file.path.empty() ? FieldError("file.path", "is empty") : absl::OkStatus();
  }
};

}  // namespace

absl::Status CheckNewLun(const Lun& lun) {
  if (lun.members.size() > kMaxMembers) return FieldError("lun.members", "are more than 64");
  if (lun.store != StoreKind::kMemory && lun.members.empty()) {
    return FieldError("lun.members", "are missing: the LUN needs a directory or a device");
  }
  if (lun.store == StoreKind::kMemory && !lun.members.empty()) {
    return FieldError("lun.members", "are set, but a memory LUN has none");
  }
  for (const std::string& member : lun.members) {
    if (member.empty() || member[0] != '/') {
      return FieldError("lun.members", "must be absolute paths on the storage node");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNewChannel(const Channel& channel) {
  const uint64_t bytes = channel.block_bytes;
  if (bytes < kMinBlockBytes || bytes > kMaxBlockBytes || bytes % kBlockMultiple != 0) {
    return WithReason(
        absl::InvalidArgumentError(absl::StrCat(
            "channel.block_bytes ", bytes, " must be a multiple of 4096 from 64 KiB to 8 MiB")),
        "BLOCK_SIZE_INVALID", {{"block_bytes", absl::StrCat(bytes)}});
  }
  if (const auto datatype = dataplane::ParseDatatype(channel.datatype); !datatype.ok()) {
    return WithReason(datatype.status(), "DATATYPE_INVALID", {{"datatype", channel.datatype}});
  }
  if (!(channel.sample_rate >= 0) || std::isinf(channel.sample_rate)) {
    return FieldError("channel.sample_rate", "must be 0 or more samples per second");
  }
  return absl::OkStatus();
}

absl::Status CheckRecordSpec(const RecordSpec& spec) {
  TD_RETURN_IF_ERROR(CheckChannelName(spec.transfer.target));
  TD_RETURN_IF_ERROR(CheckTransfer(spec.transfer));
  TD_RETURN_IF_ERROR(std::visit(SourceCheck{}, spec.source));
  if (spec.duration_ns < 0) return FieldError("duration", "is negative");
  const auto* file = std::get_if<FileSourceSpec>(&spec.source);
  const bool ends = file != nullptr && !file->loop;
  if (!ends && spec.blocks == 0 && spec.duration_ns == 0) {
    return FieldError("limit", "is missing: this source does not end, give blocks or a duration");
  }
  return absl::OkStatus();
}

absl::Status CheckPlaybackSpec(const PlaybackSpec& spec) {
  TD_RETURN_IF_ERROR(CheckRecordingName(spec.transfer.target));
  TD_RETURN_IF_ERROR(CheckTransfer(spec.transfer));
  const auto* file = std::get_if<FileSinkSpec>(&spec.sink);
  if (file != nullptr && file->path.empty()) return FieldError("file.path", "is empty");
  return absl::OkStatus();
}

}  // namespace tapedeck::services::server

#include "services/rpc/server/handlers/validate.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/node_name.h"
#include "services/base/errors.h"
#include "services/model/recording/group.h"
#include "services/model/recording/part.h"
#include "services/model/seams/features.h"
#include "services/model/words/check_fields.h"
#include "services/model/words/member_name.h"
#include "services/model/words/resource_name.h"
#include "services/model/words/storage_list.h"
#include "services/rpc/convert/values/fields.h"

namespace tapedeck::services::server {
namespace {

using convert::FieldError;
using model::CheckFields;

constexpr size_t kMaxMembers = 64;
constexpr size_t kMaxPathBytes = 4096;     // PATH_MAX
constexpr size_t kMaxAddressBytes = 350;   // a name of 253 bytes, a port, and an IP address
constexpr size_t kMaxRequestIdBytes = 64;  // a UUID has 36
constexpr size_t kMaxDeviceBytes = 64;
constexpr size_t kMaxParameters = 64;
constexpr size_t kMaxParameterBytes = 4096;  // the longest is a path
constexpr size_t kMaxNumbers = 4096;

absl::Status CheckPath(absl::string_view field, const std::string& path) {
  if (path.empty()) return FieldError(field, "is empty");
  if (path.size() > kMaxPathBytes) return FieldError(field, "is longer than 4096 bytes");
  return absl::OkStatus();
}

// How much a stage is told; what, the worker knows.
absl::Status CheckStage(absl::string_view field, const StageSpec& stage) {
  if (stage.name.empty()) return FieldError(field, "is not set");
  TD_RETURN_IF_ERROR(CheckId(stage.name));
  if (stage.parameters.size() > kMaxParameters) {
    return FieldError(field, "has more than 64 parameters");
  }
  for (const auto& [name, value] : stage.parameters) {
    TD_RETURN_IF_ERROR(CheckId(name));
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && text->size() > kMaxParameterBytes) {
      return FieldError(absl::StrCat(stage.name, ".", name), "is longer than 4096 bytes");
    }
    const auto* numbers = std::get_if<std::vector<double>>(&value);
    if (numbers != nullptr && numbers->size() > kMaxNumbers) {
      return FieldError(absl::StrCat(stage.name, ".", name), "has more than 4096 numbers");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTransforms(absl::string_view field, const std::vector<StageSpec>& transforms) {
  for (const StageSpec& stage : transforms) TD_RETURN_IF_ERROR(CheckStage(field, stage));
  return absl::OkStatus();
}

// Beside a job that records into `channel`.
absl::Status CheckOutputs(const std::vector<OutputSpec>& outputs, absl::string_view channel) {
  for (const OutputSpec& output : outputs) {
    TD_RETURN_IF_ERROR(CheckFields(output));
    TD_RETURN_IF_ERROR(CheckChannelName(output.channel));
    if (output.channel == channel) {
      return FieldError("outputs.channel", "is the job's own: a second output needs another one");
    }
    TD_RETURN_IF_ERROR(CheckTransforms("outputs.transforms", output.transforms));
  }
  return absl::OkStatus();
}

absl::Status CheckAddress(const std::string& storage) {
  if (storage.size() > kMaxAddressBytes) return FieldError("storage", "is longer than 350 bytes");
  const absl::Status named = naming::CheckNodeName(storage);
  return named.ok() ? named : FieldError("storage", named.message());
}

// Of what CheckAddress takes: the same for all spellings of it.
std::string PlainText(const std::string& storage) {
  return absl::AsciiStrToLower(naming::ParseNodeName(storage)->text());
}

// One, or several for a recording in parts.
absl::Status CheckStorage(const std::string& text) {
  const std::vector<std::string> storages = StoragesOf(text);
  if (storages.size() > model::kMaxParts) return FieldError("storage", "names more than 16 nodes");
  std::set<std::string> seen;
  for (const std::string& storage : storages) {
    TD_RETURN_IF_ERROR(CheckAddress(storage));
    if (!seen.insert(PlainText(storage)).second) {
      return FieldError("storage", "names a node twice");
    }
  }
  return absl::OkStatus();
}

// But for where it goes or comes from.
absl::Status CheckTransfer(const TransferSpec& spec) {
  TD_RETURN_IF_ERROR(CheckRequestId(spec.request_id));
  TD_RETURN_IF_ERROR(CheckFields(spec));
  if (spec.device.size() > kMaxDeviceBytes) return FieldError("device", "is longer than 64 bytes");
  TD_RETURN_IF_ERROR(CheckTransforms("transforms", spec.transforms));
  for (const std::string& rail : spec.rails) TD_RETURN_IF_ERROR(CheckId(rail));
  return absl::OkStatus();
}

// Nodes that a recording may go on at.
absl::Status CheckStandbys(const RecordSpec& spec) {
  const std::vector<std::string>& standbys = spec.transfer.standbys;
  std::set<std::string> seen;
  for (const std::string& storage : StoragesOf(spec.transfer.storage)) {
    seen.insert(PlainText(storage));
  }
  for (const std::string& standby : standbys) {
    TD_RETURN_IF_ERROR(CheckAddress(standby));
    if (!seen.insert(PlainText(standby)).second) return FieldError("standbys", "name a node twice");
  }
  return absl::OkStatus();
}

// What a job may record into.
absl::Status CheckTarget(const std::string& target) {
  return IsInletName(target) ? CheckInletName(target) : CheckChannelName(target);
}

absl::Status CheckMembers(absl::string_view field, const std::vector<std::string>& members) {
  if (members.size() > kMaxMembers) return FieldError(field, "are more than 64");
  for (const std::string& member : members) {
    if (!IsMemberName(member)) {
      return FieldError(field, "must be absolute paths on the storage node");
    }
    TD_RETURN_IF_ERROR(CheckPath(field, member));
  }
  return absl::OkStatus();
}

absl::Status CheckRange(absl::string_view field, uint64_t value, uint64_t least, uint64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return FieldError(field, absl::StrCat("is ", value, ", not ", least, " to ", most));
}

}  // namespace

absl::Status CheckRequestId(const std::string& id) {
  if (id.size() <= kMaxRequestIdBytes) return absl::OkStatus();
  return FieldError("request_id", "is longer than 64 bytes");
}

absl::Status CheckLunMembers(const Lun& lun) { return CheckMembers("lun.members", lun.members); }

absl::Status CheckAttachment(const LunAttachment& attachment) {
  if (attachment.as_new && attachment.name.empty()) {
    return FieldError("lun_id", "is missing: a new LUN needs a name of its own");
  }
  return CheckMembers("members", attachment.members);
}

absl::Status CheckRecordSpec(const RecordSpec& spec) {
  TD_RETURN_IF_ERROR(CheckFields(spec));
  TD_RETURN_IF_ERROR(CheckTarget(spec.transfer.target));
  TD_RETURN_IF_ERROR(CheckStorage(spec.transfer.storage));
  TD_RETURN_IF_ERROR(CheckFeatures(spec));
  TD_RETURN_IF_ERROR(CheckTransfer(spec.transfer));
  TD_RETURN_IF_ERROR(CheckStage("source", spec.source));
  TD_RETURN_IF_ERROR(CheckOutputs(spec.outputs, spec.transfer.target));
  TD_RETURN_IF_ERROR(CheckStandbys(spec));
  if (spec.transfer.group.has_value()) {
    TD_RETURN_IF_ERROR(model::CheckGroup(*spec.transfer.group));
  }
  return CheckAt("at", spec.at_ns);
}

absl::Status CheckPlaybackSpec(const PlaybackSpec& spec) {
  TD_RETURN_IF_ERROR(CheckRecordingName(spec.transfer.target));
  TD_RETURN_IF_ERROR(CheckStorage(spec.transfer.storage));
  TD_RETURN_IF_ERROR(CheckTransfer(spec.transfer));
  if (spec.transfer.device == kAllDevices) {
    return FieldError("device", "is \"all\": a recording is played to one device");
  }
  TD_RETURN_IF_ERROR(CheckPacing(spec));
  return CheckStage("sink", spec.sink);
}

absl::Status CheckReceiveSpec(const ReceiveSpec& spec) {
  TD_RETURN_IF_ERROR(CheckInlet(spec.inlet));
  TD_RETURN_IF_ERROR(CheckTransfer(spec.transfer));
  if (spec.transfer.device == kAllDevices) {
    return FieldError("device", "is \"all\": a stream goes to one device");
  }
  if (spec.wait_ns <= 0 || spec.wait_ns > kMaxInletWaitNs) {
    return FieldError("wait", "is not above 0 and at most a day");
  }
  return CheckStage("sink", spec.sink);
}

absl::Status CheckView(const SpectrogramRequest& request) {
  TD_RETURN_IF_ERROR(CheckRecordingName(request.recording));
  TD_RETURN_IF_ERROR(CheckRange("columns", request.columns, kLeastColumns, kMostColumns));
  if (!std::has_single_bit(request.columns)) {
    return FieldError("columns",
                      absl::StrCat("is ", request.columns, ", which is not a power of 2"));
  }
  return CheckRange("rows", request.rows, 1, kMostRows);
}

absl::Status CheckView(const SamplesRequest& request) {
  TD_RETURN_IF_ERROR(CheckRecordingName(request.recording));
  return CheckRange("sample_count", request.span.count, 1, kMostSamples);
}

absl::Status CheckView(const EnvelopeRequest& request) {
  TD_RETURN_IF_ERROR(CheckRecordingName(request.recording));
  return CheckRange("points", request.points, 1, kMostPoints);
}

}  // namespace tapedeck::services::server

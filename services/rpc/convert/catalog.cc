#include "services/rpc/convert/catalog.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/message.h"
#include "services/rpc/convert/values/transfer.h"

namespace tapedeck::services::convert {
namespace {

template <typename Ours>
absl::StatusOr<Ours> ReadAs(const google::protobuf::Message& wire) {
  Ours out;
  TD_RETURN_IF_ERROR(ReadFields(wire, out));
  return out;
}

}  // namespace

v1::Lun ToProto(const Lun& lun) { return Written<v1::Lun>(lun); }
absl::StatusOr<Lun> FromProto(const v1::Lun& lun) { return ReadAs<Lun>(lun); }

v1::Channel ToProto(const Channel& channel) { return Written<v1::Channel>(channel); }
absl::StatusOr<Channel> FromProto(const v1::Channel& channel) { return ReadAs<Channel>(channel); }

v1::Recording ToProto(const Recording& recording) {
  auto out = Written<v1::Recording>(recording);
  Write(recording.stage_times, *out.mutable_stage_times());
  return out;
}
absl::StatusOr<Recording> FromProto(const v1::Recording& recording) {
  TD_ASSIGN_OR_RETURN(auto out, ReadAs<Recording>(recording));
  out.stage_times = convert::Read(recording.stage_times());
  return out;
}

absl::StatusOr<LunUpdate> FromProto(const v1::UpdateLunRequest& request) {
  return ReadUpdate<Lun>(request.lun(), request.update_mask());
}

absl::StatusOr<ChannelUpdate> FromProto(const v1::UpdateChannelRequest& request) {
  return ReadUpdate<Channel>(request.channel(), request.update_mask());
}

absl::StatusOr<RecordingUpdate> FromProto(const v1::UpdateRecordingRequest& request) {
  // The one field that is no entry of the list.
  constexpr char kStageTimes[] = "stage_times";
  if (std::ranges::count(request.update_mask().paths(), kStageTimes) > 0) {
    return FieldError(kStageTimes, absl::StrCat("cannot change: ", model::WhyFixed({})));
  }
  return ReadUpdate<Recording>(request.recording(), request.update_mask());
}

v1::UpdateLunRequest ToProto(const LunUpdate& update) {
  v1::UpdateLunRequest out;
  out.mutable_lun()->set_name(update.name);
  WriteUpdate(update, *out.mutable_lun(), *out.mutable_update_mask());
  return out;
}

v1::UpdateChannelRequest ToProto(const ChannelUpdate& update) {
  v1::UpdateChannelRequest out;
  out.mutable_channel()->set_name(update.name);
  WriteUpdate(update, *out.mutable_channel(), *out.mutable_update_mask());
  return out;
}

v1::UpdateRecordingRequest ToProto(const RecordingUpdate& update) {
  v1::UpdateRecordingRequest out;
  out.mutable_recording()->set_name(update.name);
  WriteUpdate(update, *out.mutable_recording(), *out.mutable_update_mask());
  return out;
}

v1::DamagedBlock ToProto(const DamagedBlock& block) { return Written<v1::DamagedBlock>(block); }
DamagedBlock FromProto(const v1::DamagedBlock& block) { return ReadSound<DamagedBlock>(block); }

v1::VerifyRecordingResponse ToProto(const VerifyProgress& progress) {
  v1::VerifyRecordingResponse out;
  out.set_checked_blocks(progress.checked_blocks);
  out.set_blocks(progress.blocks);
  for (const DamagedBlock& block : progress.damaged) *out.add_damaged() = ToProto(block);
  return out;
}

VerifyProgress FromProto(const v1::VerifyRecordingResponse& response) {
  VerifyProgress out{.checked_blocks = response.checked_blocks(), .blocks = response.blocks()};
  for (const v1::DamagedBlock& block : response.damaged()) {
    out.damaged.push_back(FromProto(block));
  }
  return out;
}

}  // namespace tapedeck::services::convert

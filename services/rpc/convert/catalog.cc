#include "services/rpc/convert/catalog.h"

#include <google/protobuf/field_mask.pb.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/model/words/update.h"
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

constexpr size_t kMaxShown = 64;

// A path of an update mask, which no field is named by.
absl::Status UnknownPath(const std::string& path) {
  return FieldError("update_mask", absl::StrCat("names '", dataplane::Printable(path, kMaxShown),
                                                "', and there is no such field"));
}

// OK if the field that `path` names can change.
template <typename Struct>
absl::Status CheckPath(const std::string& path) {
  absl::Status status = UnknownPath(path);
  model::ForEachField<Struct>([&](const auto& field) {
    using Value = std::decay_t<decltype(Struct().*field.member)>;
    const bool label =
        std::is_same_v<Value, model::Labels> && !model::LabelIn(path, field.name).empty();
    if ((field.name != path && !label) || !field.told()) return;
    status = field.settable()
                 ? absl::OkStatus()
                 : FieldError(path, absl::StrCat("cannot change: ", model::WhyFixed(field)));
  });
  return status;
}

// Whether it is to change, or a label of it.
template <typename Struct>
bool Names(const model::Update<Struct>& update, absl::string_view field) {
  return std::ranges::any_of(update.fields, [&](const std::string& path) {
    return path == field || !model::LabelIn(path, field).empty();
  });
}

// ARGUMENT_INVALID if the mask is empty, or names a field that there is none of or that stays as it
// was made, and why it does.
template <typename Struct>
absl::StatusOr<model::Update<Struct>> ReadUpdate(const google::protobuf::Message& from,
                                                 const google::protobuf::FieldMask& mask) {
  if (mask.paths().empty()) {
    return FieldError("update_mask", "is empty; name the fields that change");
  }
  for (const std::string& path : mask.paths()) TD_RETURN_IF_ERROR(CheckPath<Struct>(path));
  model::Update<Struct> update;
  update.fields = {mask.paths().begin(), mask.paths().end()};
  absl::Status status;
  const auto* place = PlacesOf<Struct>(from);
  model::ForEachField<Struct>([&](const auto& field) {
    const Places::Place& at = *place++;
    const bool named = Names(update, field.name);
    if (!status.ok() || (!named && field.role != model::Role::kName)) return;
    status = ReadField(ConstWireField(from, at, field), update.to.*field.member);
  });
  TD_RETURN_IF_ERROR(status);
  update.name = update.to.name;
  return update;
}

template <typename Struct>
void WriteUpdate(const model::Update<Struct>& update, google::protobuf::Message& to,
                 google::protobuf::FieldMask& mask) {
  const auto* place = PlacesOf<Struct>(to);
  model::ForEachField<Struct>([&](const auto& field) {
    const Places::Place& at = *place++;
    if (!Names(update, field.name)) return;
    for (const std::string& path : update.fields) {
      if (path == field.name || !model::LabelIn(path, field.name).empty()) mask.add_paths(path);
    }
    WriteField(update.to.*field.member, WireField(to, at, field));
  });
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

#include "storage_node/format/config.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/model/words/member_name.h"
#include "services/model/words/resource_name.h"
#include "storage_node/format/json_fields.h"
#include "storage_node/format/json_text.h"
#include "storage_node/format/limits.h"
#include "storage_node/format/stored_fields.h"
#include "storage_node/format/uuid.h"

namespace tapedeck::storage_node::format {
namespace {

using nlohmann::json;

constexpr uint64_t kConfigVersion = 2;
// Of a LUN of several copies, which who does not know of them would stripe.
constexpr uint64_t kCopiesVersion = 3;

// What another version means may be misread, so nothing of it is read.
absl::Status CheckVersion(JsonFields& fields, absl::string_view what, uint64_t right) {
  const uint64_t version = fields.Uint("version", UINT64_MAX);
  TD_RETURN_IF_ERROR(fields.status());
  if (version == right) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      what, " is of format version ", version, ", and this build reads version ", right,
      ": the node changed nothing; serve it with the Tapedeck that wrote it, and record here into "
      "a new LUN"));
}

// What a check of the model says is wrong, as damage of the file.
absl::Status Damaged(absl::string_view what, const absl::Status& checked) {
  if (checked.ok()) return checked;
  return absl::DataLossError(absl::StrCat(what, ": ", checked.message()));
}

// A LUN's own names and numbers. Its members are where the node looks for its files.
absl::Status CheckLun(JsonFields& fields, const services::Lun& lun) {
  TD_RETURN_IF_ERROR(services::CheckLunName(lun.name));
  TD_RETURN_IF_ERROR(services::CheckId(lun.store));
  TD_RETURN_IF_ERROR(Uuid::Parse(lun.uid).status());
  TD_RETURN_IF_ERROR(Uuid::Parse(lun.recorded_uid()).status());
  fields.Require(absl::c_all_of(lun.members, services::IsMemberName), "members",
                 "has one that is not an absolute path");
  TD_RETURN_IF_ERROR(fields.status());
  return Damaged("lun.json", services::model::CheckLun(lun));
}

}  // namespace

std::string EncodeLun(const services::Lun& lun, uint32_t member) {
  json object = {{"version", lun.mirrored() ? kCopiesVersion : kConfigVersion}, {"member", member}};
  WriteStored(lun, object);
  return SealJson(std::move(object));
}

absl::StatusOr<services::Lun> DecodeLun(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(LunMember found, DecodeLunMember(text));
  return std::move(found.lun);
}

absl::StatusOr<LunMember> DecodeLunMember(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(const json object, OpenJson(text, "lun.json", kMaxConfigBytes));
  JsonFields fields(object, "lun.json");
  const bool copies = fields.Uint("copies", UINT64_MAX) > 1;
  TD_RETURN_IF_ERROR(CheckVersion(fields, "lun.json", copies ? kCopiesVersion : kConfigVersion));
  auto lun = ReadStored<services::Lun>(fields);
  TD_RETURN_IF_ERROR(CheckLun(fields, lun));
  const uint32_t member = fields.Uint32("member");
  TD_RETURN_IF_ERROR(fields
                         .Require(member < std::max<size_t>(1, lun.members.size()), "member",
                                  "is not a member of the LUN")
                         .status());
  return LunMember{.lun = std::move(lun), .member = member};
}

std::string EncodeChannel(const services::Channel& channel, absl::string_view lun_uid) {
  json object = {{"version", kConfigVersion}};
  WriteStored(channel, object);
  if (!lun_uid.empty()) object["lun_uid"] = std::string(lun_uid);
  return SealJson(std::move(object));
}

absl::StatusOr<services::Channel> DecodeChannel(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(ChannelFile file, DecodeChannelFile(text));
  return std::move(file.channel);
}

absl::StatusOr<ChannelFile> DecodeChannelFile(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(const json object, OpenJson(text, "channel.json", kMaxConfigBytes));
  JsonFields fields(object, "channel.json");
  TD_RETURN_IF_ERROR(CheckVersion(fields, "channel.json", kConfigVersion));
  auto channel = ReadStored<services::Channel>(fields);
  TD_RETURN_IF_ERROR(fields.status());
  TD_RETURN_IF_ERROR(services::CheckChannelName(channel.name));
  TD_RETURN_IF_ERROR(Damaged("channel.json", services::model::CheckChannel(channel)));
  ChannelFile file{.channel = std::move(channel), .lun_uid = fields.Text("lun_uid")};
  TD_RETURN_IF_ERROR(fields.status());
  if (!file.lun_uid.empty()) TD_RETURN_IF_ERROR(Uuid::Parse(file.lun_uid).status());
  return file;
}

}  // namespace tapedeck::storage_node::format

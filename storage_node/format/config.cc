#include "storage_node/format/config.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "services/resource_name.h"
#include "storage_node/format/json_fields.h"
#include "storage_node/format/json_text.h"
#include "storage_node/format/limits.h"
#include "storage_node/format/uuid.h"

namespace tapedeck::storage_node::format {
namespace {

using dataplane::CommitLevel;
using dataplane::TransferOp;
using nlohmann::json;

constexpr uint64_t kConfigVersion = 1;
// Of a value that is not known.
constexpr size_t kMaxShown = 32;

constexpr std::pair<TransferOp, absl::string_view> kOps[] = {
    {TransferOp::kRead, "READ"}, {TransferOp::kWrite, "WRITE"}, {TransferOp::kSend, "SEND"}};
constexpr std::pair<CommitLevel, absl::string_view> kLevels[] = {
    {CommitLevel::kReceived, "received"},
    {CommitLevel::kWritten, "written"},
    {CommitLevel::kDurable, "durable"}};

template <typename T, size_t n>
std::string NameOf(const std::pair<T, absl::string_view> (&table)[n], T value) {
  for (const auto& [candidate, name] : table) {
    if (candidate == value) return std::string(name);
  }
  return "";
}

template <typename T, size_t n>
absl::StatusOr<T> ValueOf(const std::pair<T, absl::string_view> (&table)[n],
                          absl::string_view name) {
  for (const auto& [value, candidate] : table) {
    if (candidate == name) return value;
  }
  return absl::DataLossError(
      absl::StrCat("unknown value '", absl::CHexEscape(name.substr(0, kMaxShown)), "'"));
}

absl::Status CheckVersion(JsonFields& fields, absl::string_view what) {
  if (const uint64_t version = fields.Uint("version", UINT64_MAX); version != kConfigVersion) {
    return absl::DataLossError(absl::StrCat(what, ": version ", version, " is not known"));
  }
  return fields.status();
}

// A LUN's own names and numbers. Its members are where the node looks for its files.
absl::Status CheckLun(JsonFields& fields, const services::Lun& lun) {
  TD_RETURN_IF_ERROR(services::CheckLunName(lun.name));
  TD_RETURN_IF_ERROR(Uuid::Parse(lun.uid).status());
  TD_RETURN_IF_ERROR(Uuid::Parse(lun.recorded_uid()).status());
  const bool some = lun.prewrite_files > 0;
  fields
      .Require(lun.members.size() <= kMaxMembers, "members",
               absl::StrCat("are more than ", kMaxMembers))
      .Require(some == (lun.prewrite_bytes > 0) && lun.prewrite_bytes % kPrewriteMultiple == 0,
               "prewrite_bytes", "is no multiple of 4096, or of no files");
  for (const std::string& member : lun.members) {
    fields.Require(member[0] == '/', "members", "has one that is no absolute path");
  }
  return fields.status();
}

std::vector<std::string> ParseMembers(JsonFields& fields) {
  std::vector<std::string> members;
  for (const json& member : fields.List("members")) {
    const bool path = member.is_string() && !member.get_ref<const std::string&>().empty() &&
                      member.get_ref<const std::string&>().find('\0') == std::string::npos;
    fields.Require(path, "members", "has one that is no path");
    if (path) members.push_back(member.get<std::string>());
  }
  return members;
}

}  // namespace

std::string OpName(TransferOp op) { return NameOf(kOps, op); }
std::string CommitName(CommitLevel level) { return NameOf(kLevels, level); }
absl::StatusOr<TransferOp> ParseOp(absl::string_view name) { return ValueOf(kOps, name); }
absl::StatusOr<CommitLevel> ParseCommit(absl::string_view name) { return ValueOf(kLevels, name); }

std::string EncodeLun(const services::Lun& lun, uint32_t member) {
  json object = {{"version", kConfigVersion},
                 {"name", lun.name},
                 {"uid", lun.uid},
                 {"store", NameOf(services::kStoreNames, lun.store)},
                 {"members", lun.members},
                 {"member", member},
                 {"capacity_bytes", lun.capacity_bytes},
                 {"create_time_ns", lun.create_time_ns},
                 {"full_policy", NameOf(services::kFullPolicyNames, lun.full_policy)},
                 {"max_age_ns", lun.max_age_ns},
                 {"max_fill_percent", lun.max_fill_percent}};
  if (!lun.origin_uid.empty()) object["origin_uid"] = lun.origin_uid;
  if (lun.prewrite_files > 0) {
    object["prewrite_files"] = lun.prewrite_files;
    object["prewrite_bytes"] = lun.prewrite_bytes;
  }
  return SealJson(std::move(object));
}

absl::StatusOr<services::Lun> DecodeLun(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(LunMember found, DecodeLunMember(text));
  return std::move(found.lun);
}

absl::StatusOr<LunMember> DecodeLunMember(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(const json object, OpenJson(text, "lun.json", kMaxConfigBytes));
  JsonFields fields(object, "lun.json");
  TD_RETURN_IF_ERROR(CheckVersion(fields, "lun.json"));
  services::Lun lun{.name = fields.Text("name"),
                    .uid = fields.Text("uid"),
                    .origin_uid = fields.Text("origin_uid"),
                    .members = ParseMembers(fields),
                    .capacity_bytes = fields.Uint("capacity_bytes", UINT64_MAX),
                    .create_time_ns = fields.Int("create_time_ns", -kMaxTimeNs, kMaxTimeNs),
                    .max_age_ns = fields.Int("max_age_ns", 0, kMaxDurationNs),
                    .max_fill_percent = fields.Uint32("max_fill_percent", 100),
                    .prewrite_files = fields.Uint32("prewrite_files", kMaxPrewriteFiles),
                    .prewrite_bytes = fields.Uint("prewrite_bytes", kMaxRecordingBytes)};
  TD_ASSIGN_OR_RETURN(lun.full_policy,
                      ValueOf(services::kFullPolicyNames, fields.Text("full_policy")));
  TD_ASSIGN_OR_RETURN(lun.store, ValueOf(services::kStoreNames, fields.Text("store")));
  TD_RETURN_IF_ERROR(CheckLun(fields, lun));
  const uint32_t member = fields.Uint32("member");
  TD_RETURN_IF_ERROR(fields
                         .Require(member < std::max<size_t>(1, lun.members.size()), "member",
                                  "is none of the LUN's members")
                         .status());
  return LunMember{.lun = std::move(lun), .member = member};
}

std::string EncodeChannel(const services::Channel& channel, absl::string_view lun_uid) {
  json object = {{"version", kConfigVersion},
                 {"name", channel.name},
                 {"block_bytes", channel.block_bytes},
                 {"datatype", channel.datatype},
                 {"sample_rate", channel.sample_rate},
                 {"op", channel.op_chosen ? OpName(channel.op) : ""},
                 {"commit", CommitName(channel.commit)},
                 {"create_time_ns", channel.create_time_ns},
                 {"pre_trigger_ns", channel.pre_trigger_ns},
                 {"post_trigger_ns", channel.post_trigger_ns},
                 {"segment_bytes", channel.segment_bytes}};
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
  TD_RETURN_IF_ERROR(CheckVersion(fields, "channel.json"));
  services::Channel channel{.name = fields.Text("name"),
                            .block_bytes = fields.Uint("block_bytes", kMaxBlockBytes),
                            .datatype = fields.Text("datatype"),
                            .sample_rate = fields.Rate("sample_rate"),
                            .create_time_ns = fields.Int("create_time_ns", -kMaxTimeNs, kMaxTimeNs),
                            .pre_trigger_ns = fields.Int("pre_trigger_ns", 0, kMaxDurationNs),
                            .post_trigger_ns = fields.Int("post_trigger_ns", 0, kMaxDurationNs),
                            .segment_bytes = fields.Uint("segment_bytes", UINT64_MAX)};
  TD_RETURN_IF_ERROR(services::CheckChannelName(channel.name));
  TD_RETURN_IF_ERROR(fields
                         .Require(IsBlockSize(channel.block_bytes), "block_bytes",
                                  "is no multiple of 512 up to 8 MiB")
                         .Require(dataplane::ParseDatatype(channel.datatype).ok(), "datatype",
                                  "is no SigMF datatype")
                         .status());
  if (const std::string op = fields.Text("op"); !op.empty()) {
    channel.op_chosen = true;
    TD_ASSIGN_OR_RETURN(channel.op, ParseOp(op));
  }
  TD_ASSIGN_OR_RETURN(channel.commit, ParseCommit(fields.Text("commit")));
  ChannelFile file{.channel = std::move(channel), .lun_uid = fields.Text("lun_uid")};
  TD_RETURN_IF_ERROR(fields.status());
  if (!file.lun_uid.empty()) TD_RETURN_IF_ERROR(Uuid::Parse(file.lun_uid).status());
  return file;
}

}  // namespace tapedeck::storage_node::format

#include "storage_node/format/config.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/json_text.h"

namespace tapedeck::storage_node::format {
namespace {

using dataplane::CommitLevel;
using dataplane::TransferOp;
using nlohmann::json;

constexpr uint64_t kConfigVersion = 1;

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
  return absl::DataLossError(absl::StrCat("unknown value '", name, "'"));
}

absl::StatusOr<json> OpenConfig(absl::string_view text, absl::string_view what) {
  TD_ASSIGN_OR_RETURN(json object, OpenJson(text, what));
  if (const uint64_t version = UintAt(object, "version"); version != kConfigVersion) {
    return absl::DataLossError(absl::StrCat(what, ": version ", version, " is not known"));
  }
  return object;
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
  if (lun.prewrite_files > 0) {
    object["prewrite_files"] = lun.prewrite_files;
    object["prewrite_bytes"] = lun.prewrite_bytes;
  }
  return SealJson(std::move(object));
}

absl::StatusOr<services::Lun> DecodeLun(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(const json object, OpenConfig(text, "lun.json"));
  services::Lun lun{.name = StringAt(object, "name"),
                    .uid = StringAt(object, "uid"),
                    .capacity_bytes = UintAt(object, "capacity_bytes"),
                    .create_time_ns = IntAt(object, "create_time_ns"),
                    .max_age_ns = IntAt(object, "max_age_ns"),
                    .max_fill_percent = static_cast<uint32_t>(UintAt(object, "max_fill_percent")),
                    .prewrite_files = static_cast<uint32_t>(UintAt(object, "prewrite_files")),
                    .prewrite_bytes = UintAt(object, "prewrite_bytes")};
  TD_ASSIGN_OR_RETURN(lun.full_policy,
                      ValueOf(services::kFullPolicyNames, StringAt(object, "full_policy")));
  TD_ASSIGN_OR_RETURN(lun.store, ValueOf(services::kStoreNames, StringAt(object, "store")));
  if (const auto members = object.find("members"); members != object.end()) {
    for (const json& member : *members) {
      if (member.is_string()) lun.members.push_back(member.get<std::string>());
    }
  }
  return lun;
}

std::string EncodeChannel(const services::Channel& channel) {
  return SealJson({{"version", kConfigVersion},
                   {"name", channel.name},
                   {"block_bytes", channel.block_bytes},
                   {"datatype", channel.datatype},
                   {"sample_rate", channel.sample_rate},
                   {"op", channel.op_chosen ? OpName(channel.op) : ""},
                   {"commit", CommitName(channel.commit)},
                   {"create_time_ns", channel.create_time_ns},
                   {"pre_trigger_ns", channel.pre_trigger_ns},
                   {"post_trigger_ns", channel.post_trigger_ns},
                   {"segment_bytes", channel.segment_bytes}});
}

absl::StatusOr<services::Channel> DecodeChannel(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(const json object, OpenConfig(text, "channel.json"));
  services::Channel channel{.name = StringAt(object, "name"),
                            .block_bytes = UintAt(object, "block_bytes"),
                            .datatype = StringAt(object, "datatype"),
                            .sample_rate = DoubleAt(object, "sample_rate"),
                            .create_time_ns = IntAt(object, "create_time_ns"),
                            .pre_trigger_ns = IntAt(object, "pre_trigger_ns"),
                            .post_trigger_ns = IntAt(object, "post_trigger_ns"),
                            .segment_bytes = UintAt(object, "segment_bytes")};
  if (const std::string op = StringAt(object, "op"); !op.empty()) {
    channel.op_chosen = true;
    TD_ASSIGN_OR_RETURN(channel.op, ParseOp(op));
  }
  TD_ASSIGN_OR_RETURN(channel.commit, ParseCommit(StringAt(object, "commit")));
  return channel;
}

}  // namespace tapedeck::storage_node::format

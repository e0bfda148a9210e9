#include "services/convert/catalog_update.h"

#include <functional>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/convert/catalog.h"
#include "services/convert/fields.h"
#include "services/convert/time.h"

namespace tapedeck::services::convert {
namespace {

using google::protobuf::FieldMask;

// How the value of a field that can change goes from the message of a request to the update.
template <typename Wire, typename Update>
using Field = std::function<absl::Status(const Wire&, Update&)>;
using LunField = Field<v1::Lun, LunUpdate>;
using ChannelField = Field<v1::Channel, ChannelUpdate>;

// Why a field cannot change.
using Fixed = std::map<std::string, std::string>;

constexpr char kSaid[] = "the storage node says it, and is not told";
constexpr char kPrewrite[] = "how many such files its members keep is chosen when the LUN is made";
constexpr size_t kMaxShown = 64;

// One whose value is taken as it is.
template <typename Take>
auto Taken(Take take) {
  return [take](const auto& wire, auto& update) {
    take(wire, update);
    return absl::OkStatus();
  };
}

absl::Status TakePolicy(const v1::Lun& lun, LunUpdate& update) {
  TD_ASSIGN_OR_RETURN(update.full_policy, FullPolicyOf(lun.full_policy()));
  return absl::OkStatus();
}

absl::Status TakeOp(const v1::Channel& channel, ChannelUpdate& update) {
  OpChoice op;
  if (channel.transfer_op() != v1::TRANSFER_OP_UNSPECIFIED) {
    TD_ASSIGN_OR_RETURN(op,
                        FromEnum<dataplane::TransferOp>(channel.transfer_op(), 3, "transfer_op"));
  }
  update.op = op;
  return absl::OkStatus();
}

absl::Status TakeCommit(const v1::Channel& channel, ChannelUpdate& update) {
  TD_ASSIGN_OR_RETURN(update.commit, CommitLevelOf(channel.commit_level()));
  return absl::OkStatus();
}

std::map<std::string, LunField> LunFields() {
  return {
      {"capacity_bytes",
       Taken([](const auto& lun, auto& to) { to.capacity_bytes = lun.capacity_bytes(); })},
      {"full_policy", TakePolicy},
      {"max_age",
       Taken([](const auto& lun, auto& to) { to.max_age_ns = FromDuration(lun.max_age()); })},
      {"max_fill_percent",
       Taken([](const auto& lun, auto& to) { to.max_fill_percent = lun.max_fill_percent(); })},
  };
}

Fixed FixedOfLun() {
  return {
      {"name", "detach the LUN, and attach it under another name"},
      {"uid", "its members know each other by it"},
      {"store", "make another LUN"},
      {"members", "the blocks are striped over them; make another LUN"},
      {"used_bytes", kSaid},
      {"recordings", kSaid},
      {"create_time", kSaid},
      {"state", kSaid},
      {"cause", kSaid},
      {"prewrite_files", kPrewrite},
      {"prewrite_bytes", kPrewrite},
  };
}

std::map<std::string, ChannelField> ChannelFields() {
  return {
      {"block_bytes",
       Taken([](const auto& channel, auto& to) { to.block_bytes = channel.block_bytes(); })},
      {"datatype", Taken([](const auto& channel, auto& to) { to.datatype = channel.datatype(); })},
      {"sample_rate",
       Taken([](const auto& channel, auto& to) { to.sample_rate = channel.sample_rate(); })},
      {"transfer_op", TakeOp},
      {"commit_level", TakeCommit},
      {"pre_trigger", Taken([](const auto& channel, auto& to) {
         to.pre_trigger_ns = FromDuration(channel.pre_trigger());
       })},
      {"post_trigger", Taken([](const auto& channel, auto& to) {
         to.post_trigger_ns = FromDuration(channel.post_trigger());
       })},
      {"segment_bytes",
       Taken([](const auto& channel, auto& to) { to.segment_bytes = channel.segment_bytes(); })},
  };
}

Fixed FixedOfChannel() {
  return {{"name", "its recordings lie under it; make another channel"}, {"create_time", kSaid}};
}

// Reads what the mask names.
template <typename Update, typename Wire>
absl::StatusOr<Update> Read(const Wire& wire, const FieldMask& mask,
                            const std::map<std::string, Field<Wire, Update>>& fields,
                            const Fixed& fixed) {
  if (mask.paths().empty()) {
    return FieldError("update_mask", "is empty: it must name the fields that are to change");
  }
  Update update{.name = wire.name()};
  for (const std::string& path : mask.paths()) {
    if (const auto why = fixed.find(path); why != fixed.end()) {
      return FieldError(path, absl::StrCat("cannot change: ", why->second));
    }
    const auto field = fields.find(path);
    if (field == fields.end()) {
      return FieldError("update_mask",
                        absl::StrCat("names '", dataplane::Printable(path, kMaxShown),
                                     "', and there is no such field"));
    }
    TD_RETURN_IF_ERROR(field->second(wire, update));
  }
  return update;
}

// Where there is a value, names it and has it set.
template <typename Value, typename Set>
void Put(FieldMask& mask, const char* path, const std::optional<Value>& value, Set set) {
  if (!value.has_value()) return;
  mask.add_paths(path);
  set(*value);
}

}  // namespace

absl::StatusOr<LunUpdate> FromProto(const v1::UpdateLunRequest& request) {
  return Read<LunUpdate>(request.lun(), request.update_mask(), LunFields(), FixedOfLun());
}

absl::StatusOr<ChannelUpdate> FromProto(const v1::UpdateChannelRequest& request) {
  return Read<ChannelUpdate>(request.channel(), request.update_mask(), ChannelFields(),
                             FixedOfChannel());
}

v1::UpdateLunRequest ToProto(const LunUpdate& update) {
  v1::UpdateLunRequest out;
  v1::Lun& lun = *out.mutable_lun();
  FieldMask& mask = *out.mutable_update_mask();
  lun.set_name(update.name);
  Put(mask, "capacity_bytes", update.capacity_bytes,
      [&](uint64_t v) { lun.set_capacity_bytes(v); });
  Put(mask, "full_policy", update.full_policy,
      [&](FullPolicy v) { lun.set_full_policy(static_cast<v1::FullPolicy>(v)); });
  Put(mask, "max_age", update.max_age_ns,
      [&](int64_t v) { *lun.mutable_max_age() = ToDuration(v); });
  Put(mask, "max_fill_percent", update.max_fill_percent,
      [&](uint32_t v) { lun.set_max_fill_percent(v); });
  return out;
}

v1::UpdateChannelRequest ToProto(const ChannelUpdate& update) {
  v1::UpdateChannelRequest out;
  v1::Channel& channel = *out.mutable_channel();
  FieldMask& mask = *out.mutable_update_mask();
  channel.set_name(update.name);
  Put(mask, "block_bytes", update.block_bytes, [&](uint64_t v) { channel.set_block_bytes(v); });
  Put(mask, "datatype", update.datatype, [&](const std::string& v) { channel.set_datatype(v); });
  Put(mask, "sample_rate", update.sample_rate, [&](double v) { channel.set_sample_rate(v); });
  Put(mask, "transfer_op", update.op, [&](const OpChoice& v) {
    if (v.has_value()) channel.set_transfer_op(static_cast<v1::TransferOp>(*v));
  });
  Put(mask, "commit_level", update.commit,
      [&](dataplane::CommitLevel v) { channel.set_commit_level(static_cast<v1::CommitLevel>(v)); });
  Put(mask, "pre_trigger", update.pre_trigger_ns,
      [&](int64_t v) { *channel.mutable_pre_trigger() = ToDuration(v); });
  Put(mask, "post_trigger", update.post_trigger_ns,
      [&](int64_t v) { *channel.mutable_post_trigger() = ToDuration(v); });
  Put(mask, "segment_bytes", update.segment_bytes,
      [&](uint64_t v) { channel.set_segment_bytes(v); });
  return out;
}

}  // namespace tapedeck::services::convert

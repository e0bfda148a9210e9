#include "storage_node/node/changes.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "storage_node/format/config.h"

namespace tapedeck::storage_node::node {
namespace {

// Collects fields whose two values differ.
class Differences {
 public:
  Differences& Add(absl::string_view field, const std::string& before, const std::string& after) {
    if (before != after) texts_.push_back(absl::StrCat(field, " ", before, " -> ", after));
    return *this;
  }
  template <typename Number>
  Differences& Add(absl::string_view field, Number before, Number after) {
    return Add(field, absl::StrCat(before), absl::StrCat(after));
  }
  std::string Text() const { return texts_.empty() ? "none" : absl::StrJoin(texts_, ", "); }

 private:
  std::vector<std::string> texts_;
};

std::string PolicyName(services::FullPolicy policy) {
  for (const auto& [each, name] : services::kFullPolicyNames) {
    if (each == policy) return std::string(name);
  }
  return "";
}

std::string OpOf(const services::Channel& channel) {
  return channel.op_chosen ? format::OpName(channel.op) : "none";
}

}  // namespace

std::string Changes(const services::Lun& before, const services::Lun& after) {
  return Differences()
      .Add("capacity_bytes", before.capacity_bytes, after.capacity_bytes)
      .Add("full_policy", PolicyName(before.full_policy), PolicyName(after.full_policy))
      .Add("max_age_ns", before.max_age_ns, after.max_age_ns)
      .Add("max_fill_percent", before.max_fill_percent, after.max_fill_percent)
      .Text();
}

std::string Changes(const services::Channel& before, const services::Channel& after) {
  return Differences()
      .Add("block_bytes", before.block_bytes, after.block_bytes)
      .Add("datatype", before.datatype, after.datatype)
      .Add("sample_rate", before.sample_rate, after.sample_rate)
      .Add("op", OpOf(before), OpOf(after))
      .Add("commit", format::CommitName(before.commit), format::CommitName(after.commit))
      .Add("pre_trigger_ns", before.pre_trigger_ns, after.pre_trigger_ns)
      .Add("post_trigger_ns", before.post_trigger_ns, after.post_trigger_ns)
      .Add("segment_bytes", before.segment_bytes, after.segment_bytes)
      .Text();
}

}  // namespace tapedeck::storage_node::node

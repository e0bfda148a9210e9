#include "storage_node/node/changes.h"

#include <optional>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/model/words/field.h"
#include "services/model/words/names.h"

namespace tapedeck::storage_node::node {
namespace {

template <typename Value>
std::string TextOf(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return std::string(services::model::NameOf(value));
  } else {
    return absl::StrCat(value);
  }
}

template <typename Value>
std::string TextOf(const std::optional<Value>& value) {
  return value.has_value() ? TextOf(*value) : "none";
}

std::string TextOf(const std::vector<std::string>& values) { return absl::StrJoin(values, " "); }

std::string TextOf(const services::model::Labels& labels) {
  return absl::StrCat("(", absl::StrJoin(labels, " ", absl::PairFormatter("=")), ")");
}

template <typename Struct>
std::string Differences(const Struct& before, const Struct& after) {
  std::vector<std::string> texts;
  services::model::ForEachField<Struct>([&](const auto& field) {
    if (before.*field.member == after.*field.member) return;
    texts.push_back(absl::StrCat(field.name, " ", TextOf(before.*field.member), " -> ",
                                 TextOf(after.*field.member)));
  });
  return texts.empty() ? "none" : absl::StrJoin(texts, ", ");
}

}  // namespace

std::string Changes(const services::Lun& before, const services::Lun& after) {
  return Differences(before, after);
}

std::string Changes(const services::Channel& before, const services::Channel& after) {
  return Differences(before, after);
}

}  // namespace tapedeck::storage_node::node

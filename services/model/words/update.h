// What of a LUN, a channel or a recording is to change. What is not named stays as it is. "labels"
// names all labels, and "labels.site" the one called site: it gets its value, or goes if there is
// none. A value; any thread.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/model/words/description.h"
#include "services/model/words/field.h"

namespace tapedeck::services::model {

// The label that `path` names of this field; empty: none.
inline absl::string_view LabelIn(absl::string_view path, absl::string_view field) {
  const bool names = absl::StartsWith(path, absl::StrCat(field, "."));
  return names ? path.substr(field.size() + 1) : absl::string_view();
}

// Those of `fields` that name one label each take it from `from`.
inline void UpdateLabels(absl::string_view field, const std::set<std::string>& fields,
                         const Labels& from, Labels* to) {
  for (const std::string& path : fields) {
    const std::string label(LabelIn(path, field));
    if (label.empty()) continue;
    const auto found = from.find(label);
    if (found == from.end()) {
      to->erase(label);
    } else {
      (*to)[label] = found->second;
    }
  }
}

template <typename Struct>
struct Update {
  std::string name;              // of the thing
  std::set<std::string> fields;  // as in the proto; each is settable
  Struct to;                     // of which only these count

  // `member` is settable, or chosen when the thing is made.
  template <typename Value>
  Update& Set(Value Struct::*member, std::type_identity_t<Value> value) {
    fields.emplace(FieldName(member));
    to.*member = std::move(value);
    return *this;
  }
};

// The same with the changes.
template <typename Struct>
Struct Updated(Struct thing, const Update<Struct>& update) {
  ForEachField<Struct>([&](const auto& field) {
    auto& value = thing.*field.member;
    if (update.fields.contains(std::string(field.name))) {
      value = update.to.*field.member;
    } else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Labels>) {
      UpdateLabels(field.name, update.fields, update.to.*field.member, &value);
    }
  });
  return thing;
}

// Whether it names a label of its own.
template <typename Struct>
bool NamesLabel(const Update<Struct>& update) {
  return std::ranges::any_of(update.fields, [](const std::string& path) {
    return absl::StartsWith(path, absl::StrCat(FieldName(&Struct::labels), "."));
  });
}

// Both changes in one; the later one holds.
template <typename Struct>
void Merge(Update<Struct>& into, const Update<Struct>& later) {
  into.to = Updated(std::move(into.to), later);
  into.fields.insert(later.fields.begin(), later.fields.end());
}

}  // namespace tapedeck::services::model

namespace tapedeck::services {

using model::Updated;

}  // namespace tapedeck::services

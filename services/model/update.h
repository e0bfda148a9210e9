// What of a LUN or of a channel is to change. What is not named stays as it is. A value; any
// thread.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "services/model/field.h"

namespace tapedeck::services::model {

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
    if (update.fields.contains(std::string(field.name))) {
      thing.*field.member = update.to.*field.member;
    }
  });
  return thing;
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

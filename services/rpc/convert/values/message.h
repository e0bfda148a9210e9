// Structs of the model to and from their messages, by their lists of fields
// (services/model/words/field.h) and protobuf's reflection: each field goes into the one of its
// name.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/status_macros.h"
#include "services/model/words/field.h"
#include "services/rpc/convert/values/fields.h"

namespace tapedeck::services::convert {

// Where messages of a type have the fields of a list.
struct Places {
  // Has a null descriptor if the messages have no such field, or it is told to nobody.
  struct Place {
    const google::protobuf::FieldDescriptor* field;
    const google::protobuf::Reflection* reflection;
    bool keeps_zero;  // a zero that is set differs from one that is not

    // Whether a message that is made of the list has the field.
    bool Has(const model::FieldTraits& traits) const {
      return field != nullptr || (traits.told() && !traits.in_some);
    }
  };

  const google::protobuf::Descriptor& type;
  std::vector<Place> fields;  // in the order of the list
  const Places* next;         // of other types, kept for good
};

const Places& AddPlaces(const google::protobuf::Message& message,
                        std::span<const model::FieldTraits* const> list,
                        std::atomic<const Places*>& known);

// Looked up once for each type that is made of the list. Any thread.
template <typename Struct>
const Places::Place* PlacesOf(const google::protobuf::Message& message) {
  static constinit std::atomic<const Places*> known = nullptr;
  const auto* const type = message.GetDescriptor();
  const Places* at = known.load(std::memory_order_acquire);
  while (at != nullptr && &at->type != type) at = at->next;
  if (at != nullptr) return at->fields.data();
  static constexpr auto kList = std::apply(
      [](const auto&... field) {
        return std::array<const model::FieldTraits*, sizeof...(field)>{&field...};
      },
      model::Fields<Struct>::kList);
  return AddPlaces(message, kList, known).fields.data();
}

// A place in a message. What is zero or empty is not set, unless the field `keeps`. Reading takes
// what is in a message as it is, where the value can hold it. A number that an enum of the proto
// does not have is ARGUMENT_INVALID, or as if not set where the field `grows`.
class WireField {
 public:
  // `place` is of the message, and of the value's type.
  WireField(google::protobuf::Message& message, const Places::Place& place,
            const model::FieldTraits& field)
      : message_(message), place_(place), field_(place.field), keeps_(field.keeps) {}

  void Write(const std::string& value) const;
  void Write(double value) const;
  void Write(bool value) const;
  void Write(int32_t value) const;
  void Write(uint16_t value) const;
  void Write(uint32_t value) const;
  void Write(uint64_t value) const;
  void Write(int64_t ns) const;                 // a google.protobuf.Timestamp or Duration, or plain
  void Write(std::optional<int64_t> ns) const;  // the same, where 0 is set, too
  void Write(const std::vector<std::string>& values) const;
  void Write(const std::map<std::string, std::string>& values) const;
  void Write(const std::vector<float>& values) const;  // bytes, 4 each, little-endian
  void Write(const absl::Status& status) const;        // a google.rpc.Status
  void WriteNumber(int value) const;                   // of an enum
  google::protobuf::Message& Add() const;              // to a list of messages
  google::protobuf::Message& Set() const;              // a message of its own

 private:
  google::protobuf::Message& message_;
  const Places::Place& place_;
  const google::protobuf::FieldDescriptor* const field_;
  const bool keeps_;
};

class ConstWireField {
 public:
  ConstWireField(const google::protobuf::Message& message, const Places::Place& place,
                 const model::FieldTraits& field)
      : message_(message),
        place_(place),
        field_(place.field),
        grows_(field.grows),
        keeps_(field.keeps) {}

  void Read(std::string& value) const;
  void Read(double& value) const;
  void Read(bool& value) const;
  void Read(int32_t& value) const;
  void Read(uint32_t& value) const;
  void Read(uint64_t& value) const;
  void Read(int64_t& ns) const;
  void Read(std::optional<int64_t>& ns) const;
  void Read(std::vector<std::string>& values) const;
  void Read(std::map<std::string, std::string>& values) const;
  void Read(absl::Status& status) const;
  absl::Status Read(uint16_t& value) const;             // over 65,535 is ARGUMENT_INVALID
  absl::Status Read(std::vector<float>& values) const;  // as is the part of a float
  // None if it is not set.
  absl::StatusOr<std::optional<int>> ReadNumber() const;
  int size() const;
  bool IsSet() const;  // of a field that can be absent
  const google::protobuf::Message& Get() const;
  const google::protobuf::Message& At(int index) const;

 private:
  const google::protobuf::Message& message_;
  const Places::Place& place_;
  const google::protobuf::FieldDescriptor* const field_;
  const bool grows_;
  const bool keeps_;
};

template <typename T>
concept HasFields = requires {
  model::Fields<T>::kList;
};

template <typename Struct>
void WriteFields(const Struct& from, google::protobuf::Message& to);
template <typename Struct>
absl::Status ReadFields(const google::protobuf::Message& from, Struct& to);

template <typename Value>
void WriteField(const Value& value, const WireField& to) {
  if constexpr (std::is_enum_v<Value>) {
    to.WriteNumber(static_cast<int>(value));
  } else {
    to.Write(value);
  }
}

inline void WriteField(std::optional<int64_t> ns, const WireField& to) { to.Write(ns); }

template <typename Value>
void WriteField(const std::optional<Value>& value, const WireField& to) {
  if (value.has_value()) WriteField(*value, to);
}

template <HasFields Struct>
void WriteField(const std::vector<Struct>& values, const WireField& to) {
  for (const Struct& value : values) WriteFields(value, to.Add());
}

// One that says nothing is not set.
template <HasFields Struct>
void WriteField(const Struct& value, const WireField& to) {
  if (value != Struct()) WriteFields(value, to.Set());
}

template <HasFields Struct>
void WriteField(const std::optional<Struct>& value, const WireField& to) {
  if (value.has_value()) WriteFields(*value, to.Set());
}

// What is not set leaves the value as it was.
template <typename Value>
absl::Status ReadField(const ConstWireField& from, Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    TD_ASSIGN_OR_RETURN(const std::optional<int> number, from.ReadNumber());
    if (number.has_value()) value = static_cast<Value>(*number);
    return absl::OkStatus();
  } else if constexpr (std::is_void_v<decltype(from.Read(value))>) {
    from.Read(value);
    return absl::OkStatus();
  } else {
    return from.Read(value);
  }
}

inline absl::Status ReadField(const ConstWireField& from, std::optional<int64_t>& ns) {
  from.Read(ns);
  return absl::OkStatus();
}

template <typename Value>
absl::Status ReadField(const ConstWireField& from, std::optional<Value>& value) {
  value.reset();
  if constexpr (std::is_enum_v<Value>) {
    TD_ASSIGN_OR_RETURN(const std::optional<int> number, from.ReadNumber());
    if (number.has_value()) value = static_cast<Value>(*number);
  } else if (from.IsSet()) {
    from.Read(value.emplace());
  }
  return absl::OkStatus();
}

template <HasFields Struct>
absl::Status ReadField(const ConstWireField& from, std::vector<Struct>& values) {
  values.resize(static_cast<size_t>(from.size()));
  for (int i = 0; i < from.size(); ++i) {
    TD_RETURN_IF_ERROR(ReadFields(from.At(i), values[static_cast<size_t>(i)]));
  }
  return absl::OkStatus();
}

template <HasFields Struct>
absl::Status ReadField(const ConstWireField& from, Struct& value) {
  return from.IsSet() ? ReadFields(from.Get(), value) : absl::OkStatus();
}

template <HasFields Struct>
absl::Status ReadField(const ConstWireField& from, std::optional<Struct>& value) {
  value.reset();
  return from.IsSet() ? ReadFields(from.Get(), value.emplace()) : absl::OkStatus();
}

template <typename Struct>
void WriteFields(const Struct& from, google::protobuf::Message& to) {
  const auto* place = PlacesOf<Struct>(to);
  model::ForEachField<Struct>([&](const auto& field) {
    const Places::Place& at = *place++;
    const auto& value = std::invoke(field.member, from);
    if constexpr (HasFields<std::decay_t<decltype(value)>>) {
      if (field.flat && at.field == nullptr) return WriteFields(value, to);
    }
    if (at.Has(field)) WriteField(value, WireField(to, at, field));
  });
}

template <typename Value>
absl::Status ReadMember(const google::protobuf::Message& from, const Places::Place& at,
                        const model::FieldTraits& field, Value& value) {
  if constexpr (HasFields<Value>) {
    if (field.flat && at.field == nullptr) return ReadFields(from, value);
  }
  if (!at.Has(field)) return absl::OkStatus();
  const ConstWireField wire(from, at, field);
  TD_RETURN_IF_ERROR(ReadField(wire, value));
  if (!field.required || wire.ReadNumber()->has_value()) return absl::OkStatus();
  return FieldError(field.name, "is not set");
}

template <typename Struct>
absl::Status ReadFields(const google::protobuf::Message& from, Struct& to) {
  absl::Status status;
  const auto* place = PlacesOf<Struct>(from);
  model::ForEachField<Struct>([&](const auto& field) {
    const Places::Place& at = *place++;
    if constexpr (std::is_member_object_pointer_v<decltype(field.member)>) {
      if (status.ok()) status = ReadMember(from, at, field, to.*field.member);
    }
  });
  return status;
}

template <typename Wire, typename Ours>
Wire Written(const Ours& ours) {
  Wire out;
  WriteFields(ours, out);
  return out;
}

// Of a message without an enum that a later version may not extend.
template <typename Ours>
Ours ReadSound(const google::protobuf::Message& from) {
  Ours out;
  ReadFields(from, out).IgnoreError();  // nothing of it can be wrong
  return out;
}

}  // namespace tapedeck::services::convert

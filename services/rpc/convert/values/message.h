// Structs of the model to and from their messages, by their lists of fields
// (services/model/words/field.h) and protobuf's reflection: each field goes into the one of its
// name.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/model/words/field.h"
#include "services/model/words/update.h"
#include "services/rpc/convert/values/fields.h"

namespace tapedeck::services::convert {

// Whether a message that is made of a list has the field.
inline bool Has(const google::protobuf::Message& message, const model::FieldTraits& field) {
  return field.told() && (!field.in_some || message.GetDescriptor()->FindFieldByName(
                                                std::string(field.name)) != nullptr);
}

// A place in a message. What is zero or empty is not set, unless the field `keeps`. Reading takes
// what is in a message as it is, but for enums, of which a number that the proto does not have is
// ARGUMENT_INVALID, or as if not set where the field `grows`.
class WireField {
 public:
  // The message has a field of that name and of the value's type.
  WireField(google::protobuf::Message& message, const model::FieldTraits& field);

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
  const google::protobuf::FieldDescriptor* const field_;
  const bool keeps_;
};

class ConstWireField {
 public:
  ConstWireField(const google::protobuf::Message& message, const model::FieldTraits& field);

  void Read(std::string& value) const;
  void Read(double& value) const;
  void Read(bool& value) const;
  void Read(int32_t& value) const;
  void Read(uint16_t& value) const;
  void Read(uint32_t& value) const;
  void Read(uint64_t& value) const;
  void Read(int64_t& ns) const;
  void Read(std::optional<int64_t>& ns) const;
  void Read(std::vector<std::string>& values) const;
  void Read(std::map<std::string, std::string>& values) const;
  void Read(std::vector<float>& values) const;  // none if they are cut
  void Read(absl::Status& status) const;
  // None if it is not set.
  absl::StatusOr<std::optional<int>> ReadNumber() const;
  int size() const;
  bool IsSet() const;  // of a field that can be absent
  const google::protobuf::Message& Get() const;
  const google::protobuf::Message& At(int index) const;

 private:
  const google::protobuf::Message& message_;
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
  } else {
    from.Read(value);
  }
  return absl::OkStatus();
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

// Whether the fields of `field` are the message's own.
inline bool IsFlat(const google::protobuf::Message& message, const model::FieldTraits& field) {
  return field.flat && message.GetDescriptor()->FindFieldByName(std::string(field.name)) == nullptr;
}

template <typename Struct>
void WriteFields(const Struct& from, google::protobuf::Message& to) {
  model::ForEachField<Struct>([&](const auto& field) {
    const auto& value = std::invoke(field.member, from);
    if constexpr (HasFields<std::decay_t<decltype(value)>>) {
      if (IsFlat(to, field)) return WriteFields(value, to);
    }
    if (Has(to, field)) WriteField(value, WireField(to, field));
  });
}

template <typename Value>
absl::Status ReadMember(const google::protobuf::Message& from, const model::FieldTraits& field,
                        Value& value) {
  if constexpr (HasFields<Value>) {
    if (IsFlat(from, field)) return ReadFields(from, value);
  }
  if (!Has(from, field)) return absl::OkStatus();
  const ConstWireField wire(from, field);
  TD_RETURN_IF_ERROR(ReadField(wire, value));
  if (!field.required || wire.ReadNumber()->has_value()) return absl::OkStatus();
  return FieldError(field.name, "is not set");
}

template <typename Struct>
absl::Status ReadFields(const google::protobuf::Message& from, Struct& to) {
  absl::Status status;
  model::ForEachField<Struct>([&](const auto& field) {
    if constexpr (std::is_member_object_pointer_v<decltype(field.member)>) {
      if (status.ok()) status = ReadMember(from, field, to.*field.member);
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

// INVALID_ARGUMENT (ARGUMENT_INVALID) about a path of an update mask, which no field is named by.
absl::Status UnknownPath(const std::string& path);

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
    return FieldError("update_mask", "is empty: it must name the fields that are to change");
  }
  for (const std::string& path : mask.paths()) TD_RETURN_IF_ERROR(CheckPath<Struct>(path));
  model::Update<Struct> update;
  update.fields = {mask.paths().begin(), mask.paths().end()};
  absl::Status status;
  model::ForEachField<Struct>([&](const auto& field) {
    const bool named = Names(update, field.name);
    if (!status.ok() || (!named && field.role != model::Role::kName)) return;
    status = ReadField(ConstWireField(from, field), update.to.*field.member);
  });
  TD_RETURN_IF_ERROR(status);
  update.name = update.to.name;
  return update;
}

template <typename Struct>
void WriteUpdate(const model::Update<Struct>& update, google::protobuf::Message& to,
                 google::protobuf::FieldMask& mask) {
  model::ForEachField<Struct>([&](const auto& field) {
    if (!Names(update, field.name)) return;
    for (const std::string& path : update.fields) {
      if (path == field.name || !model::LabelIn(path, field.name).empty()) mask.add_paths(path);
    }
    WriteField(update.to.*field.member, WireField(to, field));
  });
}

}  // namespace tapedeck::services::convert

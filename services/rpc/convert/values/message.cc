#include "services/rpc/convert/values/message.h"

#include <google/protobuf/map.h>

#include <bit>
#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/little_endian.h"
#include "dataplane/printable.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/time.h"

namespace tapedeck::services::convert {
namespace {

using google::protobuf::Duration;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Timestamp;

constexpr size_t kMaxShown = 64;

// A type of message and the text of a list's name.
using Place = std::pair<const google::protobuf::Descriptor*, const char*>;
struct PlaceHash {
  size_t operator()(const Place& place) const {
    return std::hash<const void*>()(place.first) * 31 + std::hash<const void*>()(place.second);
  }
};

// Looked up once on each thread for each name of a list. Names are constants of the program, so a
// name is known by its place.
const FieldDescriptor* Find(const Message& message, const model::FieldTraits& field) {
  thread_local std::unordered_map<Place, const FieldDescriptor*, PlaceHash> known;
  const google::protobuf::Descriptor* type = message.GetDescriptor();
  const auto [it, is_new] = known.try_emplace(Place(type, field.name.data()));
  if (is_new) it->second = type->FindFieldByName(std::string(field.name));
  return it->second;
}

// An entry of a map<string, string>.
const FieldDescriptor* KeyOf(const FieldDescriptor* field) {
  return field->message_type()->map_key();
}
const FieldDescriptor* ValueOf(const FieldDescriptor* field) {
  return field->message_type()->map_value();
}

}  // namespace

WireField::WireField(Message& message, const model::FieldTraits& field)
    : message_(message), field_(Find(message, field)), keeps_(field.keeps) {}

void WireField::Write(const std::string& value) const {
  message_.GetReflection()->SetString(&message_, field_, value);
}

void WireField::Write(double value) const {
  message_.GetReflection()->SetDouble(&message_, field_, value);
}

void WireField::Write(bool value) const {
  message_.GetReflection()->SetBool(&message_, field_, value);
}

void WireField::Write(int32_t value) const {
  message_.GetReflection()->SetInt32(&message_, field_, value);
}

void WireField::Write(uint16_t value) const { Write(uint32_t{value}); }

void WireField::Write(uint32_t value) const {
  message_.GetReflection()->SetUInt32(&message_, field_, value);
}

void WireField::Write(uint64_t value) const {
  // It would clear the others.
  if (value == 0 && field_->real_containing_oneof() != nullptr) return;
  message_.GetReflection()->SetUInt64(&message_, field_, value);
}

void WireField::Write(int64_t ns) const {
  if (ns != 0 || keeps_) Write(std::optional(ns));
}

void WireField::Write(std::optional<int64_t> ns) const {
  if (!ns.has_value()) return;
  if (field_->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    return message_.GetReflection()->SetInt64(&message_, field_, *ns);
  }
  Message* const to = message_.GetReflection()->MutableMessage(&message_, field_);
  if (field_->message_type() == Timestamp::descriptor()) {
    to->CopyFrom(ToTimestamp(*ns));
  } else {
    to->CopyFrom(ToDuration(*ns));
  }
}

void WireField::Write(const std::vector<std::string>& values) const {
  for (const std::string& value : values) {
    message_.GetReflection()->AddString(&message_, field_, value);
  }
}

void WireField::Write(const std::map<std::string, std::string>& values) const {
  for (const auto& [key, value] : values) {
    Message& entry = Add();
    entry.GetReflection()->SetString(&entry, KeyOf(field_), key);
    entry.GetReflection()->SetString(&entry, ValueOf(field_), value);
  }
}

void WireField::Write(const std::vector<float>& values) const {
  std::string bytes(values.size() * sizeof(float), '\0');
  auto* at = reinterpret_cast<std::byte*>(bytes.data());
  for (const float value : values) {
    dataplane::PutLittleEndian(at, std::bit_cast<uint32_t>(value));
    at += sizeof(float);
  }
  Write(bytes);
}

void WireField::Write(const absl::Status& status) const {
  if (!status.ok()) Set().CopyFrom(ToProto(status));
}

void WireField::WriteNumber(int value) const {
  message_.GetReflection()->SetEnumValue(&message_, field_, value);
}

Message& WireField::Add() const { return *message_.GetReflection()->AddMessage(&message_, field_); }

Message& WireField::Set() const {
  return *message_.GetReflection()->MutableMessage(&message_, field_);
}

ConstWireField::ConstWireField(const Message& message, const model::FieldTraits& field)
    : message_(message), field_(Find(message, field)), grows_(field.grows), keeps_(field.keeps) {}

void ConstWireField::Read(std::string& value) const {
  value = message_.GetReflection()->GetString(message_, field_);
}

void ConstWireField::Read(double& value) const {
  value = message_.GetReflection()->GetDouble(message_, field_);
}

void ConstWireField::Read(bool& value) const {
  value = message_.GetReflection()->GetBool(message_, field_);
}

void ConstWireField::Read(int32_t& value) const {
  value = message_.GetReflection()->GetInt32(message_, field_);
}

void ConstWireField::Read(uint16_t& value) const {
  value = static_cast<uint16_t>(message_.GetReflection()->GetUInt32(message_, field_));
}

void ConstWireField::Read(uint32_t& value) const {
  if (keeps_ && !IsSet()) return;
  value = message_.GetReflection()->GetUInt32(message_, field_);
}

void ConstWireField::Read(uint64_t& value) const {
  value = message_.GetReflection()->GetUInt64(message_, field_);
}

void ConstWireField::Read(int64_t& ns) const {
  if (keeps_ && !IsSet()) return;
  if (field_->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    ns = message_.GetReflection()->GetInt64(message_, field_);
    return;
  }
  const Message& from = message_.GetReflection()->GetMessage(message_, field_);
  if (field_->message_type() == Timestamp::descriptor()) {
    Timestamp time;
    time.CopyFrom(from);
    ns = FromTimestamp(time);
  } else {
    Duration duration;
    duration.CopyFrom(from);
    ns = FromDuration(duration);
  }
}

void ConstWireField::Read(std::optional<int64_t>& ns) const {
  ns.reset();
  if (message_.GetReflection()->HasField(message_, field_)) Read(ns.emplace());
}

void ConstWireField::Read(std::vector<std::string>& values) const {
  values.clear();
  for (int i = 0; i < size(); ++i) {
    values.push_back(message_.GetReflection()->GetRepeatedString(message_, field_, i));
  }
}

void ConstWireField::Read(std::map<std::string, std::string>& values) const {
  values.clear();
  for (int i = 0; i < size(); ++i) {
    const Message& entry = At(i);
    values[entry.GetReflection()->GetString(entry, KeyOf(field_))] =
        entry.GetReflection()->GetString(entry, ValueOf(field_));
  }
}

void ConstWireField::Read(std::vector<float>& values) const {
  std::string bytes;
  Read(bytes);
  values.resize(bytes.size() % sizeof(float) == 0 ? bytes.size() / sizeof(float) : 0);
  const auto* at = reinterpret_cast<const std::byte*>(bytes.data());
  for (float& value : values) {
    value = std::bit_cast<float>(dataplane::GetLittleEndian<uint32_t>(at));
    at += sizeof(float);
  }
}

void ConstWireField::Read(absl::Status& status) const {
  google::rpc::Status wire;
  wire.CopyFrom(Get());
  status = FromProto(wire);
}

absl::StatusOr<std::optional<int>> ConstWireField::ReadNumber() const {
  const int number = message_.GetReflection()->GetEnumValue(message_, field_);
  if (number == 0) return std::nullopt;
  if (field_->enum_type()->FindValueByNumber(number) == nullptr) {
    if (grows_) return std::nullopt;
    return FieldError(field_->name(),
                      absl::StrCat("has the value ", number, ", which is not known"));
  }
  return number;
}

bool ConstWireField::IsSet() const { return message_.GetReflection()->HasField(message_, field_); }

const Message& ConstWireField::Get() const {
  return message_.GetReflection()->GetMessage(message_, field_);
}

int ConstWireField::size() const { return message_.GetReflection()->FieldSize(message_, field_); }

const Message& ConstWireField::At(int index) const {
  return message_.GetReflection()->GetRepeatedMessage(message_, field_, index);
}

absl::Status UnknownPath(const std::string& path) {
  return FieldError("update_mask", absl::StrCat("names '", dataplane::Printable(path, kMaxShown),
                                                "', and there is no such field"));
}

}  // namespace tapedeck::services::convert

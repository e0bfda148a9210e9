#include "services/rpc/convert/values/message.h"

#include <google/protobuf/map.h>

#include <bit>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "dataplane/little_endian.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/time.h"

namespace tapedeck::services::convert {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Duration;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Timestamp;

// An entry of a map<string, string>.
const FieldDescriptor* KeyOf(const FieldDescriptor* field) {
  return field->message_type()->map_key();
}
const FieldDescriptor* ValueOf(const FieldDescriptor* field) {
  return field->message_type()->map_value();
}

}  // namespace

const Places& AddPlaces(const Message& message, std::span<const model::FieldTraits* const> list,
                        std::atomic<const Places*>& known) {
  const Descriptor& type = *message.GetDescriptor();
  auto* const added = new Places{type, {}, known.load(std::memory_order_relaxed)};
  for (const model::FieldTraits* const traits : list) {
    const auto* const field =
        traits->told() ? type.FindFieldByName(std::string(traits->name)) : nullptr;
    added->fields.push_back(
        {field, message.GetReflection(), field != nullptr && field->has_presence()});
  }
  // Of two threads that look the same up, both add it.
  while (!known.compare_exchange_weak(added->next, added, std::memory_order_release,
                                      std::memory_order_relaxed)) {
  }
  return *added;
}

void WireField::Write(const std::string& value) const {
  if (value.empty() && !place_.keeps_zero) return;
  place_.reflection->SetString(&message_, field_, value);
}

void WireField::Write(double value) const {
  if (value == 0 && !place_.keeps_zero) return;
  place_.reflection->SetDouble(&message_, field_, value);
}

void WireField::Write(bool value) const {
  if (!value && !place_.keeps_zero) return;
  place_.reflection->SetBool(&message_, field_, value);
}

void WireField::Write(int32_t value) const {
  if (value == 0 && !place_.keeps_zero) return;
  place_.reflection->SetInt32(&message_, field_, value);
}

void WireField::Write(uint16_t value) const { Write(uint32_t{value}); }

void WireField::Write(uint32_t value) const {
  if (value == 0 && !place_.keeps_zero) return;
  place_.reflection->SetUInt32(&message_, field_, value);
}

void WireField::Write(uint64_t value) const {
  // Of a oneof it would clear the others.
  if (value == 0 && (!place_.keeps_zero || field_->real_containing_oneof() != nullptr)) return;
  place_.reflection->SetUInt64(&message_, field_, value);
}

void WireField::Write(int64_t ns) const {
  if (ns != 0 || keeps_) Write(std::optional(ns));
}

void WireField::Write(std::optional<int64_t> ns) const {
  if (!ns.has_value()) return;
  if (field_->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    return place_.reflection->SetInt64(&message_, field_, *ns);
  }
  Message* const to = place_.reflection->MutableMessage(&message_, field_);
  if (field_->message_type() == Timestamp::descriptor()) {
    to->CopyFrom(ToTimestamp(*ns));
  } else {
    to->CopyFrom(ToDuration(*ns));
  }
}

void WireField::Write(const std::vector<std::string>& values) const {
  for (const std::string& value : values) {
    place_.reflection->AddString(&message_, field_, value);
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
  place_.reflection->SetEnumValue(&message_, field_, value);
}

Message& WireField::Add() const { return *place_.reflection->AddMessage(&message_, field_); }

Message& WireField::Set() const { return *place_.reflection->MutableMessage(&message_, field_); }

void ConstWireField::Read(std::string& value) const {
  std::string kept_elsewhere;
  value = place_.reflection->GetStringReference(message_, field_, &kept_elsewhere);
}

void ConstWireField::Read(double& value) const {
  value = place_.reflection->GetDouble(message_, field_);
}

void ConstWireField::Read(bool& value) const {
  value = place_.reflection->GetBool(message_, field_);
}

void ConstWireField::Read(int32_t& value) const {
  value = place_.reflection->GetInt32(message_, field_);
}

absl::Status ConstWireField::Read(uint16_t& value) const {
  const uint32_t number = place_.reflection->GetUInt32(message_, field_);
  if (number > UINT16_MAX) {
    return FieldError(field_->name(), absl::StrCat("is ", number, "; at most ", UINT16_MAX));
  }
  value = static_cast<uint16_t>(number);
  return absl::OkStatus();
}

void ConstWireField::Read(uint32_t& value) const {
  if (keeps_ && !IsSet()) return;
  value = place_.reflection->GetUInt32(message_, field_);
}

void ConstWireField::Read(uint64_t& value) const {
  value = place_.reflection->GetUInt64(message_, field_);
}

void ConstWireField::Read(int64_t& ns) const {
  if (keeps_ && !IsSet()) return;
  if (field_->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    ns = place_.reflection->GetInt64(message_, field_);
    return;
  }
  const Message& from = place_.reflection->GetMessage(message_, field_);
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
  if (place_.reflection->HasField(message_, field_)) Read(ns.emplace());
}

void ConstWireField::Read(std::vector<std::string>& values) const {
  values.clear();
  for (int i = 0; i < size(); ++i) {
    values.push_back(place_.reflection->GetRepeatedString(message_, field_, i));
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

absl::Status ConstWireField::Read(std::vector<float>& values) const {
  std::string bytes;
  Read(bytes);
  if (bytes.size() % sizeof(float) != 0) {
    return FieldError(field_->name(),
                      absl::StrCat("has ", bytes.size(), " bytes; a value takes ", sizeof(float)));
  }
  values.resize(bytes.size() / sizeof(float));
  const auto* at = reinterpret_cast<const std::byte*>(bytes.data());
  for (float& value : values) {
    value = std::bit_cast<float>(dataplane::GetLittleEndian<uint32_t>(at));
    at += sizeof(float);
  }
  return absl::OkStatus();
}

void ConstWireField::Read(absl::Status& status) const {
  google::rpc::Status wire;
  wire.CopyFrom(Get());
  status = FromProto(wire);
}

absl::StatusOr<std::optional<int>> ConstWireField::ReadNumber() const {
  const int number = place_.reflection->GetEnumValue(message_, field_);
  if (number == 0) return std::nullopt;
  if (field_->enum_type()->FindValueByNumber(number) == nullptr) {
    if (grows_) return std::nullopt;
    return FieldError(field_->name(),
                      absl::StrCat("has the value ", number, ", which is not known"));
  }
  return number;
}

bool ConstWireField::IsSet() const { return place_.reflection->HasField(message_, field_); }

const Message& ConstWireField::Get() const {
  return place_.reflection->GetMessage(message_, field_);
}

int ConstWireField::size() const { return place_.reflection->FieldSize(message_, field_); }

const Message& ConstWireField::At(int index) const {
  return place_.reflection->GetRepeatedMessage(message_, field_, index);
}

}  // namespace tapedeck::services::convert

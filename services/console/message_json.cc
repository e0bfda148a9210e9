#include "services/console/message_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "google/rpc/status.pb.h"
#include "services/observe/doctor/finding.h"
#include "services/rpc/convert/catalog.h"
#include "services/rpc/convert/jobs.h"
#include "services/rpc/convert/recorder.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/message.h"
#include "services/rpc/convert/values/time.h"
#include "services/site/field_json.h"
#include "tapedeck/v1/doctor.pb.h"
#include "tapedeck/v1/node.pb.h"
#include "tapedeck/v1/stages.pb.h"

namespace tapedeck::services::console {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Duration;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldMask;
using google::protobuf::Message;
using google::protobuf::Timestamp;
using tapectl::Json;
using Field = google::protobuf::FieldDescriptor;

// None: a later version's, which this one cannot read.
using Print = std::optional<Json> (*)(const Message& message);

template <typename Wire>
std::optional<Json> PrintObject(const Message& message) {
  const auto object = convert::FromProto(static_cast<const Wire&>(message));
  return object.ok() ? std::optional(tapectl::ToJson(*object)) : std::nullopt;
}

template <typename Struct>
std::optional<Json> PrintFields(const Message& message) {
  Struct object;
  if (!convert::ReadFields(message, object).ok()) return std::nullopt;
  return tapectl::FieldsAsJson(object);
}

std::optional<Json> PrintShare(const Message& message) {
  auto share = convert::ReadSound<explain::StageShare>(message);
  if (share.thread.empty()) share.thread_share = 0;  // on the wire it is its own
  return tapectl::FieldsAsJson(share);
}

// Of the messages that tapectl prints.
Print PrintOf(const Descriptor* type) {
  static const std::pair<const Descriptor*, Print> kObjects[] = {
      {v1::Lun::descriptor(), PrintObject<v1::Lun>},
      {v1::Channel::descriptor(), PrintObject<v1::Channel>},
      {v1::Recording::descriptor(), PrintObject<v1::Recording>},
      {v1::Job::descriptor(), PrintObject<v1::Job>},
      {v1::Node::descriptor(), PrintFields<NodeInfo>},
      {v1::WatchStatsResponse::descriptor(), PrintFields<NodeStats>},
      {v1::DamagedBlock::descriptor(), PrintFields<DamagedBlock>},
      {v1::Annotation::descriptor(), PrintFields<Annotation>},
      {v1::Capture::descriptor(), PrintFields<Capture>},
      {v1::Scrub::descriptor(), PrintFields<Scrub>},
      {v1::DoctorFinding::descriptor(), PrintFields<doctor::Finding>},
      {v1::RailFacts::descriptor(), PrintFields<doctor::RailFacts>},
      {v1::StageShare::descriptor(), PrintShare}};
  for (const auto& [known, print] : kObjects) {
    if (known == type) return print;
  }
  return nullptr;
}

bool Holds(const Field& field, const Descriptor* type) {
  return field.cpp_type() == Field::CPPTYPE_MESSAGE && field.message_type() == type;
}

// "RECORDING_STATE_" of RecordingState.
absl::string_view PrefixOf(const EnumDescriptor& type) {
  const absl::string_view none = type.value(0)->name();
  return absl::EndsWith(none, "_UNSPECIFIED") ? absl::StripSuffix(none, "UNSPECIFIED") : "";
}

Json WordOf(const EnumDescriptor& type, int number) {
  const auto* value = type.FindValueByNumber(number);
  if (value == nullptr) return number;
  return number == 0 ? Json() : Json(std::string(absl::StripPrefix(value->name(), PrefixOf(type))));
}

Json TextOf(const Field& field, const std::string& text) {
  return field.type() == Field::TYPE_BYTES ? absl::Base64Escape(text) : text;
}

// A browser rounds what is further from 0: that is a text, as in protobuf's JSON.
template <typename Number>
Json ExactlyOf(Number number) {
  constexpr int64_t kMost = int64_t{1} << 53;
  const bool exact = std::cmp_less_equal(number, kMost) && std::cmp_greater_equal(number, -kMost);
  return exact ? Json(number) : Json(absl::StrCat(number));
}

Json PrintMessage(const Message& value) {
  const Descriptor* const type = value.GetDescriptor();
  if (type == Timestamp::descriptor()) {
    return tapectl::FormatExactTime(convert::FromTimestamp(static_cast<const Timestamp&>(value)));
  }
  if (type == Duration::descriptor()) {
    return tapectl::Seconds(convert::FromDuration(static_cast<const Duration&>(value)));
  }
  if (type == FieldMask::descriptor()) {
    return absl::StrJoin(static_cast<const FieldMask&>(value).paths(), ",");
  }
  if (type == google::rpc::Status::descriptor()) {
    return tapectl::ToJson(convert::FromProto(static_cast<const google::rpc::Status&>(value)));
  }
  return JsonOf(value);
}

// Of the `at`th of a list, or what is in none.
Json PrintValue(const Message& of, const Field& field, std::optional<int> at = std::nullopt) {
  const auto& get = *of.GetReflection();
  switch (field.cpp_type()) {
    case Field::CPPTYPE_INT32:
      return at ? get.GetRepeatedInt32(of, &field, *at) : get.GetInt32(of, &field);
    case Field::CPPTYPE_INT64:
      return ExactlyOf(at ? get.GetRepeatedInt64(of, &field, *at) : get.GetInt64(of, &field));
    case Field::CPPTYPE_UINT32:
      return at ? get.GetRepeatedUInt32(of, &field, *at) : get.GetUInt32(of, &field);
    case Field::CPPTYPE_UINT64:
      return ExactlyOf(at ? get.GetRepeatedUInt64(of, &field, *at) : get.GetUInt64(of, &field));
    case Field::CPPTYPE_DOUBLE:
      return at ? get.GetRepeatedDouble(of, &field, *at) : get.GetDouble(of, &field);
    case Field::CPPTYPE_FLOAT:
      return at ? get.GetRepeatedFloat(of, &field, *at) : get.GetFloat(of, &field);
    case Field::CPPTYPE_BOOL:
      return at ? get.GetRepeatedBool(of, &field, *at) : get.GetBool(of, &field);
    case Field::CPPTYPE_ENUM:
      return WordOf(*field.enum_type(),
                    at ? get.GetRepeatedEnumValue(of, &field, *at) : get.GetEnumValue(of, &field));
    case Field::CPPTYPE_STRING:
      return TextOf(field, at ? get.GetRepeatedString(of, &field, *at) : get.GetString(of, &field));
    case Field::CPPTYPE_MESSAGE:
      return PrintMessage(at ? get.GetRepeatedMessage(of, &field, *at)
                             : get.GetMessage(of, &field));
  }
  return {};
}

Json PrintList(const Message& of, const Field& field) {
  const int size = of.GetReflection()->FieldSize(of, &field);
  Json out = field.is_map() ? Json::object() : Json::array();
  for (int at = 0; at < size; ++at) {
    if (!field.is_map()) {
      out.push_back(PrintValue(of, field, at));
      continue;
    }
    const Message& entry = of.GetReflection()->GetRepeatedMessage(of, &field, at);
    out[entry.GetReflection()->GetString(entry, field.message_type()->map_key())] =
        PrintValue(entry, *field.message_type()->map_value());
  }
  return out;
}

// A duration is NAME_s, also where it is a plain number.
std::string KeyOf(const Field& field) {
  absl::string_view name = field.name();
  const bool seconds =
      Holds(field, Duration::descriptor()) || absl::ConsumeSuffix(&name, "_seconds");
  return absl::StrCat(name, seconds ? "_s" : "");
}

// Of a field that is not set; none: it is left out.
std::optional<Json> PrintAbsent(const Field& field) {
  if (Holds(field, google::rpc::Status::descriptor())) return std::nullopt;
  const bool alone = field.real_containing_oneof() == nullptr;
  return Holds(field, Duration::descriptor()) && alone ? Json(0.0) : Json();
}

std::string NameOf(const EnumDescriptor& type, const std::string& word) {
  const std::string name = absl::StrCat(PrefixOf(type), absl::AsciiStrToUpper(word));
  return type.FindValueByName(name) == nullptr ? word : name;
}

Json ValueForProtobuf(Json json, const Field& field) {
  if (json.is_array()) {
    for (Json& one : json) one = ValueForProtobuf(std::move(one), field);
    return json;
  }
  if (field.is_map() && json.is_object()) {
    const Field& value = *field.message_type()->map_value();
    for (auto& [key, one] : json.items()) one = ValueForProtobuf(std::move(one), value);
    return json;
  }
  if (field.cpp_type() == Field::CPPTYPE_ENUM && json.is_string()) {
    return NameOf(*field.enum_type(), json.get<std::string>());
  }
  if (field.cpp_type() != Field::CPPTYPE_MESSAGE) return json;
  if (Holds(field, Duration::descriptor()) && json.is_number()) {
    return absl::StrFormat("%.9fs", json.get<double>());
  }
  return AsProtobufHasIt(std::move(json), *field.message_type());
}

}  // namespace

Json JsonOf(const Message& message) {
  if (const Print print = PrintOf(message.GetDescriptor()); print != nullptr) {
    if (std::optional<Json> json = print(message); json.has_value()) return *std::move(json);
  }
  Json out = Json::object();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const Field& field = *message.GetDescriptor()->field(i);
    const std::string key = KeyOf(field);
    if (field.is_repeated()) {
      out[key] = PrintList(message, field);
    } else if (!field.has_presence() || message.GetReflection()->HasField(message, &field)) {
      out[key] = PrintValue(message, field);
    } else if (std::optional<Json> absent = PrintAbsent(field); absent.has_value()) {
      out[key] = *std::move(absent);
    }
  }
  return out;
}

Json AsProtobufHasIt(Json json, const Descriptor& type) {
  if (!json.is_object()) return json;
  Json out = Json::object();
  for (auto& [key, value] : json.items()) {
    const Field* field = type.FindFieldByName(key);
    absl::string_view name = key;
    if (field == nullptr && absl::ConsumeSuffix(&name, "_s")) {
      field = type.FindFieldByName(std::string(name));
      if (field == nullptr || !Holds(*field, Duration::descriptor())) name = key;
    }
    if (name == key && (field == nullptr || field->name() != key)) {
      out[key] = std::move(value);
    } else {
      out[std::string(name)] = ValueForProtobuf(std::move(value), *field);
    }
  }
  return out;
}

}  // namespace tapedeck::services::console

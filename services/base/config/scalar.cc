#include "services/base/config/scalar.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <tapedeck/v1/setting.pb.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "dataplane/status_macros.h"
#include "services/base/command_line/nearest.h"
#include "services/base/command_line/units.h"
#include "services/base/config/fault.h"

namespace tapedeck::services::config {
namespace {

using google::protobuf::Duration;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int64_t kNanosPerSecond = 1'000'000'000;

const v1::Setting& SettingOf(const FieldDescriptor& field) {
  return field.options().GetExtension(v1::setting);
}

bool IsDuration(const FieldDescriptor& field) {
  return field.message_type() != nullptr && field.message_type() == Duration::descriptor();
}

bool InBytes(const FieldDescriptor& field) {
  return SettingOf(field).unit() == v1::SETTING_UNIT_BYTES;
}

absl::Status Wrong(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(Quoted(text), " is not ", what));
}

// The bounds of a number that the setting has, within those of its type.
template <typename T>
struct Bounds {
  explicit Bounds(const FieldDescriptor& field) {
    const v1::Setting& setting = SettingOf(field);
    if (setting.has_least()) least = static_cast<T>(setting.least());
    if (setting.has_most()) most = static_cast<T>(setting.most());
  }

  bool Hold(T value) const { return value >= least && value <= most; }

  T least = std::numeric_limits<T>::lowest();
  T most = std::numeric_limits<T>::max();
};

template <typename T>
absl::StatusOr<T> Whole(absl::string_view text, const FieldDescriptor& field) {
  const Bounds<T> bounds(field);
  T value = 0;
  if (absl::SimpleAtoi(text, &value) && bounds.Hold(value)) return value;
  return Wrong(text, absl::StrCat("a whole number from ", bounds.least, " to ", bounds.most));
}

absl::StatusOr<uint64_t> Bytes(absl::string_view text, const FieldDescriptor& field) {
  const Bounds<uint64_t> bounds(field);
  TD_ASSIGN_OR_RETURN(const uint64_t bytes, command_line::ParseBytes(text));
  if (bounds.Hold(bytes)) return bytes;
  return Wrong(text, absl::StrCat("a size from ", command_line::BytesText(bounds.least), " to ",
                                  command_line::BytesText(bounds.most)));
}

absl::StatusOr<double> Real(absl::string_view text, const FieldDescriptor& field) {
  const Bounds<double> bounds(field);
  double value = 0;
  if (absl::SimpleAtod(text, &value) && std::isfinite(value) && bounds.Hold(value)) return value;
  return Wrong(text, absl::StrCat("a number from ", bounds.least, " to ", bounds.most));
}

absl::StatusOr<int64_t> DurationNs(absl::string_view text, const FieldDescriptor& field) {
  const Bounds<int64_t> bounds(field);
  TD_ASSIGN_OR_RETURN(const int64_t ns, command_line::ParseDurationOrZeroNs(text));
  if (bounds.Hold(ns)) return ns;
  const auto shown = [](int64_t bound) { return absl::FormatDuration(absl::Nanoseconds(bound)); };
  return Wrong(text, absl::StrCat("a duration from ", shown(std::max<int64_t>(bounds.least, 0)),
                                  " to ", shown(bounds.most)));
}

absl::StatusOr<bool> Boolean(absl::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return Wrong(text, "true or false");
}

// What all words of an enum begin with by the rules of protobuf: that of 0 is PREFIX_UNSPECIFIED.
absl::string_view PrefixOf(const EnumDescriptor& type) {
  const absl::string_view zero = type.value(0)->name();
  const absl::string_view end = "UNSPECIFIED";
  return absl::EndsWith(zero, end) ? zero.substr(0, zero.size() - end.size()) : "";
}

std::string WordOf(const EnumValueDescriptor& value) {
  return absl::AsciiStrToLower(absl::StripPrefix(value.name(), PrefixOf(*value.type())));
}

absl::StatusOr<int> EnumNumber(absl::string_view text, const EnumDescriptor& type) {
  std::vector<std::string> words;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() == 0) continue;
    words.push_back(WordOf(*type.value(i)));
    if (text == words.back() || text == type.value(i)->name()) return type.value(i)->number();
  }
  const std::vector<std::string> nearest = command_line::Nearest(text, words);
  return Wrong(text, absl::StrCat("one of ", absl::StrJoin(words, ", "),
                                  nearest.empty() ? "" : "; ", command_line::DidYouMean(nearest)));
}

// Sets or adds, by whether the field is a list.
class Slot {
 public:
  Slot(const FieldDescriptor& field, Message& message)
      : field_(&field), message_(&message), reflection_(*message.GetReflection()) {}

  template <typename T, typename Value>
  absl::Status Put(absl::StatusOr<Value> value,
                   void (google::protobuf::Reflection::*set)(Message*, const FieldDescriptor*, T)
                       const,
                   void (google::protobuf::Reflection::*add)(Message*, const FieldDescriptor*, T)
                       const) const {
    TD_RETURN_IF_ERROR(value.status());
    (reflection_.*(field_->is_repeated() ? add : set))(message_, field_, *std::move(value));
    return absl::OkStatus();
  }

  absl::Status PutDuration(absl::StatusOr<int64_t> ns) const {
    TD_RETURN_IF_ERROR(ns.status());
    Message* const to = field_->is_repeated() ? reflection_.AddMessage(message_, field_)
                                              : reflection_.MutableMessage(message_, field_);
    Duration duration;
    duration.set_seconds(*ns / kNanosPerSecond);
    duration.set_nanos(static_cast<int32_t>(*ns % kNanosPerSecond));
    to->CopyFrom(duration);
    return absl::OkStatus();
  }

 private:
  const FieldDescriptor* const field_;
  Message* const message_;
  const google::protobuf::Reflection& reflection_;
};

absl::Status SetUnsigned(absl::string_view text, const FieldDescriptor& field, const Slot& slot) {
  using google::protobuf::Reflection;
  return slot.Put<uint64_t>(InBytes(field) ? Bytes(text, field) : Whole<uint64_t>(text, field),
                            &Reflection::SetUInt64, &Reflection::AddUInt64);
}

std::string UnsignedText(uint64_t value, const FieldDescriptor& field) {
  return InBytes(field) ? command_line::BytesText(value) : absl::StrCat(value);
}

// The shortest text that is the same number again.
std::string RealText(double value) {
  std::string text = absl::StrCat(value);
  double again = 0;
  if (!absl::SimpleAtod(text, &again) || again != value) text = absl::StrFormat("%.17g", value);
  return text;
}

std::string DurationText(const Message& message) {
  Duration duration;
  duration.CopyFrom(message);
  return absl::FormatDuration(absl::Seconds(duration.seconds()) +
                              absl::Nanoseconds(duration.nanos()));
}

// What YAML takes for something else than a text.
bool IsNumberOrBoolean(absl::string_view text) {
  double number = 0;
  return text == "true" || text == "false" ||
         (absl::SimpleAtod(text, &number) && std::isfinite(number));
}

// Where numbers and booleans are quoted, somebody meant a text.
bool TakesQuoted(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_ENUM:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return true;
    default:
      return InBytes(field);
  }
}

}  // namespace

bool IsScalar(const FieldDescriptor& field) {
  return field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || IsDuration(field);
}

absl::Status SetScalar(absl::string_view text, Written written, const FieldDescriptor& field,
                       Message& message) {
  using google::protobuf::Reflection;
  const Slot slot(field, message);
  if (written == Written::kQuoted && !TakesQuoted(field)) {
    return Wrong(text, absl::StrCat("written without quotes, as a ", field.cpp_type_name(), " is"));
  }
  if (written == Written::kPlain && field.cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
      IsNumberOrBoolean(text)) {
    return Wrong(text, "a text without quotes");
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return slot.Put<std::string>(absl::StatusOr<std::string>(std::string(text)),
                                   &Reflection::SetString, &Reflection::AddString);
    case FieldDescriptor::CPPTYPE_BOOL:
      return slot.Put<bool>(Boolean(text), &Reflection::SetBool, &Reflection::AddBool);
    case FieldDescriptor::CPPTYPE_INT32:
      return slot.Put<int32_t>(Whole<int32_t>(text, field), &Reflection::SetInt32,
                               &Reflection::AddInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return slot.Put<int64_t>(Whole<int64_t>(text, field), &Reflection::SetInt64,
                               &Reflection::AddInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return slot.Put<uint32_t>(Whole<uint32_t>(text, field), &Reflection::SetUInt32,
                                &Reflection::AddUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return SetUnsigned(text, field, slot);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return slot.Put<double>(Real(text, field), &Reflection::SetDouble, &Reflection::AddDouble);
    case FieldDescriptor::CPPTYPE_ENUM:
      return slot.Put<int>(EnumNumber(text, *field.enum_type()), &Reflection::SetEnumValue,
                           &Reflection::AddEnumValue);
    default:
      if (IsDuration(field)) return slot.PutDuration(DurationNs(text, field));
      return Wrong(text, "of a type that a configuration can have");
  }
}

std::string ScalarText(const Message& message, const FieldDescriptor& field, int index) {
  const google::protobuf::Reflection& from = *message.GetReflection();
  const bool one = index < 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return one ? from.GetString(message, &field) : from.GetRepeatedString(message, &field, index);
    case FieldDescriptor::CPPTYPE_BOOL:
      return (one ? from.GetBool(message, &field) : from.GetRepeatedBool(message, &field, index))
                 ? "true"
                 : "false";
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(one ? from.GetInt32(message, &field)
                              : from.GetRepeatedInt32(message, &field, index));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(one ? from.GetInt64(message, &field)
                              : from.GetRepeatedInt64(message, &field, index));
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(one ? from.GetUInt32(message, &field)
                              : from.GetRepeatedUInt32(message, &field, index));
    case FieldDescriptor::CPPTYPE_UINT64:
      return UnsignedText(
          one ? from.GetUInt64(message, &field) : from.GetRepeatedUInt64(message, &field, index),
          field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return RealText(one ? from.GetDouble(message, &field)
                          : from.GetRepeatedDouble(message, &field, index));
    case FieldDescriptor::CPPTYPE_ENUM:
      return WordOf(
          *(one ? from.GetEnum(message, &field) : from.GetRepeatedEnum(message, &field, index)));
    default:
      return DurationText(one ? from.GetMessage(message, &field)
                              : from.GetRepeatedMessage(message, &field, index));
  }
}

}  // namespace tapedeck::services::config

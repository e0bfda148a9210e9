#include "services/base/config/writer.h"

#include <google/protobuf/descriptor.h>
#include <tapedeck/v1/setting.pb.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/printable.h"
#include "services/base/config/scalar.h"

namespace tapedeck::services::config {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr char kMask[] = "***";

// In double quotes, in which YAML and JSON mean the same.
std::string InQuotes(absl::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t bytes = dataplane::PrintableBytes(text);
    if (text[0] == '"' || text[0] == '\\') {
      absl::StrAppend(&out, "\\", text.substr(0, 1));
    } else if (bytes == 0) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned char>(text[0]));
    } else {
      absl::StrAppend(&out, text.substr(0, bytes));
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out + "\"";
}

bool IsNumberOrBoolean(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_ENUM:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return false;
    default:
      return field.options().GetExtension(v1::setting).unit() != v1::SETTING_UNIT_BYTES;
  }
}

// Whether a field that is no list has something to show.
bool IsSet(const Message& message, const FieldDescriptor& field) {
  const bool text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING ||
                    field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM;
  if (!field.has_presence() && !text) return true;
  return message.GetReflection()->HasField(message, &field);
}

class Yaml {
 public:
  std::string Take() && { return std::move(out_); }

  // Each line begins with `indent` spaces, but for the first, which begins with `first`.
  void Fields(const Message& message, std::string first, const std::string& indent) {
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor& field = *message.GetDescriptor()->field(i);
      if (field.is_repeated() ? Size(message, field) == 0 : !IsSet(message, field)) continue;
      absl::StrAppend(&out_, first, field.name(), ":");
      first = indent;
      Field(message, field, indent);
    }
    // Nothing was there to show.
    if (first != indent) absl::StrAppend(&out_, first, "{}\n");
  }

 private:
  static int Size(const Message& message, const FieldDescriptor& field) {
    return message.GetReflection()->FieldSize(message, &field);
  }

  static std::string Shown(const Message& message, const FieldDescriptor& field, int index) {
    if (field.options().GetExtension(v1::setting).secret()) return InQuotes(kMask);
    const std::string text = ScalarText(message, field, index);
    return IsNumberOrBoolean(field) ? text : InQuotes(text);
  }

  // What follows the name of the field.
  void Field(const Message& message, const FieldDescriptor& field, const std::string& indent) {
    const std::string deeper = indent + "  ";
    if (field.is_map()) {
      Map(message, field, deeper);
    } else if (field.is_repeated()) {
      List(message, field, deeper);
    } else if (IsScalar(field)) {
      absl::StrAppend(&out_, " ", Shown(message, field, -1), "\n");
    } else {
      absl::StrAppend(&out_, "\n");
      Fields(message.GetReflection()->GetMessage(message, &field), deeper, deeper);
    }
  }

  void List(const Message& message, const FieldDescriptor& field, const std::string& indent) {
    absl::StrAppend(&out_, "\n");
    for (int i = 0; i < Size(message, field); ++i) {
      if (IsScalar(field)) {
        absl::StrAppend(&out_, indent, "- ", Shown(message, field, i), "\n");
      } else {
        Fields(message.GetReflection()->GetRepeatedMessage(message, &field, i), indent + "- ",
               indent + "  ");
      }
    }
  }

  void Map(const Message& message, const FieldDescriptor& field, const std::string& indent) {
    absl::StrAppend(&out_, "\n");
    for (int i = 0; i < Size(message, field); ++i) {
      const Message& entry = message.GetReflection()->GetRepeatedMessage(message, &field, i);
      const FieldDescriptor& value = *field.message_type()->map_value();
      absl::StrAppend(&out_, indent, InQuotes(ScalarText(entry, *field.message_type()->map_key())),
                      ":");
      Field(entry, value, indent);
    }
  }

  std::string out_;
};

}  // namespace

std::string WriteYaml(const Message& message) {
  Yaml yaml;
  yaml.Fields(message, "", "");
  return std::move(yaml).Take();
}

}  // namespace tapedeck::services::config

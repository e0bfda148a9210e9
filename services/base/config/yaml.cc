#include "services/base/config/yaml.h"

#include <google/protobuf/descriptor.h>
#include <tapedeck/v1/setting.pb.h>

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/command_line/nearest.h"
#include "services/base/config/document.h"
#include "services/base/config/scalar.h"
#include "services/base/files/input_file.h"

namespace tapedeck::services::config {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string Under(const std::string& path, const std::string& name) {
  return path.empty() ? name : absl::StrCat(path, ".", name);
}

absl::string_view KindOf(const Element& element) {
  switch (element.kind) {
    case Element::Kind::kList:
      return "is a list";
    case Element::Kind::kMap:
      return "is a map";
    case Element::Kind::kScalar:
      break;
  }
  return "is a single value";
}

std::string NoSuchField(const Descriptor& message, const std::string& key) {
  std::vector<std::string> names;
  for (int i = 0; i < message.field_count(); ++i) names.push_back(message.field(i)->name());
  const std::vector<std::string> nearest = command_line::Nearest(key, names);
  return absl::StrCat("there is no ", Quoted(key), nearest.empty() ? "" : "; ",
                      command_line::DidYouMean(nearest));
}

bool IsNone(const Element& element) {
  return element.kind == Element::Kind::kScalar && !element.quoted && element.text == "none";
}

// Its recursion goes as deep as the document, which is bounded.
class Walk {
 public:
  explicit Walk(const std::string& file) : file_(file), places_(file) {}

  absl::StatusOr<Places> Take(const Element& root, Message& message) {
    TD_RETURN_IF_ERROR(Fields(root, "", message));
    return std::move(places_);
  }

 private:
  absl::Status Wrong(const Element& element, const std::string& path, absl::string_view why) const {
    return Fault({file_, element.line, path}, why);
  }

  absl::Status Fields(const Element& element, const std::string& path, Message& message) {
    if (element.kind != Element::Kind::kMap) {
      return Wrong(element, path, absl::StrCat(KindOf(element), ", and must be a map of fields"));
    }
    for (const Element& value : element.items) {
      const FieldDescriptor* const field = message.GetDescriptor()->FindFieldByName(value.key);
      if (field == nullptr) {
        return Fault({file_, value.key_line, path},
                     NoSuchField(*message.GetDescriptor(), value.key));
      }
      const std::string name = Under(path, value.key);
      TD_RETURN_IF_ERROR(OneOfItsKind(value, name, *field, message));
      places_.Add(name, value.key_line);
      TD_RETURN_IF_ERROR(Field(value, name, *field, message));
    }
    return absl::OkStatus();
  }

  absl::Status OneOfItsKind(const Element& value, const std::string& path,
                            const FieldDescriptor& field, const Message& message) const {
    const auto* const oneof = field.real_containing_oneof();
    if (oneof == nullptr) return absl::OkStatus();
    const FieldDescriptor* const other =
        message.GetReflection()->GetOneofFieldDescriptor(message, oneof);
    if (other == nullptr) return absl::OkStatus();
    return Wrong(value, path, absl::StrCat("only one may be given of it and ", other->name()));
  }

  absl::Status Field(const Element& element, const std::string& path, const FieldDescriptor& field,
                     Message& message) {
    if (field.is_map()) return Map(element, path, field, message);
    if (!field.is_repeated()) return One(element, path, field, message);
    // Where there is one only, it may stand without the list.
    if (element.kind == Element::Kind::kScalar && IsScalar(field)) {
      places_.Add(absl::StrCat(path, "[0]"), element.line);
      return One(element, path, field, message);
    }
    if (IsNone(element)) {
      places_.AddNone(path);
      return absl::OkStatus();
    }
    if (element.kind != Element::Kind::kList) {
      return Wrong(element, path, absl::StrCat(KindOf(element), ", and must be a list"));
    }
    int index = 0;
    for (const Element& item : element.items) {
      const std::string place = absl::StrCat(path, "[", index++, "]");
      places_.Add(place, item.line);
      TD_RETURN_IF_ERROR(One(item, place, field, message));
    }
    return absl::OkStatus();
  }

  absl::Status Map(const Element& element, const std::string& path, const FieldDescriptor& field,
                   Message& message) {
    if (element.kind != Element::Kind::kMap) {
      return Wrong(element, path, absl::StrCat(KindOf(element), ", and must be a map"));
    }
    for (const Element& value : element.items) {
      const std::string place = absl::StrCat(path, "[", Quoted(value.key), "]");
      places_.Add(place, value.key_line);
      Message& entry = *message.GetReflection()->AddMessage(&message, &field);
      const absl::Status key =
          SetScalar(value.key, Written::kAlone, *field.message_type()->map_key(), entry);
      if (!key.ok()) return Wrong(value, place, key.message());
      TD_RETURN_IF_ERROR(One(value, place, *field.message_type()->map_value(), entry));
    }
    return absl::OkStatus();
  }

  // One value, of a list too.
  absl::Status One(const Element& element, const std::string& path, const FieldDescriptor& field,
                   Message& message) {
    if (!IsScalar(field)) {
      const auto& reflection = *message.GetReflection();
      return Fields(element, path,
                    *(field.is_repeated() ? reflection.AddMessage(&message, &field)
                                          : reflection.MutableMessage(&message, &field)));
    }
    if (element.kind != Element::Kind::kScalar) {
      return Wrong(element, path, absl::StrCat(KindOf(element), ", and must be a single value"));
    }
    const absl::Status set = SetScalar(
        element.text, element.quoted ? Written::kQuoted : Written::kPlain, field, message);
    return set.ok() ? set : Wrong(element, path, set.message());
  }

  const std::string& file_;
  Places places_;
};

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

absl::StatusOr<Places> ReadText(const std::string& file, absl::string_view text, Message& message) {
  TD_ASSIGN_OR_RETURN(const Element root, ParseDocument(file, text));
  return Walk(file).Take(root, message);
}

absl::StatusOr<Places> ReadFile(const std::string& path, Message& message) {
  TD_ASSIGN_OR_RETURN(const std::string text, files::ReadText(path, kMaxTextBytes));
  return ReadText(path, text, message);
}

std::string WriteYaml(const Message& message) {
  Yaml yaml;
  yaml.Fields(message, "", "");
  return std::move(yaml).Take();
}

}  // namespace tapedeck::services::config

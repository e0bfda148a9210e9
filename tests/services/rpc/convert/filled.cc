#include "tests/services/rpc/convert/filled.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace tapedeck::services::convert {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void FillField(Message& message, const FieldDescriptor* field, int& counter) {
  const Reflection& to = *message.GetReflection();
  const bool list = field->is_repeated();
  const int value = ++counter;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Fill(list ? *to.AddMessage(&message, field) : *to.MutableMessage(&message, field),
                  counter);
    case FieldDescriptor::CPPTYPE_STRING: {
      const size_t fixed = field->name() == "token" ? 16 : field->name() == "secret" ? 32 : 0;
      const std::string text =
          fixed != 0 ? std::string(fixed, 'a' + value % 26) : absl::StrCat("v", value);
      return list ? to.AddString(&message, field, text) : to.SetString(&message, field, text);
    }
    case FieldDescriptor::CPPTYPE_ENUM:
      return to.SetEnum(&message, field,
                        field->enum_type()->value(field->enum_type()->value_count() - 1));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return list ? to.AddDouble(&message, field, value) : to.SetDouble(&message, field, value);
    case FieldDescriptor::CPPTYPE_BOOL:
      return to.SetBool(&message, field, true);
    case FieldDescriptor::CPPTYPE_UINT64:
      return to.SetUInt64(&message, field, value);
    case FieldDescriptor::CPPTYPE_UINT32:
      return to.SetUInt32(&message, field, value);
    case FieldDescriptor::CPPTYPE_INT64:
      return to.SetInt64(&message, field, value);
    case FieldDescriptor::CPPTYPE_INT32:
      return to.SetInt32(&message, field, value);
    default:
      FAIL() << "no value for the type of " << field->full_name();
  }
}

void Fill(Message& message, int& counter) {
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const auto* oneof = field->containing_oneof();
    if (oneof == nullptr || !reflection.HasOneof(message, oneof)) {
      FillField(message, field, counter);
    }
  }
}

}  // namespace tapedeck::services::convert

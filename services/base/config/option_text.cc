#include "services/base/config/option_text.h"

#include <google/protobuf/descriptor.h>
#include <tapedeck/v1/config.pb.h>
#include <tapedeck/v1/setting.pb.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/rail_spec.h"
#include "services/base/config/scalar.h"

namespace tapedeck::services::config {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool IsRail(const FieldDescriptor& field) {
  return field.message_type() == v1::RailConfig::descriptor();
}

std::string RailText(const v1::RailConfig& rail) {
  const bool v6 = rail.address().find(':') != std::string::npos;
  const std::string address = v6 ? absl::StrCat("[", rail.address(), "]") : rail.address();
  return absl::StrCat(rail.name(), "=", rail.transport(), ":", address,
                      rail.port() == 0 ? "" : absl::StrCat(":", rail.port()));
}

absl::Status AddRail(const std::string& text, const FieldDescriptor& field, Message& message) {
  TD_ASSIGN_OR_RETURN(const dataplane::RailSpec spec, dataplane::ParseRailSpec(text));
  v1::RailConfig rail;
  rail.set_name(spec.name);
  rail.set_transport(spec.kind);
  rail.set_address(spec.address);
  rail.set_port(spec.port);
  message.GetReflection()->AddMessage(&message, &field)->CopyFrom(rail);
  return absl::OkStatus();
}

}  // namespace

std::string OptionOf(const FieldDescriptor& field) {
  const std::string& named = field.options().GetExtension(v1::setting).option();
  return absl::StrCat("--",
                      named.empty() ? absl::StrReplaceAll(field.name(), {{"_", "-"}}) : named);
}

std::unique_ptr<Message> NewConfig(NodeRole role) {
  if (role == NodeRole::kStorage) return std::make_unique<v1::StorageConfig>();
  return std::make_unique<v1::WorkerConfig>();
}

const FieldDescriptor* FieldOf(NodeRole role, const std::string& option) {
  const google::protobuf::Descriptor& message = role == NodeRole::kStorage
                                                    ? *v1::StorageConfig::descriptor()
                                                    : *v1::WorkerConfig::descriptor();
  for (int i = 0; i < message.field_count(); ++i) {
    if (OptionOf(*message.field(i)) == option) return message.field(i);
  }
  return nullptr;
}

absl::Status SetOption(const std::string& text, const FieldDescriptor& field, Message& message) {
  if (IsRail(field)) return AddRail(text, field, message);
  return SetScalar(text, Written::kAlone, field, message);
}

std::string OptionText(const Message& message, const FieldDescriptor& field, int index) {
  if (!IsRail(field)) return ScalarText(message, field, index);
  v1::RailConfig rail;
  rail.CopyFrom(message.GetReflection()->GetRepeatedMessage(message, &field, index));
  return RailText(rail);
}

}  // namespace tapedeck::services::config

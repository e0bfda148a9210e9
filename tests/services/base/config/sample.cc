#include "tests/services/base/config/sample.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <tapedeck/v1/setting.pb.h>

namespace tapedeck::services::config {
namespace {

constexpr char kFile[] = R"(
name: "sample.proto" package: "sample" syntax: "proto3"
dependency: "google/protobuf/duration.proto" dependency: "tapedeck/v1/setting.proto"
enum_type { name: "Level"
  value { name: "LEVEL_UNSPECIFIED" number: 0 } value { name: "LEVEL_WRITTEN" number: 1 }
  value { name: "LEVEL_DURABLE" number: 2 } }
message_type { name: "Rail"
  field { name: "name" number: 1 type: TYPE_STRING }
  field { name: "address" number: 2 type: TYPE_STRING }
  field { name: "port" number: 3 type: TYPE_UINT32
    options { [tapedeck.v1.setting] { most: 65535 } } } }
message_type { name: "Config"
  nested_type { name: "LabelsEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING }
    field { name: "value" number: 2 type: TYPE_STRING } }
  oneof_decl { name: "place" }
  field { name: "listen" number: 1 type: TYPE_STRING }
  field { name: "rails" number: 2 type: TYPE_MESSAGE type_name: "Rail" label: LABEL_REPEATED }
  field { name: "memory" number: 3 type: TYPE_UINT64
    options { [tapedeck.v1.setting] { unit: SETTING_UNIT_BYTES most: 1073741824 } } }
  field { name: "grace" number: 4 type: TYPE_MESSAGE type_name: "google.protobuf.Duration"
    options { [tapedeck.v1.setting] { least: 1000000000 most: 60000000000 } } }
  field { name: "level" number: 5 type: TYPE_ENUM type_name: "Level" }
  field { name: "on" number: 6 type: TYPE_BOOL }
  field { name: "ports" number: 7 type: TYPE_INT32 label: LABEL_REPEATED
    options { [tapedeck.v1.setting] { least: 1 most: 8 } } }
  field { name: "rate" number: 8 type: TYPE_DOUBLE }
  field { name: "labels" number: 9 type: TYPE_MESSAGE type_name: "Config.LabelsEntry"
    label: LABEL_REPEATED }
  field { name: "path" number: 10 type: TYPE_STRING oneof_index: 0 }
  field { name: "device" number: 11 type: TYPE_STRING oneof_index: 0 }
  field { name: "password" number: 12 type: TYPE_STRING
    options { [tapedeck.v1.setting] { secret: true } } }
  field { name: "nested" number: 13 type: TYPE_MESSAGE type_name: "Config" } }
)";

}  // namespace

Sample::Sample() : pool_(google::protobuf::DescriptorPool::generated_pool()) {
  // Linked in, and with that known to the pool beneath.
  google::protobuf::Duration::descriptor();
  tapedeck::v1::Setting::descriptor();
  google::protobuf::FileDescriptorProto file;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kFile, &file));
  const auto* const built = pool_.BuildFile(file);
  if (built != nullptr) message_ = built->FindMessageTypeByName("Config");
  EXPECT_NE(message_, nullptr);
}

std::unique_ptr<google::protobuf::Message> Sample::New() const {
  return std::unique_ptr<google::protobuf::Message>(factory_.GetPrototype(message_)->New());
}

}  // namespace tapedeck::services::config

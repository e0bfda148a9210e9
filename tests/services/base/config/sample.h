// A message with a field of every kind, made at run time, for the tests of configurations.
#pragma once

#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <memory>

namespace tapedeck::services::config {

class Sample {
 public:
  Sample();

  std::unique_ptr<google::protobuf::Message> New() const;

 private:
  google::protobuf::DescriptorPool pool_;
  mutable google::protobuf::DynamicMessageFactory factory_;
  const google::protobuf::Descriptor* message_ = nullptr;
};

}  // namespace tapedeck::services::config

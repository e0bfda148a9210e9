// Messages in which every field is set, by reflection, and their comparison.
#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <string>

namespace tapedeck::services::convert {

// Sets a field, or adds one element to it, to a value that is new in this message and not a
// default.
void FillField(google::protobuf::Message& message, const google::protobuf::FieldDescriptor* field,
               int& counter);
// Of a oneof that is still empty the first arm is set.
void Fill(google::protobuf::Message& message, int& counter);

template <typename Wire>
Wire Filled() {
  Wire out;
  int counter = 0;
  Fill(out, counter);
  return out;
}

template <typename Wire>
void ExpectSame(const Wire& got, const Wire& want) {
  std::string difference;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(want, got)) << difference;
}

}  // namespace tapedeck::services::convert

// An update by mask: each field goes there and back alone, or is refused by name.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "services/convert/catalog.h"
#include "services/errors.h"
#include "tests/services/convert/filled.h"

namespace tapedeck::services::convert {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A request that is to change the one field of `resource`, with all of the others set too.
template <typename Request>
Request RequestFor(const FieldDescriptor* resource, const std::string& path) {
  Request request;
  int counter = 0;
  FillField(request, resource, counter);
  request.mutable_update_mask()->add_paths(path);
  return request;
}

// Each field either goes there and back alone, or is refused by name. Returns the first.
template <typename Request>
std::set<std::string> Changeable() {
  std::set<std::string> changeable;
  const FieldDescriptor* resource = Request::descriptor()->FindFieldByNumber(1);
  for (int i = 0; i < resource->message_type()->field_count(); ++i) {
    const FieldDescriptor* field = resource->message_type()->field(i);
    SCOPED_TRACE(field->full_name());
    const auto request = RequestFor<Request>(resource, field->name());
    const auto update = FromProto(request);
    if (!update.ok()) {
      const auto reason = ReasonOf(update.status());
      EXPECT_EQ(reason.has_value() ? reason->reason : "", "ARGUMENT_INVALID");
      EXPECT_EQ(update.status().message().find(absl::StrCat(field->name(), " cannot change: ")), 0u)
          << update.status();
      continue;
    }
    changeable.insert(field->name());
    Request expected;
    Message& from = const_cast<Message&>(request.GetReflection()->GetMessage(request, resource));
    Message& to = *expected.GetReflection()->MutableMessage(&expected, resource);
    to.MergeFrom(from);
    for (int j = 0; j < resource->message_type()->field_count(); ++j) {
      const FieldDescriptor* other = resource->message_type()->field(j);
      if (other != field && other->name() != "name") to.GetReflection()->ClearField(&to, other);
    }
    expected.mutable_update_mask()->add_paths(field->name());
    ExpectSame(ToProto(*update), expected);
  }
  return changeable;
}

template <typename Struct>
std::set<std::string> Settable() {
  std::set<std::string> settable;
  model::ForEachField<Struct>([&](const auto& field) {
    if (field.settable()) settable.emplace(field.name);
  });
  return settable;
}

TEST(UpdateMask, NamesWhatCanChange) {
  EXPECT_EQ(Changeable<v1::UpdateLunRequest>(), Settable<Lun>());
  EXPECT_EQ(Changeable<v1::UpdateChannelRequest>(), Settable<Channel>());
  EXPECT_EQ(Changeable<v1::UpdateRecordingRequest>(), Settable<Recording>());
  EXPECT_EQ(Settable<Recording>(), (std::set<std::string>{"description", "labels"}));
}

// To nothing, which the wire does not tell from a field that is not set.
TEST(UpdateMask, ToNothing) {
  v1::UpdateLunRequest lun;
  v1::UpdateChannelRequest channel;
  for (const auto& name : Changeable<v1::UpdateLunRequest>()) {
    lun.mutable_update_mask()->add_paths(name);
  }
  for (const auto& name : Changeable<v1::UpdateChannelRequest>()) {
    channel.mutable_update_mask()->add_paths(name);
  }
  const auto lun_update = FromProto(lun);
  ASSERT_TRUE(lun_update.ok()) << lun_update.status();
  const Lun was{.capacity_bytes = 5, .full_policy = FullPolicy::kRing, .max_age_ns = 6};
  const Lun now = Updated(was, *lun_update);
  EXPECT_EQ(now.capacity_bytes, 0u);
  EXPECT_EQ(now.full_policy, FullPolicy::kStop);
  EXPECT_EQ(now.max_age_ns, 0);
  const auto channel_update = FromProto(channel);
  ASSERT_TRUE(channel_update.ok()) << channel_update.status();
  EXPECT_FALSE(
      Updated(Channel{.op = dataplane::TransferOp::kSend}, *channel_update).op.has_value());
}

TEST(UpdateMask, ThatNamesNothing) {
  v1::UpdateLunRequest request;
  for (const char* path : {"", "*", "lun.max_age", "max_age.seconds", "Max_Age", "comment"}) {
    request.clear_update_mask();
    if (*path != '\0') request.mutable_update_mask()->add_paths(path);
    const absl::Status status = FromProto(request).status();
    const auto reason = ReasonOf(status);
    ASSERT_TRUE(reason.has_value()) << path;
    EXPECT_EQ(reason->reason, "ARGUMENT_INVALID") << path;
    EXPECT_EQ(reason->metadata.at("field"), "update_mask") << path;
  }
}

}  // namespace
}  // namespace tapedeck::services::convert

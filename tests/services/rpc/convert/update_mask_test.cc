// An update by mask: each field goes there and back alone, or is refused by name.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "services/rpc/convert/catalog.h"
#include "tests/services/rpc/convert/filled.h"

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

// One label, by its name: it gets its value, or goes where the request has none; others stay.
TEST(UpdateMask, NamesOneLabel) {
  v1::UpdateRecordingRequest request;
  request.mutable_recording()->set_name("r");
  (*request.mutable_recording()->mutable_labels())["site"] = "north";
  (*request.mutable_recording()->mutable_labels())["not named"] = "x";
  for (const char* path : {"labels.site", "labels.run", "labels.a.b"}) {
    request.mutable_update_mask()->add_paths(path);
  }
  const auto update = FromProto(request);
  ASSERT_TRUE(update.ok()) << update.status();
  const Recording was{.labels = {{"run", "7"}, {"a.b", "c"}, {"kept", "k"}}};
  const model::Labels now{{"kept", "k"}, {"site", "north"}};
  EXPECT_EQ(Updated(was, *update).labels, now);
  EXPECT_EQ(Updated(was, *FromProto(ToProto(*update))).labels, now);
  // All of them, whatever else is named.
  request.mutable_update_mask()->add_paths("labels");
  EXPECT_EQ(Updated(was, *FromProto(request)).labels,
            (model::Labels{{"site", "north"}, {"not named", "x"}}));
  for (const char* path :
       {"labels.", "description.x", "origin.source", "origin", "group", "part"}) {
    request.mutable_update_mask()->clear_paths();
    request.mutable_update_mask()->add_paths(path);
    EXPECT_EQ(ReasonOf(FromProto(request).status())->reason, "ARGUMENT_INVALID") << path;
  }
}

TEST(UpdateMask, OfLabelsMerges) {
  const Recording was{.labels = {{"a", "1"}, {"b", "2"}}};
  const auto label = [](const char* name, const char* value) {
    RecordingUpdate update{.fields = {std::string("labels.") + name}};
    if (value != nullptr) update.to.labels[name] = value;
    return update;
  };
  RecordingUpdate all = label("a", "3");
  Merge(all, label("c", "4"));
  Merge(all, label("b", nullptr));
  Merge(all, label("a", nullptr));
  EXPECT_EQ(Updated(was, all).labels, (model::Labels{{"c", "4"}}));
  Merge(all, RecordingUpdate{}.Set(&Recording::labels, {{"x", "y"}}));
  Merge(all, label("z", "1"));
  EXPECT_EQ(Updated(was, all).labels, (model::Labels{{"x", "y"}, {"z", "1"}}));
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

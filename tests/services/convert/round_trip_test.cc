// Every field of every message survives the way to our structs and back: each message is filled by
// reflection, so that a field added to a proto and forgotten here fails.
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "services/convert/catalog.h"
#include "services/convert/jobs.h"
#include "services/convert/node.h"
#include "services/convert/playhead.h"
#include "services/convert/recorder.h"
#include "services/convert/rpc_status.h"
#include "services/convert/scrub.h"
#include "services/convert/session.h"
#include "services/convert/stage.h"
#include "services/errors.h"

namespace tapedeck::services::convert {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void Fill(Message& message, int& counter);

// Sets a field, or adds one element to it, to a value that is new in this message and not a
// default.
void FillField(Message& message, const FieldDescriptor* field, int& counter) {
  const Reflection& to = *message.GetReflection();
  const bool list = field->is_repeated();
  const int value = ++counter;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Fill(list ? *to.AddMessage(&message, field) : *to.MutableMessage(&message, field),
                  counter);
    case FieldDescriptor::CPPTYPE_STRING: {
      const bool bytes16 = field->name() == "token";
      const std::string text =
          bytes16 ? std::string(16, 'a' + value % 26) : absl::StrCat("v", value);
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

// Of a oneof that is still empty the first arm is set.
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

template <typename Wire>
void ExpectRoundTrip(const Wire& wire) {
  const auto ours = FromProto(wire);
  ASSERT_TRUE(ours.ok()) << ours.status();
  ExpectSame(ToProto(*ours), wire);
}

google::rpc::Status SomeError() {
  return ToProto(WithReason(absl::UnavailableError("text"), "PEER_LOST", {{"node", "s0"}}));
}

TEST(RoundTripTest, Catalog) {
  ExpectRoundTrip(Filled<v1::Lun>());
  ExpectRoundTrip(Filled<v1::Channel>());
  ExpectRoundTrip(Filled<v1::Recording>());
}

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

TEST(RoundTripTest, Updates) {
  EXPECT_EQ(Changeable<v1::UpdateLunRequest>(), Settable<Lun>());
  EXPECT_EQ(Changeable<v1::UpdateChannelRequest>(), Settable<Channel>());
  EXPECT_EQ(Changeable<v1::UpdateRecordingRequest>(), Settable<Recording>());
  EXPECT_EQ(Settable<Recording>(), (std::set<std::string>{"description", "labels"}));
}

// To nothing, which the wire does not tell from a field that is not set.
TEST(RoundTripTest, UpdatesToNothing) {
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

TEST(RoundTripTest, MasksThatNameNothing) {
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

TEST(RoundTripTest, Recorder) {
  ExpectSame(ToProto(FromProto(Filled<v1::Annotation>())), Filled<v1::Annotation>());
  ExpectSame(ToProto(FromProto(Filled<v1::Capture>())), Filled<v1::Capture>());
  ExpectSame(ToProto(FromProto(Filled<v1::Scrub>())), Filled<v1::Scrub>());
  ExpectSame(ToProto(FromProto(Filled<v1::StartScrubRequest>())), Filled<v1::StartScrubRequest>());
  const auto trigger = Filled<v1::TriggerRecordingRequest>();
  ExpectSame(ToProto(trigger.channel(), FromProto(trigger)), trigger);
}

// Filled sets the first arm of a oneof.
TEST(RoundTripTest, PlayheadFromEachStart) {
  ExpectSame(ToProto(FromProto(Filled<v1::Playhead>())), Filled<v1::Playhead>());
  v1::Playhead sample;
  sample.set_sample(7);
  ExpectSame(ToProto(FromProto(sample)), sample);
  v1::Playhead time;
  time.mutable_time()->set_seconds(1'800'000'000);
  time.mutable_time()->set_nanos(5);
  ExpectSame(ToProto(FromProto(time)), time);
}

TEST(RoundTripTest, VerifyProgress) {
  auto wire = Filled<v1::VerifyRecordingResponse>();
  wire.clear_done();  // said by the handler, when the verification returns
  ExpectSame(ToProto(FromProto(wire)), wire);
}

TEST(RoundTripTest, Node) {
  auto node = Filled<v1::Node>();
  node.mutable_memory(0)->mutable_distances(0)->set_weight(10);  // follows from the distance
  ExpectRoundTrip(node);
  const auto stats = Filled<v1::WatchStatsResponse>();
  ExpectSame(ToProto(FromProto(stats)), stats);
}

TEST(RoundTripTest, StartRecordToEachLimit) {
  auto request = Filled<v1::StartRecordRequest>();
  ASSERT_TRUE(request.has_blocks());
  ExpectRoundTrip(request);
  request.mutable_duration()->set_seconds(3);
  request.mutable_duration()->set_nanos(5);
  ExpectRoundTrip(request);
}

TEST(RoundTripTest, StartPlayback) { ExpectRoundTrip(Filled<v1::StartPlaybackRequest>()); }

// One parameter of each arm, with what its type can just hold.
TEST(RoundTripTest, ParametersOfEachType) {
  v1::Stage stage;
  auto& parameters = *stage.mutable_parameters();
  stage.set_name("any");
  parameters["least"].set_integer(std::numeric_limits<int64_t>::min());
  parameters["most"].set_unsigned_integer(~uint64_t{0});
  parameters["number"].set_number(0.1);
  parameters["text"].set_text("a,b=c");
  parameters["no text"].set_text("");
  parameters["flag"].set_flag(true);
  parameters["no flag"].set_flag(false);
  parameters["numbers"].mutable_numbers()->add_values(-1e-17);
  parameters["numbers"].mutable_numbers()->add_values(1.0 / 3);
  parameters["no numbers"].mutable_numbers();
  ExpectRoundTrip(stage);
  const auto ours = FromProto(stage);
  EXPECT_EQ(std::get<uint64_t>(ours->parameters.at("most")), ~uint64_t{0});
  EXPECT_EQ(v1::Parameter::descriptor()->field_count(),
            static_cast<int>(std::variant_size_v<ParameterValue>));
}

TEST(RoundTripTest, AParameterWithoutAValueIsRefused) {
  v1::Stage stage;
  (*stage.mutable_parameters())["seed"].Clear();
  const absl::Status status = FromProto(stage).status();
  ASSERT_TRUE(ReasonOf(status).has_value()) << status;
  EXPECT_EQ(ReasonOf(status)->metadata.at("field"), "seed");
}

TEST(RoundTripTest, JobDerivesItsRatesFromBytes) {
  auto job = Filled<v1::Job>();
  *job.mutable_error() = SomeError();
  job.mutable_elapsed()->set_seconds(2);
  job.mutable_elapsed()->set_nanos(0);
  job.set_bytes(6'000'000);
  job.set_mb_per_s(3);
  job.mutable_rails(0)->set_mb_per_s(1.5);
  ExpectRoundTrip(job);
}

TEST(RoundTripTest, WhatHasNotFailedHasNoError) {
  EXPECT_FALSE(ToProto(Job()).has_error());
  EXPECT_TRUE(FromProto(ToProto(Job{.state = JobState::kSucceeded}))->error.ok());
  const auto finished = ToTransferRequest(session::Finished());
  EXPECT_FALSE(finished->finished().has_error());
  EXPECT_TRUE(std::get<session::Finished>(*FromProto(*finished)).cause.ok());
}

// One message of each arm, as the side that sends it writes it.
template <typename Wire, typename ToWire>
void ExpectArms(ToWire to_wire, std::initializer_list<const char*> arms) {
  for (const char* arm : arms) {
    SCOPED_TRACE(arm);
    Wire wire;
    int counter = 0;
    FillField(wire, Wire::descriptor()->FindFieldByName(arm), counter);
    if (wire.has_finished()) *wire.mutable_finished()->mutable_error() = SomeError();
    const auto message = FromProto(wire);
    ASSERT_TRUE(message.ok()) << message.status();
    const auto back = to_wire(*message);
    ASSERT_TRUE(back.ok()) << back.status();
    ExpectSame(*back, wire);
  }
}

TEST(RoundTripTest, SessionRequests) {
  v1::Open open = Filled<v1::Open>();
  open.set_version(session::kProtocolVersion);
  v1::TransferRequest request;
  *request.mutable_open() = open;
  const auto message = FromProto(request);
  ASSERT_TRUE(message.ok()) << message.status();
  ExpectSame(*ToTransferRequest(*message), request);
  ExpectArms<v1::TransferRequest>(ToTransferRequest,
                                  {"rail_offer", "end_of_stream", "progress", "finished"});
}

TEST(RoundTripTest, SessionResponses) {
  v1::TransferResponse response;
  *response.mutable_accept() = Filled<v1::Accept>();
  // A session names the node's rails; the node service describes them.
  v1::Rail& rail = *response.mutable_accept()->mutable_rails(0);
  rail.clear_port();
  rail.clear_device();
  rail.clear_wire_limit_bytes_per_s();
  rail.clear_pci_address();
  rail.clear_numa_node();
  const auto message = FromProto(response);
  ASSERT_TRUE(message.ok()) << message.status();
  ExpectSame(*ToTransferResponse(*message), response);
  ExpectArms<v1::TransferResponse>(ToTransferResponse,
                                   {"rail_offer", "end_of_stream", "progress", "finished"});
}

}  // namespace
}  // namespace tapedeck::services::convert

// Every call of every service says what it needs, and is refused to every role that is not
// in the list here.
#include "services/rpc/identity/methods.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/now.h"
#include "grpc/health/v1/health.pb.h"
#include "tapedeck/v1/doctor.pb.h"
#include "tapedeck/v1/inlet.pb.h"
#include "tapedeck/v1/pipeline.pb.h"
#include "tapedeck/v1/recorder.pb.h"
#include "tapedeck/v1/session.pb.h"
#include "tapedeck/v1/trace.pb.h"
#include "tapedeck/v1/view.pb.h"
#include "tests/services/rpc/identity/secure_server.h"

namespace tapedeck::services::identity {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

constexpr absl::Duration kLong = absl::Seconds(10);
// Streams that watch never end by themselves.
constexpr absl::Duration kShort = absl::Milliseconds(50);

constexpr char kRoles[] = {'v', 'p', 'o', 'a', 'w'};
const std::map<char, std::string> kNames = {
    {'v', "viewer"}, {'p', "player"}, {'o', "operator"}, {'a', "admin"}, {'w', "worker"}};

// Who may: v, p, o and a, and w where a worker may for itself.
const std::map<std::string, std::string> kMay = {
    {"CreateLun", "a"},          {"GetLun", "vpoaw"},
    {"ListLuns", "vpoaw"},       {"UpdateLun", "a"},
    {"DeleteLun", "a"},          {"AttachLun", "a"},
    {"DetachLun", "a"},          {"CreateChannel", "a"},
    {"GetChannel", "vpoaw"},     {"ListChannels", "vpoaw"},
    {"UpdateChannel", "a"},      {"DeleteChannel", "a"},
    {"GetRecording", "vpoaw"},   {"UpdateRecording", "oa"},
    {"ListRecordings", "vpoaw"}, {"DeleteRecording", "a"},
    {"VerifyRecording", "poa"},  {"TriggerRecording", "oa"},
    {"AnnotateRecording", "oa"}, {"KeepRecording", "oa"},
    {"StartScrub", "a"},         {"GetScrub", "vpoaw"},
    {"StopScrub", "a"},          {"Transfer", "poa"},
    {"StartRecord", "oa"},       {"StartPlayback", "poa"},
    {"GetJob", "vpoaw"},         {"ListJobs", "vpoaw"},
    {"CancelJob", "poa"},        {"StopJob", "poa"},
    {"WatchJob", "vpoaw"},       {"GetNode", "vpoaw"},
    {"WatchStats", "vpoaw"},     {"ReadTrace", "vpoaw"},
    {"Diagnose", "oa"},          {"ReadClock", "vpoaw"},
    {"Check", "vpoaw"},          {"Watch", "vpoaw"},
    {"ExplainJob", "vpoaw"},     {"ExplainRecording", "vpoaw"},
    {"StartReceive", "oa"},      {"GetInlet", "vpoaw"},
    {"GetTimeline", "vpoaw"},    {"ReadSpectrogram", "poa"},
    {"ReadSamples", "poa"},      {"ReadEnvelope", "poa"},
};

std::vector<const MethodDescriptor*> AllMethods() {
  std::vector<const MethodDescriptor*> methods;
  for (const FileDescriptor* file :
       {v1::Lun::descriptor()->file(), v1::Node::descriptor()->file(),
        v1::Open::descriptor()->file(), v1::Job::descriptor()->file(),
        v1::Inlet::descriptor()->file(), v1::Scrub::descriptor()->file(),
        v1::ReadTraceRequest::descriptor()->file(), v1::DiagnoseRequest::descriptor()->file(),
        v1::Timeline::descriptor()->file(),
        grpc::health::v1::HealthCheckRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        methods.push_back(file->service(s)->method(m));
      }
    }
  }
  return methods;
}

const Right* RightOf(const MethodDescriptor& method) {
  return FindRight(method.service()->full_name(), method.name());
}

// Fields whose names a name of a LUN, channel or recording may be in.
void SetName(const std::string& method, Message& request) {
  const std::string lun = "luns/a";
  const std::string channel = lun + "/channels/c";
  const bool recording = absl::StrContains(method, "Recording") && method != "TriggerRecording";
  const bool view = method == "GetTimeline" || method == "ReadSpectrogram" ||
                    method == "ReadSamples" || method == "ReadEnvelope";
  const bool inlet = method == "StartReceive" || method == "GetInlet";
  const std::string name = inlet ? "inlets/a"
                           : recording || view || method == "StartPlayback"
                               ? channel + "/recordings/r"
                           : absl::StrContains(method, "Channel") ? channel
                                                                  : lun;
  const auto* reflection = request.GetReflection();
  const std::map<std::string, std::string> texts = {{"name", name},       {"lun_id", "a"},
                                                    {"channel_id", "c"},  {"parent", lun},
                                                    {"channel", channel}, {"recording", name}};
  for (const auto& [field, text] : texts) {
    const FieldDescriptor* found = request.GetDescriptor()->FindFieldByName(field);
    if (found == nullptr) continue;
    if (found->type() == FieldDescriptor::TYPE_STRING) {
      reflection->SetString(&request, found, text);
    }
  }
  for (const char* field : {"lun", "channel", "recording", "inlet"}) {
    const FieldDescriptor* found = request.GetDescriptor()->FindFieldByName(field);
    if (found == nullptr || found->message_type() == nullptr) continue;
    Message* inner = reflection->MutableMessage(&request, found);
    inner->GetReflection()->SetString(inner, inner->GetDescriptor()->FindFieldByName("name"), name);
  }
}

// How a call with one request ends, whatever its kind is.
grpc::Status Call(const client::Channel& channel, const MethodDescriptor& method, bool may) {
  google::protobuf::DynamicMessageFactory messages;
  const std::unique_ptr<Message> request(messages.GetPrototype(method.input_type())->New());
  SetName(method.name(), *request);
  const grpc::Slice slice(request->SerializeAsString());
  const grpc::ByteBuffer bytes(&slice, 1);
  grpc::ByteBuffer answer;
  const bool watches = may && absl::StartsWith(method.name(), "Watch");
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(dataplane::WallTime() + (watches ? kShort : kLong)));
  grpc::GenericStub stub(channel.channel);
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareUnaryCall(
      &context, absl::StrCat("/", method.service()->full_name(), "/", method.name()), bytes,
      &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status;
}

TEST(MethodsTest, EachCallSaysWhatItNeeds) {
  for (const MethodDescriptor* method : AllMethods()) {
    const Right* right = RightOf(*method);
    ASSERT_NE(right, nullptr) << method->full_name() << " has no option (right) in its proto";
    EXPECT_EQ(right->resource.empty(), right->scope != Scope::kResource) << right->method;
    EXPECT_TRUE(MatchesRequest(right->resource, *method->input_type())) << right->method;
    EXPECT_TRUE(kMay.contains(method->name())) << method->full_name() << " is not in this test";
  }
}

TEST(MethodsTest, AServiceNeedsARightForEachOfItsCalls) {
  EXPECT_TRUE(CheckRights("tapedeck.v1.CatalogService").ok());
  EXPECT_TRUE(CheckRights("grpc.health.v1.Health").ok());
  EXPECT_THAT(CheckRights("grpc.reflection.v1alpha.ServerReflection").message(),
              testing::HasSubstr("ServerReflectionInfo has no right"));
  EXPECT_FALSE(CheckRights("tapedeck.v1.None").ok());
}

TEST(MethodsTest, EachCallIsRefusedToEachRoleThatMayNot) {
  std::string policy = "rules:\n";
  for (const auto& [letter, role] : kNames) {
    absl::StrAppend(&policy, "- {identities: ['spiffe://lab/", role, "'], role: ", role,
                    ", resources: ['luns/*', 'inlets/*']}\n");
  }
  const SecureServer server(policy);
  const client::Channel stranger = server.ChannelOf("stranger");
  for (const MethodDescriptor* method : AllMethods()) {
    EXPECT_EQ(Call(stranger, *method, false).error_code(), grpc::StatusCode::PERMISSION_DENIED)
        << method->name();
  }
  for (const char letter : kRoles) {
    const client::Channel channel = server.ChannelOf(kNames.at(letter));
    for (const MethodDescriptor* method : AllMethods()) {
      const bool may = absl::StrContains(kMay.at(method->name()), std::string(1, letter));
      const grpc::Status status = Call(channel, *method, may);
      EXPECT_EQ(status.error_code() != grpc::StatusCode::PERMISSION_DENIED, may)
          << kNames.at(letter) << " " << method->name() << ": " << status.error_message();
      EXPECT_NE(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
    }
  }
}

}  // namespace
}  // namespace tapedeck::services::identity

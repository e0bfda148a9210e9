// Whatever a caller may put into a request has a length, and no answer is longer than a message.
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "services/base/errors.h"
#include "services/rpc/client/calls/call_status.h"
#include "services/rpc/client/catalog_client.h"
#include "services/rpc/client/jobs_client.h"
#include "tapedeck/v1/catalog.grpc.pb.h"
#include "tests/services/loopback_node.h"

namespace tapedeck::services::server {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(5);

std::string ReasonOfRefusal(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() ? reason->reason : std::string(status.message());
}

class LimitsTest : public ::testing::Test {
 protected:
  // The status of a raw call.
  template <typename Request, typename Response, typename Method>
  absl::Status Call(Method method, const Request& request, Response& response) {
    grpc::ClientContext context;
    const auto stub = v1::CatalogService::NewStub(node_.channel.channel);
    return client::CallStatus((stub.get()->*method)(&context, request, &response), "node");
  }
  static RecordSpec Sound() {
    return {.transfer = {.storage = "s0:7400", .target = "luns/l0/channels/c0"},
            .source = {"synth"},
            .blocks = 3};
  }

  LoopbackNode node_;
  client::CatalogClient catalog_{node_.channel, kPatience};
  client::JobsClient jobs_{node_.channel, kPatience};
};

TEST_F(LimitsTest, PagesOfLargeRecordingsStayBelowTheMessageLimit) {
  for (int i = 0; i < 6; ++i) {
    const size_t bytes = i % 2 == 0 ? 500 << 10 : 620 << 10;
    node_.catalog.AddRecording(absl::StrCat("r", i), i + 1, {{.comment = std::string(bytes, 'x')}});
  }
  const auto recordings = catalog_.ListRecordings("luns/-/channels/-");
  ASSERT_TRUE(recordings.ok()) << recordings.status();
  ASSERT_EQ(recordings->size(), 6u);
  EXPECT_EQ(recordings->front().name, "luns/l0/channels/c0/recordings/r5");
  EXPECT_EQ(catalog_.ListRecordings("luns/-/channels/-", 1)->size(), 1u);
}

TEST_F(LimitsTest, TokensOfOtherListsAreRefused) {
  v1::ListRecordingsRequest recordings;
  v1::ListRecordingsResponse found;
  recordings.set_parent("luns/-/channels/-");
  for (const char* token : {"!!!", "eHg", "MS94"}) {  // the last two: "xx", "1/x"
    recordings.set_page_token(token);
    EXPECT_EQ(ReasonOfRefusal(Call(&v1::CatalogService::Stub::ListRecordings, recordings, found)),
              "ARGUMENT_INVALID")
        << token;
  }
}

TEST_F(LimitsTest, TextsOfAnyLengthAreRefused) {
  const std::string path = "/" + std::string(4096, 'x');
  const Lun lun{.name = "luns/l0", .store = "posix", .members = {path}};
  EXPECT_EQ(ReasonOfRefusal(catalog_.CreateLun(lun).status()), "ARGUMENT_INVALID");
  RecordSpec record = Sound();
  record.source = {"file", {{"path", path}}};
  EXPECT_EQ(ReasonOfRefusal(jobs_.StartRecord(record).status()), "ARGUMENT_INVALID");
  record = Sound();
  record.transfer.storage = std::string(300, 'h') + ":1";
  EXPECT_EQ(ReasonOfRefusal(jobs_.StartRecord(record).status()), "ARGUMENT_INVALID");
  record = Sound();
  record.transfer.rails = std::vector<std::string>(65, "r0");
  EXPECT_EQ(ReasonOfRefusal(jobs_.StartRecord(record).status()), "ARGUMENT_INVALID");
  record = Sound();
  record.transfer.device = std::string(65, 'd');
  EXPECT_EQ(ReasonOfRefusal(jobs_.StartRecord(record).status()), "ARGUMENT_INVALID");
}

TEST_F(LimitsTest, StagesAreToldSoMuch) {
  const auto reason_of = [this](auto change) {
    RecordSpec record = Sound();
    change(record);
    return ReasonOfRefusal(jobs_.StartRecord(record).status());
  };
  const std::string refused = "ARGUMENT_INVALID";
  EXPECT_EQ(reason_of([](RecordSpec& r) { r.source.name = ""; }), refused);
  EXPECT_EQ(reason_of([](RecordSpec& r) { r.source.name = std::string(64, 'n'); }), "NAME_INVALID");
  EXPECT_EQ(reason_of([](RecordSpec& r) { r.source.parameters["a b"] = 1; }), "NAME_INVALID");
  EXPECT_EQ(
      reason_of([](RecordSpec& r) { r.source.parameters["tones"] = std::vector<double>(4097); }),
      refused);
  EXPECT_EQ(reason_of([](RecordSpec& r) {
              for (int i = 0; i < 65; ++i) r.source.parameters[absl::StrCat("p", i)] = i;
            }),
            refused);
  EXPECT_EQ(
      reason_of([](RecordSpec& r) { r.transfer.transforms = std::vector<StageSpec>(17, {"fft"}); }),
      refused);
  EXPECT_EQ(reason_of([](RecordSpec& r) { r.transfer.transforms = {{""}}; }), refused);
}

TEST_F(LimitsTest, StoragesAreNodesAndNothingElse) {
  const auto reason_of = [this](const std::string& storage) {
    RecordSpec record = Sound();
    record.transfer.storage = storage;
    return ReasonOfRefusal(jobs_.StartRecord(record).status());
  };
  for (const char* storage : {"dns:///s0:7400", "ipv4:10.0.0.1:1,ipv6:[fd00::1]:1", "s0:1@10.0.0.1",
                              "s0:1@10.0.0.1,s0:1@10.0.0.2"}) {
    EXPECT_NE(reason_of(storage), "ARGUMENT_INVALID") << storage;
    EXPECT_EQ(node_.jobs.last_record().transfer.storage, storage);
  }
  for (const char* storage :
       {"unix:/run/docker.sock", "unix-abstract:s:1", "xds:///s0:1", "dns://8.8.8.8/s0:7400",
        "srv:_tapedeck._tcp.lab", "s0:http", "s0:1,", "s0:1,dns:S0:1", "ipv4:s0:1"}) {
    EXPECT_EQ(reason_of(storage), "ARGUMENT_INVALID") << storage;
  }
}

TEST_F(LimitsTest, AJobsListSaysItsBounds) {
  const auto field_of = [this](auto change) {
    RecordSpec record = Sound();
    change(record);
    const auto reason = ReasonOf(jobs_.StartRecord(record).status());
    return reason.has_value() ? reason->metadata.at("field") : "";
  };
  EXPECT_EQ(field_of([](RecordSpec& r) { r.transfer.slots = kMaxSlots; }), "");
  EXPECT_EQ(field_of([](RecordSpec& r) { r.transfer.slots = kMaxSlots + 1; }), "slots");
  EXPECT_EQ(field_of([](RecordSpec& r) { r.transfer.rails.assign(65, "r0"); }), "rails");
  EXPECT_EQ(field_of([](RecordSpec& r) { r.resume_for_ns = kMaxResumeForNs; }), "");
  EXPECT_EQ(field_of([](RecordSpec& r) { r.resume_for_ns = kMaxResumeForNs + 1; }), "resume_for");
  EXPECT_EQ(field_of([](RecordSpec& r) { r.resume_for_ns = -1; }), "resume_for");
  EXPECT_EQ(field_of([](RecordSpec& r) { r.blocks = 0, r.duration_ns = -1; }), "duration");
  EXPECT_EQ(field_of([](RecordSpec& r) { r.copies = 3; }), "copies");
}

TEST_F(LimitsTest, AJobHasEightStandbysAtMost) {
  const auto reason_of = [this](const std::vector<std::string>& standbys, auto change) {
    RecordSpec record = Sound();
    record.transfer.standbys = standbys;
    change(record);
    return ReasonOfRefusal(jobs_.StartRecord(record).status());
  };
  const auto nothing = [](RecordSpec&) {};
  std::vector<std::string> many;
  for (int i = 1; i <= 8; ++i) many.push_back(absl::StrCat("s", i, ":7400"));
  EXPECT_NE(reason_of(many, nothing), "ARGUMENT_INVALID");
  EXPECT_EQ(node_.jobs.last_record().transfer.standbys, many);
  many.push_back("s9:7400");
  EXPECT_EQ(reason_of(many, nothing), "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of({"s1"}, nothing), "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of({"dns:s0:7400"}, nothing), "ARGUMENT_INVALID") << "in another spelling";
  EXPECT_EQ(reason_of({"unix:/s1"}, nothing), "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of({"s1:1", "s1:1"}, nothing), "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of({"s0:7400"}, nothing), "ARGUMENT_INVALID") << "the first node itself";
  EXPECT_EQ(reason_of({"s1:1"}, [](RecordSpec& r) { r.resume_for_ns = 0; }), "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of({"s1:1"}, [](RecordSpec& r) { r.transfer.target = "inlets/i"; }),
            "ARGUMENT_INVALID");
}

TEST_F(LimitsTest, EachCopyIsOnANodeOfItsOwn) {
  const auto reason_of = [this](const std::string& storage, uint32_t copies) {
    RecordSpec record = Sound();
    record.transfer.storage = storage;
    record.copies = copies;
    return ReasonOfRefusal(jobs_.StartRecord(record).status());
  };
  EXPECT_NE(reason_of("a:1,b:1", 2), "ARGUMENT_INVALID");
  EXPECT_EQ(node_.jobs.last_record().copies, 2u);
  EXPECT_NE(reason_of("a:1,b:1,c:1", 0), "ARGUMENT_INVALID");
  EXPECT_EQ(node_.jobs.last_record().copies, 1u);
  EXPECT_EQ(reason_of("a:1", 2), "ARGUMENT_INVALID");
  EXPECT_EQ(reason_of("a:1,b:1,c:1", 3), "ARGUMENT_INVALID");
}

TEST_F(LimitsTest, AJobHasOneMoreOutputAtMost) {
  const auto reason_of = [this](const std::vector<OutputSpec>& outputs) {
    RecordSpec record = Sound();
    record.outputs = outputs;
    return ReasonOfRefusal(jobs_.StartRecord(record).status());
  };
  const OutputSpec sound{.channel = "luns/l0/channels/c1", .transforms = {{"power"}}};
  const std::string refused = "ARGUMENT_INVALID";
  EXPECT_EQ(reason_of({sound}), "");
  EXPECT_EQ(reason_of({sound, {.channel = "luns/l0/channels/c2"}}), refused);
  EXPECT_EQ(reason_of({{.channel = Sound().transfer.target}}), refused) << "it is the job's own";
  EXPECT_EQ(reason_of({{.channel = "c1"}}), "NAME_INVALID");
  EXPECT_EQ(reason_of({{.channel = sound.channel, .transforms = {{""}}}}), refused);
  EXPECT_EQ(
      reason_of({{.channel = sound.channel, .transforms = std::vector<StageSpec>(17, {"fft"})}}),
      refused);
}

TEST_F(LimitsTest, LongRequestIdsAreRefused) {
  v1::CreateLunRequest request;
  request.set_lun_id("l9");
  request.mutable_lun()->set_store("posix");
  request.mutable_lun()->add_members("/tmp/a");
  request.set_request_id(std::string(65, 'i'));
  v1::Lun response;
  EXPECT_EQ(ReasonOfRefusal(Call(&v1::CatalogService::Stub::CreateLun, request, response)),
            "ARGUMENT_INVALID");
}

}  // namespace
}  // namespace tapedeck::services::server

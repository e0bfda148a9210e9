// Clients against nodes that answer what none may.
#include <gmock/gmock.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/catalog_client.h"
#include "services/site/names.h"
#include "services/tapectl/jobs/follow.h"
#include "services/tapectl/program/program.h"
#include "tapedeck/v1/catalog.grpc.pb.h"
#include "tapedeck/v1/pipeline.grpc.pb.h"

namespace tapedeck::services::client {
namespace {

using testing::HasSubstr;

constexpr char kGood[] = "luns/l/channels/c/recordings/20261128-120000-0001";

class LyingNode final : public v1::CatalogService::Service {
 public:
  LyingNode() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~LyingNode() override { server_->Shutdown(); }

  grpc::Status ListRecordings(grpc::ServerContext*, const v1::ListRecordingsRequest*,
                              v1::ListRecordingsResponse* response) override {
    ++asked;
    v1::Recording& recording = *response->add_recordings();
    recording.set_name(name);
    recording.set_original(original);
    recording.set_state(v1::RECORDING_STATE_SEALED);
    response->set_next_page_token(token);
    return grpc::Status::OK;
  }

  CatalogClient Client() const {
    return CatalogClient(MakeChannel(absl::StrCat("127.0.0.1:", port_)), absl::Seconds(10));
  }

  std::string name = kGood;
  std::string original;
  std::string token;
  std::atomic<int> asked = 0;

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

std::string ReasonIn(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() ? reason->reason : status.ToString();
}

TEST(LyingNodeTest, APageThatWasThereBeforeIsRefused) {
  LyingNode node;
  node.token = "again";
  const absl::Status status = node.Client().ListRecordings("luns/-/channels/-").status();
  EXPECT_EQ(ReasonIn(status), "PROTOCOL_VIOLATION");
  EXPECT_THAT(std::string(status.message()), HasSubstr("the same page"));
  EXPECT_EQ(node.asked, 2);
}

TEST(LyingNodeTest, ANameThatIsNoneIsRefused) {
  LyingNode node;
  EXPECT_EQ(node.Client().ListRecordings("luns/-/channels/-")->size(), 1u);
  for (const std::string& name :
       {std::string(), absl::StrCat(kGood, "\x1b[2J\n"),
        std::string("luns/l/channels/c/recordings/.."), std::string("luns/l/channels/c")}) {
    node.name = name;
    const absl::Status status = node.Client().ListRecordings("luns/-/channels/-").status();
    EXPECT_EQ(ReasonIn(status), "PROTOCOL_VIOLATION") << name;
    EXPECT_EQ(std::string(status.message()).find('\x1b'), std::string::npos);
  }
}

// What `repair` made of the other part has the same name there.
TEST(LyingNodeTest, AMendedPartIsFoundByItsId) {
  LyingNode node;
  node.original = kGood;
  CatalogClient catalog = node.Client();
  const auto found = tapectl::RecordingNameOf("20261128-120000-0001", catalog);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, kGood);
}

// It answers the start, and is then gone for some calls.
class StoppedWorker final : public v1::PipelineService::Service {
 public:
  StoppedWorker() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~StoppedWorker() override { server_->Shutdown(); }

  grpc::Status WatchJob(grpc::ServerContext*, const v1::WatchJobRequest* request,
                        grpc::ServerWriter<v1::WatchJobResponse>* writer) override {
    if (away-- > 0) return {grpc::StatusCode::UNAVAILABLE, "keepalive watchdog timeout"};
    v1::WatchJobResponse last;
    last.mutable_job()->set_name(request->name());
    last.mutable_job()->set_direction(v1::DIRECTION_RECORD);
    last.mutable_job()->set_state(v1::JOB_STATE_SUCCEEDED);
    writer->Write(last);
    return grpc::Status::OK;
  }

  int port = 0;
  std::atomic<int> away = 3;

 private:
  std::unique_ptr<grpc::Server> server_;
};

TEST(StoppedWorkerTest, OneThatComesBackIsFollowedToTheEnd) {
  const StoppedWorker worker;
  tapectl::Program program;
  program.worker = absl::StrCat("127.0.0.1:", worker.port);
  tapectl::InterruptWatch interrupt("");
  const auto ended = tapectl::Follow(program, interrupt, *program.Jobs(), {Job{.name = "jobs/3"}},
                                     tapectl::Impatience::kCancel);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->front().state, JobState::kSucceeded);
}

TEST(StoppedWorkerTest, OneThatHasEndedIsNotWaitedFor) {
  tapectl::Program program;
  {
    const StoppedWorker worker;
    program.worker = absl::StrCat("127.0.0.1:", worker.port);
  }
  tapectl::InterruptWatch interrupt("");
  const absl::Status status = tapectl::Follow(program, interrupt, *program.Jobs(),
                                              {Job{.name = "jobs/3"}}, tapectl::Impatience::kCancel)
                                  .status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("jobs attach jobs/3"));
}

TEST(StoppedWorkerTest, ItIsSaidThatTheJobMayGoOn) {
  const StoppedWorker worker;
  tapectl::Program program;
  program.timeout = "10s";  // all of it is over when a connection breaks
  program.worker = absl::StrCat("127.0.0.1:", worker.port);
  tapectl::InterruptWatch interrupt("");
  const auto jobs = program.Jobs();
  const absl::Status status = tapectl::Follow(program, interrupt, *jobs, {Job{.name = "jobs/3"}},
                                              tapectl::Impatience::kCancel)
                                  .status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("jobs/3 may still run"));
}

TEST(TablesTest, NoCellCommandsTheTerminal) {
  const std::string text =
      tapectl::TextOf({{.heads = {"NAME"}, .rows = {{"a\x1b[2J\xc2\x9b\nb"}, {"äöü"}}}});
  EXPECT_THAT(text, HasSubstr("a\\x1b[2J\\xc2\\x9b b"));
  EXPECT_THAT(text, HasSubstr("äöü"));
}

}  // namespace
}  // namespace tapedeck::services::client

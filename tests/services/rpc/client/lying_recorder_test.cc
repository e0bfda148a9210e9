// Annotations for nodes that do not get further with them.
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/recorder_client.h"
#include "services/tapectl/files/import_marks.h"
#include "tapedeck/v1/recorder.grpc.pb.h"

namespace tapedeck::services::client {
namespace {

constexpr char kRecording[] = "luns/l/channels/c/recordings/r";

// It takes annotations, and says of each call how far it got.
class LyingRecorder final : public v1::RecorderService::Service {
 public:
  explicit LyingRecorder(std::function<void(v1::AnnotateRecordingResponse*)> answer)
      : answer_(std::move(answer)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~LyingRecorder() override { server_->Shutdown(); }

  grpc::Status AnnotateRecording(grpc::ServerContext*, const v1::AnnotateRecordingRequest*,
                                 v1::AnnotateRecordingResponse* response) override {
    ++asked;
    answer_(response);
    return grpc::Status::OK;
  }

  RecorderClient Client() const {
    return RecorderClient(MakeChannel(absl::StrCat("127.0.0.1:", port_)), absl::Seconds(10));
  }

  std::atomic<int> asked = 0;

 private:
  const std::function<void(v1::AnnotateRecordingResponse*)> answer_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

std::string ReasonFrom(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() ? reason->reason : status.ToString();
}

// Of samples 10 to 19, and of 50.
std::vector<Annotation> TwoAnnotations() {
  return {{.sample_start = 10, .sample_count = 10}, {.sample_start = 50}};
}

TEST(LyingRecorderTest, AnAnswerThatDoesNotGetFurtherIsRefused) {
  const struct {
    bool stream;
    uint32_t done;
    uint64_t next_sample;
    uint32_t left_out;
  } rows[] = {{true, 0, 0, 0},  {true, 0, 5, 0},  {true, 0, 10, 0},         {true, 0, 20, 0},
              {true, 1, 50, 0}, {true, 1, 51, 0}, {true, 0, UINT64_MAX, 0}, {true, 2, 51, 0},
              {true, 3, 0, 0},  {true, 1, 0, 2},  {false, 0, 0, 0},         {false, 0, 15, 0},
              {false, 3, 0, 0}, {false, 1, 55, 0}};
  for (const auto& row : rows) {
    LyingRecorder node([&](v1::AnnotateRecordingResponse* response) {
      response->set_done(row.done);
      response->set_next_sample(row.next_sample);
      response->set_left_out(row.left_out);
    });
    model::Marked marked;
    size_t done = 0;
    RecorderClient recorder = node.Client();
    // One that would ask for ever is ended.
    const auto go_on = [&] { return node.asked < 3; };
    const absl::Status status = row.stream
                                    ? recorder.AnnotateStream(kRecording, TwoAnnotations(), &marked)
                                    : recorder.Annotate(kRecording, TwoAnnotations(), go_on, &done);
    EXPECT_EQ(ReasonFrom(status), "PROTOCOL_VIOLATION") << row.done << " " << row.next_sample;
    EXPECT_EQ(node.asked, 1);
    EXPECT_EQ(marked.done + done, 0u);
  }
}

TEST(LyingRecorderTest, AnAnswerThatGetsFurtherIsGoneOnFrom) {
  uint64_t next_sample = 15;
  LyingRecorder node([&](v1::AnnotateRecordingResponse* response) {
    response->set_done(next_sample == 0 ? 2 : 0);
    response->set_next_sample(next_sample);
  });
  RecorderClient recorder = node.Client();
  model::Marked marked;
  ASSERT_TRUE(recorder.AnnotateStream(kRecording, TwoAnnotations(), &marked).ok());
  EXPECT_EQ(marked.next_sample, 15u);
  EXPECT_EQ(ReasonFrom(recorder.AnnotateStream(kRecording, TwoAnnotations(), &marked)),
            "PROTOCOL_VIOLATION")
      << "the same place again";
  next_sample = 0;
  ASSERT_TRUE(recorder.AnnotateStream(kRecording, TwoAnnotations(), &marked).ok());
  EXPECT_EQ(marked.done, 2u);
}

TEST(LyingRecorderTest, AnnotationsOfACopyEndWhenTheyAreToldTo) {
  LyingRecorder node([](v1::AnnotateRecordingResponse* response) { response->set_done(1); });
  RecorderClient recorder = node.Client();
  size_t done = 0;
  const absl::Status ended = recorder.Annotate(
      kRecording, std::vector<Annotation>(1000), [&] { return node.asked < 3; }, &done);
  EXPECT_EQ(ReasonFrom(ended), "JOB_CANCELLED");
  EXPECT_EQ(done, 3u);
}

// A node that goes on sample by sample keeps nobody who wants to end.
TEST(LyingRecorderTest, AnImportEndsBetweenTwoCalls) {
  uint64_t sample = 0;
  LyingRecorder node(
      [&](v1::AnnotateRecordingResponse* response) { response->set_next_sample(++sample); });
  RecorderClient recorder = node.Client();
  int calls = 0;
  tapectl::ImportMarks marks(recorder, {.annotations = {{.sample_count = 1 << 30}},
                                        .go_on = [&] { return node.asked < calls; }});
  Notes notes;
  calls = 3;
  marks.WriteBeforeSeal(kRecording);
  EXPECT_EQ(node.asked, 3);
  calls = 6;
  EXPECT_EQ(ReasonFrom(marks.WriteBehindSeal(kRecording, &notes)), "JOB_CANCELLED");
  EXPECT_EQ(node.asked, 6);
  EXPECT_TRUE(notes.empty());
}

TEST(LyingRecorderTest, AnImportIntoANodeThatLiesFails) {
  LyingRecorder node([](v1::AnnotateRecordingResponse*) {});
  RecorderClient recorder = node.Client();
  tapectl::ImportMarks marks(
      recorder,
      {.annotations = TwoAnnotations(), .in_segments = true, .go_on = [] { return true; }});
  Notes notes;
  EXPECT_EQ(ReasonFrom(marks.WriteBehindSeal(kRecording, &notes)), "PROTOCOL_VIOLATION");
  EXPECT_EQ(node.asked, 1);
}

}  // namespace
}  // namespace tapedeck::services::client

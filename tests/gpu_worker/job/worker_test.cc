// How a worker starts jobs while storage nodes do not answer, or answer nonsense.
#include "gpu_worker/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <limits>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/now.h"
#include "dataplane/transport/inproc/fabric.h"
#include "dataplane/transport/inproc/transport.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::EventLoop;
using services::Channel;
using services::Recording;
using testing::HasSubstr;

std::string ReasonOfStart(const absl::StatusOr<services::Job>& job) {
  const auto reason = services::ReasonOf(job.status());
  return reason.has_value() ? reason->reason : std::string(job.status().message());
}

// What every node answers. The address "mute" answers nothing until it is told to let go.
struct Answers {
  Channel channel = {.name = "luns/l/channels/c",
                     .block_bytes = 64 << 10,
                     .datatype = "cf32_le",
                     .sample_rate = 1e6};
  Recording recording = {.name = "luns/l/channels/c/recordings/r",
                         .block_bytes = 64 << 10,
                         .datatype = "cf32_le",
                         .sample_rate = 1e6};
  std::atomic<int> dials = 0;
  absl::Notification mute_may_answer;
};

class TestStorage final : public services::StorageClient {
 public:
  TestStorage(Answers& answers, std::string address)
      : answers_(answers), address_(std::move(address)) {}

  absl::StatusOr<Channel> GetChannel(const std::string&) override {
    if (const absl::Status status = Wait(); !status.ok()) return status;
    if (address_ == "none") {
      return services::WithReason(absl::NotFoundError("no channel"), "CHANNEL_NOT_FOUND", {});
    }
    return answers_.channel;
  }
  absl::StatusOr<Recording> GetRecording(const std::string&) override {
    if (const absl::Status status = Wait(); !status.ok()) return status;
    return answers_.recording;
  }
  absl::StatusOr<services::Timeline> GetTimeline(const std::string&) override {
    return services::Timeline();
  }
  absl::Status AnnotateStream(const std::string&, std::span<const services::Annotation>,
                              services::model::Marked*) override {
    return absl::OkStatus();
  }
  void Cancel() override { cancelled_ = true; }
  std::unique_ptr<services::session::ControlStream> OpenSession() override { return nullptr; }

 private:
  absl::Status Wait() const {
    while (address_ == "mute" && !answers_.mute_may_answer.HasBeenNotified()) {
      if (cancelled_) return absl::CancelledError("given up");
      absl::SleepFor(absl::Milliseconds(5));
    }
    return absl::OkStatus();
  }

  Answers& answers_;
  const std::string address_;
  std::atomic<bool> cancelled_ = false;
};

class TestDialer final : public services::StorageDialer {
 public:
  explicit TestDialer(Answers& answers) : answers_(answers) {}
  std::unique_ptr<services::StorageClient> Dial(const std::string& address,
                                                const services::telemetry::trace::Branch&,
                                                const std::string&) override {
    ++answers_.dials;
    return std::make_unique<TestStorage>(answers_, address);
  }

 private:
  Answers& answers_;
};

class WorkerTest : public testing::Test {
 protected:
  absl::StatusOr<services::Job> Record(const std::string& storage, const std::string& request = "",
                                       const std::string& caller = "") {
    return worker_->StartRecord({.transfer = {.storage = storage,
                                              .target = "luns/l/channels/c",
                                              .request_id = request,
                                              .caller = caller},
                                 .source = services::StageSpec{"synth"},
                                 .blocks = 1});
  }
  std::future<std::string> RecordBeside(const std::string& storage, const std::string& request = "",
                                        const std::string& caller = "") {
    return std::async(std::launch::async,
                      [=, this] { return ReasonOfStart(Record(storage, request, caller)); });
  }
  void WaitForDials(int count) const {
    for (int i = 0; i < 1000 && answers_.dials < count; ++i) absl::SleepFor(absl::Milliseconds(5));
    ASSERT_EQ(answers_.dials, count);
  }

  WorkerTest() { MakeWorker({}); }

  void MakeWorker(JobPermissions permissions) {
    WorkerParts parts{.name = "test",
                      .rails = {rail_.get()},
                      .executors = {loop_.get()},
                      .storage = &dialer_,
                      .permissions = std::move(permissions),
                      .placement = services::Placement::Discover({rail_.get()})};
    parts.devices.push_back(pipeline::ChooseDevice("host").value());
    worker_ = std::make_unique<Worker>(std::move(parts));
  }

  Answers answers_;
  TestDialer dialer_{answers_};
  const std::unique_ptr<EventLoop> poller_ = EventLoop::Create("rail").value();
  const std::unique_ptr<EventLoop> loop_ = EventLoop::Create("session").value();
  const std::unique_ptr<dataplane::Transport> rail_ =
      dataplane::inproc::Create("r0", *poller_, std::make_shared<dataplane::inproc::Fabric>());
  std::unique_ptr<Worker> worker_;
};

TEST_F(WorkerTest, AMuteNodeHoldsUpNobodyElse) {
  std::vector<std::future<std::string>> mute;
  for (int i = 0; i < 3; ++i) mute.push_back(RecordBeside("mute"));
  WaitForDials(3);
  auto honest = RecordBeside("none");
  ASSERT_EQ(honest.wait_for(std::chrono::seconds(5)), std::future_status::ready);
  EXPECT_EQ(honest.get(), "CHANNEL_NOT_FOUND");
  EXPECT_TRUE(worker_->ListJobs().empty());
  const absl::Time begin = dataplane::SteadyTime();
  worker_->CancelAll();
  EXPECT_LT(dataplane::SteadyTime() - begin, absl::Seconds(4));
  for (auto& start : mute) EXPECT_EQ(start.get(), "DRAINING");
  EXPECT_EQ(ReasonOfStart(Record("none")), "DRAINING");
}

TEST_F(WorkerTest, ARepeatedRequestGetsTheFirstOnesResult) {
  answers_.channel.block_bytes = 0;
  auto first = RecordBeside("mute", "id");
  WaitForDials(1);
  auto second = RecordBeside("mute", "id");
  absl::SleepFor(absl::Milliseconds(50));
  answers_.mute_may_answer.Notify();
  EXPECT_EQ(first.get(), "PROTOCOL_VIOLATION");
  EXPECT_EQ(second.get(), "PROTOCOL_VIOLATION");
  EXPECT_EQ(answers_.dials, 1);
}

TEST_F(WorkerTest, NobodyGetsAnotherOnesResult) {
  answers_.channel.block_bytes = 0;
  auto anns = RecordBeside("mute", "id", "ann");
  WaitForDials(1);
  EXPECT_EQ(ReasonOfStart(Record("none", "id", "bob")), "CHANNEL_NOT_FOUND");
  EXPECT_EQ(answers_.dials, 2);
  answers_.mute_may_answer.Notify();
  EXPECT_EQ(anns.get(), "PROTOCOL_VIOLATION");
}

TEST_F(WorkerTest, OtherStorageNodesAreNotCalled) {
  MakeWorker({.storages = *AllowedStorage::Parse({"none*:7400"})});
  const absl::Status status = Record("s0.lab.example:7400").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  const auto reason = services::ReasonOf(status);
  EXPECT_EQ(reason->reason, "STORAGE_NOT_ALLOWED");
  EXPECT_EQ(reason->metadata.at("storage"), "s0.lab.example:7400");
  EXPECT_THAT(std::string(status.message()), HasSubstr("none*:7400"));
  EXPECT_EQ(answers_.dials, 0);
  answers_.channel.block_bytes = 0;
  EXPECT_EQ(ReasonOfStart(Record("nones:7400")), "PROTOCOL_VIOLATION");
  EXPECT_EQ(answers_.dials, 1);
}

// What starts may still end well; what starts anew may not.
TEST_F(WorkerTest, ADrainWaitsForWhatStarts) {
  answers_.channel.block_bytes = 0;
  auto start = RecordBeside("mute");
  WaitForDials(1);
  worker_->Drain(dataplane::Deadline::In(absl::Milliseconds(10)));
  EXPECT_EQ(ReasonOfStart(Record("none")), "DRAINING");
  auto drain =
      std::async(std::launch::async, [this] { worker_->Drain(dataplane::Deadline::Never()); });
  answers_.mute_may_answer.Notify();
  drain.get();
  EXPECT_EQ(start.get(), "DRAINING");
  EXPECT_TRUE(worker_->ListJobs().empty());
}

// The node would not answer.
TEST_F(WorkerTest, WrongStagesAreRefusedBeforeTheNodeIsAsked) {
  const services::TransferSpec mute{.storage = "mute", .target = "luns/l/channels/c"};
  EXPECT_EQ(ReasonOfStart(worker_->StartRecord({.transfer = mute, .source = {"synth"}})),
            "ARGUMENT_INVALID");
  EXPECT_EQ(ReasonOfStart(worker_->StartRecord(
                {.transfer = mute, .source = {"synth", {{"noise", -1}}}, .blocks = 1})),
            "ARGUMENT_INVALID");
  EXPECT_EQ(ReasonOfStart(worker_->StartPlayback({.transfer = mute, .sink = {"file"}})),
            "ARGUMENT_INVALID");
  services::TransferSpec unknown = mute;
  unknown.transforms = {{"fft", {{"points", 16}}}, {"none"}};
  const auto job = worker_->StartRecord({.transfer = unknown, .source = {"synth"}, .blocks = 1});
  EXPECT_EQ(services::ReasonOf(job.status())->metadata.at("field"), "transform");
}

TEST_F(WorkerTest, DescribesItsStages) {
  EXPECT_THAT(worker_->Describe().stages, testing::Contains("transform fft"));
}

TEST_F(WorkerTest, NonsenseOfANodeIsNamed) {
  const auto expect = [](const absl::StatusOr<services::Job>& job, const std::string& field) {
    ASSERT_EQ(ReasonOfStart(job), "PROTOCOL_VIOLATION") << field;
    EXPECT_EQ(services::ReasonOf(job.status())->metadata.at("field"), field);
    EXPECT_EQ(services::ReasonOf(job.status())->metadata.at("peer"), "storage node s:1");
  };
  const Channel good = answers_.channel;
  const auto channel = [&](const char* field, const std::function<void(Channel&)>& spoil) {
    answers_.channel = good;
    spoil(answers_.channel);
    expect(Record("s:1"), field);
  };
  for (const uint64_t bytes : {0ull, 1ull, 4097ull, 16ull << 20, 1ull << 63, ~0ull}) {
    channel("block_bytes", [&](Channel& c) { c.block_bytes = bytes; });
  }
  for (const double rate : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    channel("sample_rate", [&](Channel& c) { c.sample_rate = rate; });
  }
  channel("datatype", [](Channel& c) { c.datatype = "cf33_le"; });
  const auto recording = [&](const char* field, const std::function<void(Recording&)>& spoil) {
    const Recording sound = answers_.recording;
    spoil(answers_.recording);
    expect(worker_->StartPlayback(
               {.transfer = {.storage = "s:1", .target = sound.name}, .sink = {"null"}}),
           field);
    answers_.recording = sound;
  };
  recording("block_bytes", [](Recording& r) { r.block_bytes = 0; });
  recording("blocks", [](Recording& r) { r.blocks = ~uint64_t{0}; });
  recording("missing_blocks", [](Recording& r) { r.missing_blocks = 1; });
  recording("datatype", [](Recording& r) { r.datatype = ""; });
  recording("sample_rate", [](Recording& r) { r.sample_rate = -1; });
  recording("labels", [](Recording& r) { r.labels[""] = "x"; });
}

}  // namespace
}  // namespace tapedeck::gpu_worker

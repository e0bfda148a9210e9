#include "tests/site/site.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "dataplane/now.h"
#include "services/base/errors.h"
#include "services/rpc/client/calls/channel.h"

namespace tapedeck::site {
namespace {

constexpr absl::Duration kCallLimit = absl::Seconds(30);
constexpr absl::Duration kJobLimit = absl::Minutes(2);

const std::vector<std::string> kRails = {"r0=tcp:127.0.0.1", "r1=tcp:127.0.0.2"};

// The port is the system's choice at the first start.
template <typename Settings>
std::unique_ptr<Daemon> StartAt(Settings& settings) {
  auto daemon = StartDaemon(settings);
  EXPECT_TRUE(daemon.ok()) << daemon.status();
  if (!daemon.ok()) return nullptr;
  settings.listen = absl::StrCat("127.0.0.1:", (*daemon)->port());
  return *std::move(daemon);
}

template <typename Value>
Value Answered(absl::StatusOr<Value> answer) {
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.ok() ? *std::move(answer) : Value();
}

}  // namespace

void Node::Start() {
  daemon_ = StartAt(settings);
  const auto channel = services::client::MakeChannel(address());
  catalog_ = std::make_unique<services::client::CatalogClient>(channel, kCallLimit);
  recorder_ = std::make_unique<services::client::RecorderClient>(channel, kCallLimit);
}

void Node::Stop() {
  recorder_.reset();
  catalog_.reset();
  daemon_.reset();
}

services::Lun Node::LunNamed(const std::string& name) {
  for (const services::Lun& lun : Answered(catalog_->ListLuns())) {
    if (lun.name == name) return lun;
  }
  ADD_FAILURE() << "no LUN " << name;
  return {};
}

services::Channel Node::ChannelNamed(const std::string& name) {
  return Answered(catalog_->GetChannel(name));
}

services::Recording Node::RecordingNamed(const std::string& name) {
  return Answered(catalog_->GetRecording(name));
}

services::Recording Node::Newest(const std::string& channel) {
  const auto recordings = Answered(catalog_->ListRecordings(channel, 1));
  return recordings.empty() ? services::Recording() : recordings.front();
}

bool Node::IsClosed(const std::string& recording) {
  return RecordingNamed(recording).state != services::model::RecordingState::kRecording;
}

void Worker::Start() {
  daemon_ = StartAt(settings);
  jobs_ = std::make_unique<services::client::JobsClient>(
      services::client::MakeChannel(settings.listen), kCallLimit);
}

services::Job Worker::Now(const services::Job& job) { return Answered(jobs_->GetJob(job.name)); }

services::Job Worker::Ended(const absl::StatusOr<services::Job>& started) {
  if (!started.ok()) {
    return {.state = services::model::JobState::kFailed, .error = started.status()};
  }
  return Answered(jobs_->WatchJob(started->name, kJobLimit, [](const services::Job&) {}));
}

Node& SiteTest::AddNode() {
  storage_node::Settings settings;
  settings.listen = "127.0.0.1:0";
  settings.state = absl::StrCat(dir_.path(), "/state", nodes_.size());
  settings.rails = kRails;
  nodes_.push_back(std::make_unique<Node>(std::move(settings)));
  nodes_.back()->Start();
  return *nodes_.back();
}

Worker& SiteTest::AddWorker(bool inlets) {
  gpu_worker::Settings settings;
  settings.listen = "127.0.0.1:0";
  settings.devices = {"host"};
  settings.rails = kRails;
  settings.inlets = inlets;
  workers_.push_back(std::make_unique<Worker>(std::move(settings)));
  workers_.back()->Start();
  return *workers_.back();
}

void SiteTest::AddLun(Node& node, const std::string& name, uint64_t capacity_bytes) {
  const auto made = node.catalog().CreateLun({.name = absl::StrCat("luns/", name),
                                              .store = "posix",
                                              .members = {dir_.Make(name)},
                                              .capacity_bytes = capacity_bytes});
  EXPECT_TRUE(made.ok()) << made.status();
}

services::RecordSpec SiteTest::Recording(const Node& node, const std::string& channel,
                                         uint64_t blocks) {
  services::RecordSpec spec{.transfer = {.storage = node.address(), .target = channel},
                            .source = {"synth"},
                            .blocks = blocks};
  if (blocks == 0) spec.duration_ns = absl::ToInt64Nanoseconds(absl::Hours(1));
  return spec;
}

services::PlaybackSpec SiteTest::Playing(const Node& node, const std::string& recording) {
  return {.transfer = {.storage = node.address(), .target = recording}, .sink = {"verify"}};
}

bool SiteTest::Await(const std::function<bool()>& reached) {
  const absl::Time deadline = dataplane::SteadyTime() + absl::Seconds(30);
  while (!reached()) {
    if (dataplane::SteadyTime() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

bool SiteTest::AwaitBlocks(Worker& worker, const services::Job& job, uint64_t blocks) {
  return Await([&] { return worker.Now(job).blocks >= blocks; });
}

void ExpectWhole(const services::Job& job, uint64_t blocks) {
  EXPECT_EQ(job.state, services::model::JobState::kSucceeded) << job.error;
  EXPECT_EQ(job.blocks, blocks);
  EXPECT_EQ(job.lost_blocks, 0u);
  EXPECT_EQ(job.counters.crc_errors, 0u);
}

void ExpectRefused(const absl::Status& status, absl::StatusCode code, const std::string& reason,
                   const std::string& words) {
  EXPECT_EQ(status.code(), code) << status;
  const auto given = services::ReasonOf(status);
  EXPECT_EQ(given.has_value() ? given->reason : "none", reason) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr(words));
}

}  // namespace tapedeck::site

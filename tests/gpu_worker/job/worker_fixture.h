// A whole worker in this process, with one rail, against a real storage node.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/now.h"
#include "gpu_worker/worker.h"
#include "services/base/errors.h"
#include "tests/gpu_worker/job/job_fixture.h"
#include "tests/gpu_worker/jobs.h"

namespace tapedeck::gpu_worker {

class WorkerFixture : public JobFixture {
 protected:
  void StartWorker(pipeline::DeviceChoice device, const std::string& rail = "tcp") {
    std::vector<pipeline::DeviceChoice> devices;
    devices.push_back(std::move(device));
    StartWorker(std::move(devices), rail);
  }
  void StartWorker(std::vector<pipeline::DeviceChoice> devices, const std::string& rail = "tcp") {
    // More than a GPU records before a test has looked at its job.
    StartNode(KindNamed(rail), 2ull << 30);
    AddChannel(kChannel, kTestBlockBytes, 1e9);
    worker_ = std::make_unique<Worker>(
        WorkerParts{.name = "test",
                    .rails = {worker_rail_.get()},
                    .executors = {worker_loop_.get()},
                    .storage = &dialer_,
                    .devices = std::move(devices),
                    .permissions = {.files = services::files::FileRoots::Anywhere()},
                    .placement = services::Placement::Discover({worker_rail_.get()}),
                    .history = std::move(history_)});
  }

  void TearDown() override {
    worker_.reset();
    JobFixture::TearDown();
  }

  // Without an end of its own unless `blocks` says so.
  absl::StatusOr<services::Job> Record(uint64_t blocks = 0, services::StageSpec source = Synth()) {
    return worker_->StartRecord({.transfer = {.storage = "node", .target = kChannel},
                                 .source = std::move(source),
                                 .blocks = blocks,
                                 .duration_ns = blocks == 0 ? 600 * dataplane::kSecondNs : 0});
  }
  absl::StatusOr<services::Job> Play(const std::string& recording,
                                     services::StageSpec sink = Verify()) {
    return worker_->StartPlayback(
        {.transfer = {.storage = "node", .target = recording}, .sink = std::move(sink)});
  }

  services::Job StateOf(const services::Job& job) { return worker_->GetJob(job.name).value(); }

  // Until `reached` says so, or the job has ended, or a minute is over.
  template <typename Reached>
  services::Job Await(const services::Job& job, Reached reached) {
    const absl::Time deadline = dataplane::SteadyTime() + absl::Seconds(60);
    services::Job now = StateOf(job);
    while (now.end_time_ns == 0 && !reached(now) && dataplane::SteadyTime() < deadline) {
      absl::SleepFor(absl::Milliseconds(2));
      now = StateOf(job);
    }
    return now;
  }
  services::Job AwaitBlocks(const services::Job& job, uint64_t blocks) {
    return Await(job, [blocks](const services::Job& now) { return now.blocks >= blocks; });
  }
  services::Job AwaitEnd(const absl::StatusOr<services::Job>& job) {
    if (!job.ok()) return {.error = job.status()};
    const services::Job ended = Await(*job, [](const services::Job&) { return false; });
    EXPECT_NE(ended.end_time_ns, 0) << "the job has not ended in 60 s";
    return ended;
  }

  static std::string ReasonOf(const absl::Status& status) {
    const auto reason = services::ReasonOf(status);
    return reason.has_value() ? reason->reason : status.ToString();
  }

  std::unique_ptr<job::JobHistory> history_;  // of the worker that is started next; null: none
  std::unique_ptr<Worker> worker_;

 private:
  class LocalDialer final : public services::StorageDialer {
   public:
    explicit LocalDialer(WorkerFixture& fixture) : fixture_(fixture) {}
    std::unique_ptr<services::StorageClient> Dial(const std::string&,
                                                  const services::telemetry::trace::Branch&,
                                                  const std::string&) override {
      return fixture_.Dial();
    }

   private:
    WorkerFixture& fixture_;
  };
  LocalDialer dialer_{*this};
};

}  // namespace tapedeck::gpu_worker

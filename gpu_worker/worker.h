// The GPU worker: its rails, its devices and its jobs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/deadline.h"
#include "dataplane/executor/executor.h"
#include "dataplane/transport/transport.h"
#include "gpu_worker/devices.h"
#include "gpu_worker/inlets/inlet_registry.h"
#include "gpu_worker/job/any_job.h"
#include "gpu_worker/job/job_environment.h"
#include "gpu_worker/job/job_history.h"
#include "gpu_worker/job/job_table.h"
#include "gpu_worker/job/job_totals.h"
#include "gpu_worker/job_permissions.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "services/daemon/placement.h"
#include "services/model/seams/inlets.h"
#include "services/model/seams/jobs.h"
#include "services/model/seams/node.h"
#include "services/observe/flight/trails.h"
#include "services/observe/telemetry/page.h"
#include "services/session/protocol/storage.h"

namespace tapedeck::gpu_worker {

struct WorkerParts {
  std::string name;
  std::vector<dataplane::Transport*> rails;     // outlive the worker
  std::vector<dataplane::Executor*> executors;  // for sessions; outlive the worker
  services::StorageDialer* storage = nullptr;   // outlives the worker
  std::vector<pipeline::DeviceChoice> devices;  // at least one, each with a name of its own
  JobPermissions permissions;                   // of jobs
  services::Placement placement;                // of these rails
  uint32_t connections_per_rail = 1;
  services::flight::Trails* trails = nullptr;  // outlives the worker; null: jobs leave no stamps
  std::unique_ptr<job::JobHistory> history;    // null: none
  inlets::InletRegistry* inlets = nullptr;     // outlives the worker; null: it takes no streams
};

// Any thread.
class Worker final : public services::Jobs,
                     public services::Inlets,
                     public services::NodeDescriber {
 public:
  // Waits for the rails to be probed.
  explicit Worker(WorkerParts parts);

  ~Worker() override;

  // Takes no more jobs, and waits for those that start and those that run to end by themselves,
  // until then.
  void Drain(dataplane::Deadline deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  // The same, but ends them.
  void CancelAll() ABSL_LOCKS_EXCLUDED(mutex_);

  absl::StatusOr<services::Job> StartRecord(const services::RecordSpec& spec) override;
  absl::StatusOr<services::Job> StartPlayback(const services::PlaybackSpec& spec) override;
  absl::StatusOr<services::Job> StartReceive(const services::ReceiveSpec& spec) override;
  absl::StatusOr<services::Inlet> GetInlet(const std::string& name) override;
  absl::StatusOr<services::Job> GetJob(const std::string& name) override;
  std::vector<services::Job> ListJobs() override;
  absl::StatusOr<services::Job> EndJob(const std::string& name, services::JobEnd how) override;

  services::NodeInfo Describe() const override;
  services::NodeStats Stats() const override;

  // FAILED_PRECONDITION (DEVICE_FAILED) once no job can run any more. Does not wait.
  absl::Status Health() const { return devices_.Health(); }

  // Beside those of every machine.
  std::vector<services::doctor::Check> DoctorChecks();

  // All that is beside the rails. Does not wait.
  void AddMetrics(services::telemetry::Page& page) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Request = job::JobTable::Request;
  static Request RequestOf(const services::TransferSpec& spec) {
    return {spec.caller, spec.request_id};
  }

  // One job of a start.
  struct Part {
    std::string name;
    DrivenDevice* device = nullptr;
    // The first is the job's; none: it waits at an inlet.
    std::vector<job::JobNode> nodes;
    dataplane::Executor* executor = nullptr;
  };

  // A job that is being started, or one for each device, on the thread of whoever asked for it.
  // Shared by that thread and those that repeat its request. Guarded by the worker's mutex, but for
  // what does not change.
  struct Start {
    Request request;
    std::string group;  // of its jobs; empty: no more than one was asked for
    std::vector<Part> parts;
    bool ended = false;
    absl::StatusOr<std::shared_ptr<job::AnyJob>> job = absl::InternalError("it has not ended");
  };
  // The jobs of a start by their names, and why there are no more of them.
  struct Made {
    std::vector<std::pair<std::string, std::shared_ptr<job::AnyJob>>> jobs;
    absl::Status status;
  };

  // Starts a job, or one for each device, unless this request already has: then answers the first
  // of those. `make` opens files and asks the storage node, under no lock.
  template <typename Make>
  absl::StatusOr<services::Job> StartOnce(const services::TransferSpec& spec, Make make)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The start that is to be made, or one of the same request, which has ended.
  absl::StatusOr<std::shared_ptr<Start>> Begin(const services::TransferSpec& spec)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // All jobs of the start; where one cannot be made, those before it are cancelled.
  template <typename Make>
  Made MakeAll(const Start& start, const services::TransferSpec& spec, Make make);
  void End(Start& start, Made made) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<job::JobEnvironment> Environment(const Start& start, const Part& part,
                                                  const services::TransferSpec& spec);
  std::vector<job::JobNode> Dial(const services::TransferSpec& spec) const;
  absl::Status CheckReach(const services::TransferSpec& spec) const;
  // Unlike any other, also of another run of a worker of this name.
  std::string NewGroup() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Jobs on the device that have not ended, those that start among them.
  size_t JobsOn(const DrivenDevice& device) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of all jobs since the start.
  job::JobTotals Totals() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<job::AnyJob> Find(const std::string& name) const;
  job::PastJobs JobsToKeep() const ABSL_LOCKS_EXCLUDED(mutex_);
  bool none_starts() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return starts_.empty(); }

  const WorkerParts parts_;
  const Devices devices_;
  mutable absl::Mutex mutex_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<Start>> starts_ ABSL_GUARDED_BY(mutex_);
  job::JobTable jobs_ ABSL_GUARDED_BY(mutex_);
  uint64_t started_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;  // also of earlier runs
};

}  // namespace tapedeck::gpu_worker

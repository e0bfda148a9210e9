#include "gpu_worker/inlets/inlet_registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::inlets {

using services::Inlet;
using services::session::Direction;

absl::StatusOr<std::unique_ptr<InletRegistry>> InletRegistry::Create() {
  TD_ASSIGN_OR_RETURN(auto thread, services::TaskThread::Create("td-inlets"));
  return std::unique_ptr<InletRegistry>(new InletRegistry(std::move(thread)));
}

absl::Status InletRegistry::Open(const Inlet& inlet, MakeAdmission make) {
  absl::MutexLock lock(&mutex_);
  if (inlets_.contains(inlet.name)) {
    return services::InletBusy(absl::StatusCode::kAlreadyExists, inlet.name,
                               "is already open; its job is in tapectl jobs list");
  }
  if (inlets_.size() >= kMaxInlets) {
    return services::LimitReached(
        kMaxInlets, "inlets",
        absl::StrCat("this worker has ", kMaxInlets, " inlets open; end the job of one first"));
  }
  inlets_[inlet.name] = {.inlet = inlet, .make = std::move(make)};
  return absl::OkStatus();
}

void InletRegistry::Close(const std::string& name) {
  MakeAdmission unused;  // goes without the lock
  absl::MutexLock lock(&mutex_);
  const auto found = inlets_.find(name);
  if (found == inlets_.end()) return;
  unused = std::move(found->second.make);
  inlets_.erase(found);
}

absl::StatusOr<Inlet> InletRegistry::Get(const std::string& name) const {
  absl::MutexLock lock(&mutex_);
  const auto found = inlets_.find(name);
  if (found == inlets_.end()) return services::InletNotFound(name);
  return found->second.inlet;
}

absl::StatusOr<MakeAdmission> InletRegistry::Take(const services::session::Open& open) {
  if (open.direction != Direction::kRecord) {
    return services::RecordingNotFound(
        open.recording, "a worker keeps no recordings: play it from the storage node that has it");
  }
  absl::MutexLock lock(&mutex_);
  const auto found = inlets_.find(open.channel);
  if (found == inlets_.end()) return services::InletNotFound(open.channel);
  const Inlet& inlet = found->second.inlet;
  if (open.slot_bytes != 0 && open.slot_bytes < inlet.block_bytes) {
    return services::BlockSizeInvalid(
        open.slot_bytes,
        absl::StrCat("slots of ", open.slot_bytes, " bytes are too small for blocks of ",
                     inlet.name, ", which have ", inlet.block_bytes, " bytes"));
  }
  if (found->second.make == nullptr) {
    return services::InletBusy(absl::StatusCode::kFailedPrecondition, inlet.name,
                               "already receives a stream");
  }
  return std::exchange(found->second.make, nullptr);
}

void InletRegistry::Admit(const services::session::Open& open, dataplane::Executor& executor,
                          std::shared_ptr<services::session::AdmissionWatch> watch,
                          services::session::OnAdmitted admitted) {
  absl::StatusOr<MakeAdmission> make = Take(open);
  if (!make.ok()) return admitted(make.status());
  watch->Say(absl::StrCat("opening the sink of ", open.channel));
  thread_->Run(
      [open, &executor, make = *std::move(make), admitted = std::move(admitted)]() mutable {
        executor.Post([admission = make(open), admitted = std::move(admitted)]() mutable {
          admitted(std::move(admission));
        });
      });
}

}  // namespace tapedeck::gpu_worker::inlets

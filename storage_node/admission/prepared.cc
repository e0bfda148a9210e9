#include "storage_node/admission/prepared.h"

#include <utility>

#include "storage_node/recordings/sigmf_view.h"

namespace tapedeck::storage_node::admission {
namespace {

void KeepOrDrop(catalog::Catalog& catalog, luns::OpenLun& lun, const catalog::ResourceName& name,
                const format::Manifest& sealed, const dataplane::Clock& clock) {
  const bool empty = sealed.blocks == 0 && !sealed.cause.empty();
  if (empty && Drop(catalog, lun, name, sealed, "its session ended before the first block")) return;
  catalog.PutRecording(name, sealed);
  recordings::WriteSigmfView(*lun.store, recordings::PathOf(name, sealed), sealed, clock);
}

std::function<void(const format::Manifest&, std::function<void()>)> OnSealed(
    NodeResources& resources, const catalog::ResourceName& name, const HeldResources& held,
    dataplane::Executor& executor) {
  return [catalog = resources.recordings.catalog(), queue = resources.luns.queues().Of(name.lun),
          lun = held.lun, closing = std::weak_ptr(held.closing), name,
          &clock = resources.luns.clock(),
          &executor](const format::Manifest& sealed, std::function<void()> done) {
    queue->Run([catalog, lun, closing, name, sealed, done = std::move(done), &clock, &executor] {
      KeepOrDrop(*catalog, *lun, name, sealed, clock);
      if (const auto held = closing.lock(); held != nullptr) held->Settle();
      executor.Post(done);
    });
  };
}

// The files of a recording that has no writer yet. Unless it gets one, all is as before.
class Prepared {
 public:
  // `options` without lease; `started` without what those have taken of it.
  Prepared(NodeResources& resources, StartedRecording started, recording::WriterOptions options)
      : queue_(resources.luns.queues().Of(started.name.lun)),
        catalog_(resources.recordings.catalog()),
        name_(std::move(started.name)),
        held_(std::make_shared<HeldResources>(std::move(started.held))),
        undo_(std::move(started.undo)),
        options_(std::move(options)),
        files_(std::move(started.files)) {}
  ~Prepared() {
    if (files_ == nullptr) return;
    files_ = nullptr;
    queue_->Run([catalog = catalog_, held = held_, undo = undo_,
                 room = std::move(options_.reserved)]() mutable {
      undo(*catalog, *held->lun, std::move(room));
    });
  }

  capture::ArmedRecording Arm(NodeResources& resources, dataplane::Executor& executor) {
    capture::ArmedRecording recording{.name = name_.ToString(), .live = options_.live};
    resources.recordings.live().Add(recording.name, recording.live);
    options_.lease = held_;
    recording.writer = std::make_unique<recording::RecordingWriter>(std::move(options_),
                                                                    std::move(files_), executor);
    return recording;
  }

 private:
  const std::shared_ptr<luns::LunQueue> queue_;
  const std::shared_ptr<catalog::Catalog> catalog_;
  const catalog::ResourceName name_;
  const std::shared_ptr<HeldResources> held_;
  const std::function<void(catalog::Catalog&, luns::OpenLun&, recording::Reservation)> undo_;
  recording::WriterOptions options_;
  std::unique_ptr<store::RecordingFiles> files_;
};

// Blocks of a capture are numbered anew, and nobody knows yet from where: none.
dataplane::flight::Trail TrailOf(const RecordTarget& target) {
  const bool capture = target.channel.triggered() && !target.segment.has_value();
  if (capture) return {};
  return dataplane::flight::Trail(target.open.trail,
                                  target.segment.value_or(0) * target.segment_blocks);
}

}  // namespace

bool Drop(catalog::Catalog& catalog, luns::OpenLun& lun, const catalog::ResourceName& name,
          const format::Manifest& manifest, absl::string_view why) {
  const absl::Status gone = lun.store->DeleteRecording(recordings::PathOf(name, manifest));
  if (!gone.ok()) return false;  // and what is there stays listed
  recordings::LogDeleted(name, why);
  catalog.DeleteRecording(name);
  lun.capacity->Forget(name.ToString());
  return true;
}

capture::ArmRecording WithWriter(NodeResources& resources, const RecordTarget& target,
                                 size_t ring_slots,
                                 std::shared_ptr<dataplane::ArrivalCrcs> arrivals,
                                 dataplane::Executor& executor, StartedRecording started) {
  const std::shared_ptr<luns::OpenLun> lun = started.held.lun;
  const store::Layout layout = lun->store->extras().layout;
  recording::WriterOptions options{
      .name = started.name.ToString(),
      .manifest = std::move(started.manifest),
      .ring_slots = ring_slots,
      .arrivals = std::move(arrivals),
      .capacity = lun->capacity,
      .layout = layout,
      .reserved = std::move(started.room),
      .live = std::make_shared<recording::LiveRecording>(layout.annotation_bytes,
                                                         std::move(started.notes)),
      .meter = lun->meter,
      .on_sealed = OnSealed(resources, started.name, started.held, executor),
      .trace = target.open.trace,
      .verifier = resources.verifier,
      .stages = target.stages,
      .trail = TrailOf(target),
      .start = std::move(started.start)};
  auto prepared = std::make_unique<Prepared>(resources, std::move(started), std::move(options));
  return [&resources, &executor, prepared = std::move(prepared)]() mutable {
    return prepared->Arm(resources, executor);
  };
}

}  // namespace tapedeck::storage_node::admission

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
    Means& means, const catalog::ResourceName& name, const Held& held,
    dataplane::Executor& executor) {
  return [catalog = means.recordings.catalog(), queue = means.luns.queues().Of(name.lun),
          lun = held.lun, closing = std::weak_ptr(held.closing), name, &clock = means.luns.clock(),
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
  // `options` without lease; `begun` without what those have taken of it.
  Prepared(Means& means, Begun begun, recording::WriterOptions options)
      : queue_(means.luns.queues().Of(begun.name.lun)),
        catalog_(means.recordings.catalog()),
        name_(std::move(begun.name)),
        held_(std::make_shared<Held>(std::move(begun.held))),
        undo_(std::move(begun.undo)),
        options_(std::move(options)),
        files_(std::move(begun.files)) {}
  ~Prepared() {
    if (files_ == nullptr) return;
    files_ = nullptr;
    queue_->Run([catalog = catalog_, held = held_, undo = undo_,
                 room = std::move(options_.reserved)]() mutable {
      undo(*catalog, *held->lun, std::move(room));
    });
  }

  capture::ArmedRecording Arm(Means& means, dataplane::Executor& executor) {
    capture::ArmedRecording recording{.name = name_.ToString(), .live = options_.live};
    means.recordings.live().Add(recording.name, recording.live);
    options_.lease = held_;
    recording.writer = std::make_unique<recording::RecordingWriter>(std::move(options_),
                                                                    std::move(files_), executor);
    return recording;
  }

 private:
  const std::shared_ptr<luns::LunQueue> queue_;
  const std::shared_ptr<catalog::Catalog> catalog_;
  const catalog::ResourceName name_;
  const std::shared_ptr<Held> held_;
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

capture::ArmRecording WithWriter(Means& means, const RecordTarget& target, size_t ring_slots,
                                 std::shared_ptr<dataplane::ArrivalCrcs> arrivals,
                                 dataplane::Executor& executor, Begun begun) {
  const std::shared_ptr<luns::OpenLun> lun = begun.held.lun;
  const store::Layout layout = lun->store->extras().layout;
  recording::WriterOptions options{.name = begun.name.ToString(),
                                   .manifest = std::move(begun.manifest),
                                   .ring_slots = ring_slots,
                                   .arrivals = std::move(arrivals),
                                   .capacity = lun->capacity,
                                   .layout = layout,
                                   .reserved = std::move(begun.room),
                                   .live = std::make_shared<recording::LiveRecording>(
                                       layout.annotation_bytes, std::move(begun.notes)),
                                   .meter = lun->meter,
                                   .on_sealed = OnSealed(means, begun.name, begun.held, executor),
                                   .trace = target.open.trace,
                                   .verifier = means.verifier,
                                   .stages = target.stages,
                                   .trail = TrailOf(target),
                                   .start = std::move(begun.start)};
  auto prepared = std::make_unique<Prepared>(means, std::move(begun), std::move(options));
  return [&means, &executor, prepared = std::move(prepared)]() mutable {
    return prepared->Arm(means, executor);
  };
}

}  // namespace tapedeck::storage_node::admission

#include "storage_node/recording/sealer.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace tapedeck::storage_node::recording {
namespace {

// One seal under way. Held by the callback it waits for.
struct Seal : std::enable_shared_from_this<Seal> {
  Seal(store::RecordingFiles& f, SealPlan p, store::Done d)
      : files(f), plan(std::move(p)), done(std::move(d)) {}

  // An index without a block is empty: on a full device there is no room for more.
  void Trim() {
    const uint64_t blocks = plan.manifest.blocks;
    const uint64_t used = blocks == 0 ? 0 : plan.manifest.entries().Offset(blocks);
    const uint64_t index_bytes = std::max(used, plan.index_bytes);
    auto next = [self = shared_from_this()](absl::Status status) { self->Mark(status); };
    files.Trim(plan.data_bytes, index_bytes, std::move(next));
  }

  // The header too: it was written first, but a power cut may have taken it.
  void Mark(const absl::Status& status) {
    if (!status.ok()) return done(status);
    if (plan.manifest.blocks == 0) return Flush();
    const format::Watermark watermark{.recording = plan.manifest.identity.recording,
                                      .generation = plan.watermark_generation,
                                      .durable = plan.manifest.durable_watermark};
    marks_left = 2 * files.index_copies();
    for (uint32_t copy = 0; copy < files.index_copies(); ++copy) {
      Write(copy, 0, format::EncodeHeader(plan.header, copy));
      Write(copy, format::WatermarkOffset(watermark.generation),
            format::EncodeWatermark(watermark, copy));
    }
  }

  void Write(uint32_t copy, uint64_t offset, const format::Page& page) {
    files.WriteIndex(copy, offset, store::Bytes(page.begin(), page.end()),
                     [self = shared_from_this()](absl::Status s) { self->Marked(s); });
  }

  void Marked(const absl::Status& status) {
    first_error.Update(status);
    if (--marks_left > 0) return;
    if (!first_error.ok()) return done(first_error);
    Flush();
  }

  void Flush() {
    files.Flush([self = shared_from_this()](absl::Status s) { self->WriteManifest(s); });
  }

  void WriteManifest(const absl::Status& status) {
    if (!status.ok()) return done(status);
    files.WriteManifest(format::EncodeManifest(plan.manifest), std::move(done));
  }

  store::RecordingFiles& files;
  const SealPlan plan;
  store::Done done;
  uint32_t marks_left = 0;
  absl::Status first_error;
};

}  // namespace

void SealRecording(store::RecordingFiles& files, SealPlan plan, store::Done done) {
  std::make_shared<Seal>(files, std::move(plan), std::move(done))->Trim();
}

}  // namespace tapedeck::storage_node::recording

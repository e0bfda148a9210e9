#include "storage_node/index/index_writer.h"

#include <algorithm>
#include <utility>

namespace tapedeck::storage_node::index {

void IndexWriter::WriteHeader(const format::IndexHeader& header) {
  for (uint32_t copy = 0; copy < files_.index_copies(); ++copy) {
    const format::Page page = format::EncodeHeader(header, copy);
    Write(copy, 0, store::Bytes(page.begin(), page.end()), false, false);
  }
}

void IndexWriter::WriteWatermark(const format::Watermark& watermark) {
  for (uint32_t copy = 0; copy < files_.index_copies(); ++copy) {
    const format::Page page = format::EncodeWatermark(watermark, copy);
    Write(copy, format::WatermarkOffset(watermark.generation),
          store::Bytes(page.begin(), page.end()), false, false);
  }
}

void IndexWriter::Add(const format::IndexEntry& entry) {
  pending_.push_back(entry);
  if (batch_operations_ == 0) WriteBatch();
}

void IndexWriter::WriteBatch() {
  if (pending_.empty()) return;
  batch_ = std::exchange(pending_, {});
  batch_failed_ = false;
  std::sort(batch_.begin(), batch_.end(),
            [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
  std::vector<format::IndexEntry> run;
  for (const format::IndexEntry& entry : batch_) {
    if (!run.empty() && entry.sequence != run.back().sequence + 1) {
      WriteRun(std::exchange(run, {}));
    }
    run.push_back(entry);
  }
  WriteRun(run);
}

void IndexWriter::WriteRun(const std::vector<format::IndexEntry>& run) {
  for (uint32_t copy = 0; copy < files_.index_copies(); ++copy) {
    store::Bytes bytes(run.size() * entries_.entry_bytes);
    for (size_t i = 0; i < run.size(); ++i) {
      const auto at = std::span(bytes).subspan(i * entries_.entry_bytes, entries_.entry_bytes);
      entries_.Encode(run[i], copy, at);
    }
    ++batch_operations_;
    Write(copy, entries_.Offset(run.front().sequence), std::move(bytes), false, true);
  }
}

void IndexWriter::Write(uint32_t copy, uint64_t offset, store::Bytes bytes, bool again,
                        bool entries) {
  ++operations_;
  store::Bytes kept = again ? store::Bytes() : bytes;
  files_.WriteIndex(
      copy, offset, std::move(bytes),
      [this, copy, offset, kept = std::move(kept), again, entries](absl::Status status) mutable {
        --operations_;
        const bool worth_repeating = !status.ok() && !absl::IsResourceExhausted(status);
        if (worth_repeating && !again) return Write(copy, offset, std::move(kept), true, entries);
        if (!status.ok()) events_.on_error(status);
        batch_failed_ = batch_failed_ || (entries && !status.ok());
        if (entries) OnRunWritten();
        if (idle()) events_.on_idle();
      });
}

void IndexWriter::OnRunWritten() {
  if (--batch_operations_ > 0) return;
  const std::vector<format::IndexEntry> batch = std::exchange(batch_, {});
  const bool failed = batch_failed_;
  WriteBatch();
  if (!failed) events_.on_written(batch);
}

}  // namespace tapedeck::storage_node::index

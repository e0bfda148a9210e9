// Recordings that are made of bytes, for exports without a node, and files that are cut.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "dataplane/block/block.h"
#include "services/base/errors.h"
#include "services/formats/export.h"
#include "services/formats/io/reader.h"
#include "tests/scratch_file.h"

namespace tapedeck::services::formats {

inline constexpr uint64_t kBlockBytes = 4096;

inline std::string ReasonIn(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() ? reason->reason : status.ToString();
}

// No two places of it look alike.
inline std::string Samples(size_t bytes) {
  std::string text(bytes, '\0');
  uint32_t state = 1;
  for (char& c : text) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return text;
}

inline Recording RecordingOf(const std::string& samples, const std::string& datatype,
                             uint64_t missing_blocks = 0) {
  const uint64_t blocks = (samples.size() + kBlockBytes - 1) / kBlockBytes;
  return {.name = "luns/l/channels/c/recordings/r",
          .uid = "5f0c5a4e-5d5c-4d34-9d5c-6f3c9a5f0c5a",
          .state = RecordingState::kSealed,
          .blocks = blocks,
          .bytes = samples.size() - missing_blocks * kBlockBytes,
          .missing_blocks = missing_blocks,
          .block_bytes = kBlockBytes,
          .datatype = datatype,
          .sample_rate = 1e6,
          .start_time_ns = 1'700'000'000'250'000'000};
}

class NoSlots final : public dataplane::SlotOwner {
 public:
  void ReturnSlot(uint32_t) override {}
};

// Gives the blocks of `samples` from `block` on, without those that are missing.
struct Feed {
  std::string samples;
  std::set<uint64_t> missing;
  uint64_t fails_at = UINT64_MAX;
  uint64_t sample_bytes = 1;

  std::function<absl::StatusOr<copying::NextBlock>(uint64_t)> player() {
    return [this](uint64_t block) -> absl::StatusOr<copying::NextBlock> {
      return [this, block]() mutable { return Block(block++); };
    };
  }

 private:
  absl::StatusOr<std::optional<dataplane::Block>> Block(uint64_t number) {
    const uint64_t begin = number * kBlockBytes;
    if (begin >= samples.size()) return std::nullopt;
    if (number == fails_at) return PeerLost("node", "the node has gone");
    dataplane::BlockHeader header{
        .sequence = number, .sample_index = 1000 + begin / sample_bytes, .capture_ns = -1};
    if (missing.contains(number)) return dataplane::Block::Missing(header);
    const uint64_t bytes = std::min(kBlockBytes, samples.size() - begin);
    dataplane::Block block(std::make_shared<NoSlots>(), 0,
                           std::as_writable_bytes(std::span(samples.data() + begin, bytes)));
    header.payload_bytes = static_cast<uint32_t>(bytes);
    block.header() = header;
    return block;
  }
};

inline ExportRequest RequestFor(const std::string& format, const std::string& to, Feed& feed) {
  return {.format = *FormatNamed(format, Use::kExport),
          .to = to,
          .play = feed.player(),
          .progress = [](uint64_t) { return true; }};
}

// All of its samples.
inline absl::StatusOr<std::string> ReadAll(Reader& reader) {
  std::string bytes(reader.content().bytes, '\0');
  const absl::Status read =
      reader.Read(0, std::as_writable_bytes(std::span(bytes.data(), bytes.size())));
  if (!read.ok()) return read;
  return bytes;
}

// Opens the first `bytes` bytes of a file as one of the format, for each number below `end`: each
// is refused, with a reason and the path.
inline void ExpectEachCutIsNamed(const std::string& file, size_t end, const std::string& format,
                                 const std::string& cut_path) {
  for (size_t bytes = 0; bytes < end; ++bytes) {
    WriteFile(cut_path, file.substr(0, bytes));
    const auto reader = FormatNamed(format, Use::kImport)->read(cut_path, {});
    ASSERT_FALSE(reader.ok()) << bytes << " bytes";
    EXPECT_EQ(ReasonIn(reader.status()), "FILE_INVALID") << bytes << " bytes";
    EXPECT_NE(std::string(reader.status().message()).find(cut_path), std::string::npos);
  }
}

}  // namespace tapedeck::services::formats

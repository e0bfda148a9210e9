// The chunks of a WAV file, one after the other: RIFF, RF64 (EBU Tech 3306), BW64 (ITU-R BS.2088)
// and W64 (Sony Wave64), also of recorders that were interrupted and of those that forget a
// chunk's padding; and what its chunk `auxi` says. One thread that may wait.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/base/files/input_file.h"
#include "services/model/recording/recording.h"
#include "services/model/recording/sample_time.h"
#include "services/model/words/note.h"

namespace tapedeck::services::formats {

struct Chunk {
  std::string name;    // 4 characters, of W64 those that its GUID begins with
  uint64_t begin = 0;  // of what it holds
  uint64_t bytes = 0;  // that are there
};

class WavChunks {
 public:
  // Of a file that outlives this. INVALID_ARGUMENT (FILE_INVALID): it is no such file, or it ends
  // within its header.
  static absl::StatusOr<WavChunks> Create(const files::InputFile& file);

  // None: that was the last one. A chunk "data" without an end, or with one behind the file's,
  // holds what there is. INVALID_ARGUMENT (FILE_INVALID): bytes before the first "data" are no
  // whole chunk; there are more chunks than a recording of a month has.
  absl::StatusOr<std::optional<Chunk>> Next();

  // What is odd about the chunks so far.
  const model::Notes& notes() const { return notes_; }

 private:
  enum class Kind { kRiff, kRf64, kW64 };

  explicit WavChunks(const files::InputFile& file) : file_(&file) {}

  absl::Status ReadHead();
  uint64_t HeadBytes() const;  // of a chunk
  // The size that the head of a chunk at `begin` tells.
  absl::StatusOr<uint64_t> ToldBytes(const Chunk& chunk, absl::string_view head);
  absl::Status ReadSizes(const Chunk& chunk);
  uint64_t DataBytes(const Chunk& chunk, uint64_t told);
  absl::StatusOr<uint64_t> EndOf(const Chunk& chunk) const;
  // The rest is no chunk.
  absl::StatusOr<std::optional<Chunk>> EndWithout(absl::string_view what);

  const files::InputFile* file_;
  Kind kind_ = Kind::kRiff;
  uint64_t told_end_ = 0;                // of all chunks, by the file's header
  std::optional<uint64_t> large_bytes_;  // of "data", by the chunk "ds64"
  uint64_t at_ = 0;
  uint64_t chunks_ = 0;
  bool has_data_ = false;
  model::Notes notes_;
};

// The chunk `auxi` of programs for SDRs: when a WAV file was recorded, and at which frequency. In
// numbers (HDSDR, SDR#, SDRangel) or as XML (SDR Console). The most that is read of one:
inline constexpr uint64_t kMostAuxiBytes = 64 << 10;

struct Auxi {
  model::SampleTime start_ns;
  std::optional<Annotation> signal;
  model::Notes notes;  // what it has and could not be read, or is not taken over

  bool operator==(const Auxi&) const = default;
};

// `sample_rate` is the file's, in samples per second: a note names another.
Auxi ReadAuxi(absl::string_view chunk, double sample_rate);

}  // namespace tapedeck::services::formats

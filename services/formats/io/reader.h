// The seam of a format that becomes recordings: one file beside this one for each, and its line in
// list.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/formats/io/stream.h"
#include "services/formats/io/subject.h"
#include "services/model/recording/recording.h"
#include "services/model/words/note.h"

namespace tapedeck::services::formats {

// What a file says of its samples.
struct Content {
  std::string datatype;                 // of SigMF; empty: it does not say
  double sample_rate = 0;               // 0: it does not say
  model::SampleTime start_ns;           // when the first sample was captured; none: it does not say
  uint64_t first_index = 0;             // what the stream counts the first sample as
  uint64_t bytes = 0;                   // of samples, with those that are missing
  std::vector<SampleRange> gaps;        // in order
  std::vector<Annotation> annotations;  // samples count from the recording's first
  std::string metadata;                 // what no other field has, for model::Origin
  std::vector<model::OriginStage> transforms;  // that made the samples, says an export of ours
  model::Notes notes;                          // what is not taken over
};

// What the user says of a file that does not say it itself, and what of it is wanted.
struct ReadOptions {
  std::string datatype = {};                // of SigMF; empty: the file's
  double sample_rate = 0;                   // 0: the file's
  std::optional<double> frequency_hz = {};  // none: the file's
  model::SampleTime start_ns = {};          // of the first sample; none: the file's
  std::optional<uint32_t> stream = {};      // of packets
  std::string dataset = {};                 // path of one in an HDF5
  std::string member = {};                  // recording in an archive
};

// One thread that may wait.
class Reader {
 public:
  virtual ~Reader() = default;

  virtual const Content& content() const = 0;

  // Gives the samples in the place of Read; content() has the bytes that have come. None: a file.
  virtual InputStream* stream() { return nullptr; }

  // The samples' bytes from there on, in order; those in gaps are zeros. INVALID_ARGUMENT
  // (FILE_INVALID): the file is not what it was.
  virtual absl::Status Read(uint64_t offset, std::span<std::byte> into) = 0;
};

// Puts what a user says of a file in the place of what it says itself, or does not: sample rate,
// frequency and start of `options` win, and a note names what the file says instead.
// INVALID_ARGUMENT (FILE_INVALID): the file holds another datatype than `options` tell; `path`
// names it.
absl::Status Tell(const std::string& path, const ReadOptions& options, Content* content);

// "2024-01-02T03:04:05.5Z", of nanoseconds since 1970.
std::string Instant(int64_t ns);

}  // namespace tapedeck::services::formats

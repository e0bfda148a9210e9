// Of a file that a reader takes: it says where it has losses, and its samples can be read, in one
// piece and in two.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "dataplane/datatype.h"
#include "dataplane/fd.h"
#include "services/formats/io/reader.h"
#include "tests/fuzz/input.h"

namespace tapedeck::services::formats {

// A file in memory alone, by a name that lives as long as this.
class MemoryFile {
 public:
  explicit MemoryFile(absl::string_view bytes) : fd_(memfd_create("input", MFD_CLOEXEC)) {
    fuzz::Require(write(fd_.get(), bytes.data(), bytes.size()) ==
                  static_cast<ssize_t>(bytes.size()));
  }
  std::string path() const { return absl::StrCat("/proc/self/fd/", fd_.get()); }

 private:
  const dataplane::Fd fd_;
};

inline std::vector<std::byte> ReadFrom(Reader& reader, uint64_t offset, uint64_t bytes) {
  std::vector<std::byte> read(bytes);
  fuzz::Require(reader.Read(offset, read).ok());
  return read;
}

using Open = absl::StatusOr<std::unique_ptr<Reader>> (*)(const std::string& path,
                                                         const ReadOptions& options);

inline void IsSound(absl::string_view bytes, Open open) {
  constexpr uint64_t kMostRead = 1 << 20;  // by one try
  const MemoryFile file(bytes);
  const auto reader = open(file.path(), {});
  if (!reader.ok()) return;
  const Content& content = (*reader)->content();
  const auto type = dataplane::ParseDatatype(content.datatype);
  fuzz::Require(type.ok() && content.bytes % type->bytes_per_sample() == 0);
  uint64_t end = 0;
  for (const SampleRange& gap : content.gaps) {
    fuzz::Require(gap.count > 0 && gap.first >= end);
    end = gap.first + gap.count;
  }
  const uint64_t samples = content.bytes / type->bytes_per_sample();
  fuzz::Require(end <= samples);
  if (samples == 0 || content.bytes > kMostRead) return;
  for (const Annotation& told : content.annotations) fuzz::Require(told.sample_start < samples);
  const uint64_t half = samples / 2 * type->bytes_per_sample();
  std::vector<std::byte> halves = ReadFrom(**reader, 0, half);
  const std::vector<std::byte> rest = ReadFrom(**reader, half, content.bytes - half);
  halves.insert(halves.end(), rest.begin(), rest.end());
  fuzz::Require(halves == ReadFrom(**reader, 0, content.bytes));
}

}  // namespace tapedeck::services::formats

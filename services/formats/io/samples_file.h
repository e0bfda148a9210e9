// Samples that lie in a file in one or more pieces, in order, as all formats but HDF5 read them;
// and the format that is the samples and nothing else. One thread that may wait.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/status_macros.h"
#include "services/base/files/input_file.h"
#include "services/formats/io/input.h"
#include "services/formats/io/reader.h"
#include "services/formats/io/writer.h"

namespace tapedeck::services::formats {

// Bytes of a file.
struct Extent {
  uint64_t begin = 0;
  uint64_t bytes = 0;
};

class SamplesFile final : public Reader {
 public:
  // The extents have content.bytes bytes or more.
  SamplesFile(files::InputFile file, const std::vector<Extent>& extents, Content content)
      : file_(std::move(file)), content_(std::move(content)) {
    uint64_t offset = 0;
    for (const Extent& extent : extents) {
      pieces_.push_back({offset, extent.begin});
      offset += extent.bytes;
    }
  }
  SamplesFile(files::InputFile file, uint64_t begin, const Content& content)
      : SamplesFile(std::move(file), std::vector<Extent>{{begin, content.bytes}}, content) {}

  const Content& content() const override { return content_; }
  absl::Status Read(uint64_t offset, std::span<std::byte> into) override {
    auto piece = std::prev(std::ranges::upper_bound(pieces_, offset, {}, &InFile::offset));
    while (!into.empty()) {
      const auto next = std::next(piece);
      const uint64_t left = next == pieces_.end() ? into.size() : next->offset - offset;
      const size_t bytes = std::min<uint64_t>(left, into.size());
      const uint64_t at = piece->begin + (offset - piece->offset);
      TD_RETURN_IF_ERROR(ReadExactly(file_, at, into.first(bytes)));
      into = into.subspan(bytes);
      offset += bytes;
      piece = next;
    }
    return absl::OkStatus();
  }

 private:
  struct InFile {
    uint64_t offset = 0;  // of its first byte among the samples
    uint64_t begin = 0;   // the same in the file
  };

  const files::InputFile file_;
  std::vector<InFile> pieces_;
  const Content content_;
};

// The samples and nothing else.
std::unique_ptr<Writer> CreateRawWriter();

absl::StatusOr<std::unique_ptr<Reader>> OpenRaw(const std::string& path,
                                                const ReadOptions& options = {});

}  // namespace tapedeck::services::formats

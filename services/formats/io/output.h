// A file, or a stream, that grows at its end. One thread that may wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/formats/io/stream.h"

namespace tapedeck::services::formats {

class Output {
 public:
  // `fd` outlives it; the file has so many bytes.
  Output(std::string path, int fd, uint64_t bytes)
      : path_(std::move(path)), fd_(fd), bytes_(bytes) {}
  // `stream` outlives it.
  Output(std::string path, OutputStream& stream)
      : path_(std::move(path)), fd_(-1), stream_(&stream) {}

  absl::Status Put(std::span<const std::byte> bytes);
  absl::Status Put(absl::string_view text);
  // In the place of bytes that are there. Of no stream.
  absl::Status Replace(uint64_t offset, absl::string_view text);
  // Bytes that read as zeros, and take no room where the file system can do that. A stream gets
  // them before the next bytes, or at the end.
  void Skip(uint64_t bytes) { bytes_ += bytes; }

  // Everything is durable, and the file is as long as it says. A stream has been given everything.
  absl::Status Sync();

  uint64_t bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

 private:
  absl::Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) const;
  // Zeros for what was skipped.
  absl::Status FillStream();

  const std::string path_;
  const int fd_;
  OutputStream* const stream_ = nullptr;  // none: it is a file
  uint64_t bytes_ = 0;
  uint64_t given_ = 0;  // of these, to the stream
};

}  // namespace tapedeck::services::formats

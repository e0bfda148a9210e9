// What comes out of another program, or goes into one, where a file could be: standard input or
// output, or a FIFO. No wait for that program is longer than 100 ms: `go_on` is then asked, and
// false ends the wait. One thread that may wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/fd.h"

namespace tapedeck::services::formats {

// Names standard input or output. A file of that name is "./-".
inline constexpr char kStandard[] = "-";

// Whether it is "-", or leads to a FIFO, as /dev/stdin and the shell's <(...) may.
bool IsStream(const std::string& path);

using GoOn = std::function<bool()>;

class InputStream {
 public:
  // INVALID_ARGUMENT (FILE_INVALID): standard input is a terminal; NOT_FOUND (FILE_NOT_FOUND).
  // Waits for nobody.
  static absl::StatusOr<std::unique_ptr<InputStream>> Open(const std::string& path);

  // Waits for the first byte, which Read gives. INVALID_ARGUMENT (FILE_INVALID): none came before
  // the end; CANCELLED (JOB_CANCELLED).
  absl::Status Await(const GoOn& go_on);

  // Fills `into`; fewer bytes are the last ones, or `go_on` has ended it. INVALID_ARGUMENT
  // (FILE_INVALID): it cannot be read.
  absl::StatusOr<uint64_t> Read(std::span<std::byte> into, const GoOn& go_on);

  // That have come so far.
  uint64_t bytes() const { return bytes_; }

 private:
  InputStream(std::string path, dataplane::Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  // Some bytes; 0: it has ended, or `go_on` has ended it.
  absl::StatusOr<size_t> ReadSome(std::span<std::byte> into, const GoOn& go_on);

  const std::string path_;
  const dataplane::Fd fd_;
  std::optional<std::byte> first_;
  uint64_t bytes_ = 0;
  bool ended_ = false;
};

class OutputStream {
 public:
  // Waits for a program that reads the FIFO. From then on this process ignores SIGPIPE.
  // INVALID_ARGUMENT (ARGUMENT_INVALID): standard output is a terminal; NOT_FOUND (FILE_NOT_FOUND);
  // CANCELLED (JOB_CANCELLED).
  static absl::StatusOr<std::unique_ptr<OutputStream>> Open(const std::string& path, GoOn go_on);

  // CANCELLED (JOB_CANCELLED); INTERNAL or RESOURCE_EXHAUSTED (STORE_IO), one of which is that its
  // reader has gone.
  absl::Status Write(std::span<const std::byte> bytes);

 private:
  OutputStream(std::string path, dataplane::Fd fd, size_t most, GoOn go_on)
      : path_(std::move(path)), fd_(std::move(fd)), most_(most), go_on_(std::move(go_on)) {}

  const std::string path_;
  const dataplane::Fd fd_;
  const size_t most_;  // bytes that one write(2) is given
  const GoOn go_on_;
};

// Whether that is why a write has failed: nobody reads the pipe any more.
bool ReaderHasGone(const absl::Status& status);

}  // namespace tapedeck::services::formats

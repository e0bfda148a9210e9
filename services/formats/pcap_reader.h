// The datagrams of UDP in a capture file (PCAP, with micro- or nanoseconds, of either byte order),
// one after the other. One thread that may wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/files/input_file.h"

namespace tapedeck::services::formats {

struct Captured {
  int64_t time_ns = 0;               // when it was captured
  std::span<const std::byte> bytes;  // of the datagram; valid until the next call
};

class PcapReader {
 public:
  // Of a file that outlives this. INVALID_ARGUMENT (FILE_INVALID): it is no such file, or is cut.
  static absl::StatusOr<PcapReader> Create(const files::InputFile& file);

  // None: that was the last one. What is no whole datagram over IPv4 or IPv6 is passed over and
  // counted. INVALID_ARGUMENT (FILE_INVALID): the file ends within a packet, or has one of a size
  // that no capture has.
  absl::StatusOr<std::optional<Captured>> Next();

  // Begins again with the first, and with no count.
  void Rewind();

  uint64_t passed_over() const { return passed_over_; }

 private:
  explicit PcapReader(const files::InputFile& file) : file_(&file) {}

  absl::Status ReadHead();
  uint32_t Number(std::span<const std::byte> at) const;
  // The file's bytes from `at_` on, which it moves behind them.
  absl::StatusOr<std::span<const std::byte>> Take(size_t bytes, const char* what);

  const files::InputFile* file_;
  bool swapped_ = false;  // its numbers are big-endian
  int64_t tick_ns_ = 1;   // of a fraction of a second
  uint32_t link_ = 0;     // what each packet begins with
  uint64_t at_ = 0;
  uint64_t passed_over_ = 0;
  std::vector<std::byte> window_;  // of the file, from window_at_ on
  uint64_t window_at_ = 0;
};

}  // namespace tapedeck::services::formats

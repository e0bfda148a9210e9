// Packets of VITA 49.2 in a capture file (PCAP), as they would go over a network: UDP over IPv4, to
// port 4991. Samples are big-endian in packets, whatever the recording has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "services/formats/io/reader.h"
#include "services/formats/io/writer.h"

namespace tapedeck::services::formats {

// INVALID_ARGUMENT (ARGUMENT_INVALID): no sample rate, or one that has no times in picoseconds;
// times before 1970 or beyond 32 bits of seconds; a number of samples that no packet holds, or that
// does not divide a block.
absl::StatusOr<std::unique_ptr<Writer>> CreateVita49Writer(const Subject& subject,
                                                           const WriterOptions& options);

// Of one stream in a capture, that of the first samples: as little-endian samples, with what its
// contexts tell as annotations `signal`. Where packets are missing, by their times, is a gap.
// NOT_FOUND (FILE_NOT_FOUND), INVALID_ARGUMENT (FILE_INVALID).
absl::StatusOr<std::unique_ptr<Reader>> OpenVita49(const std::string& path,
                                                   const ReadOptions& options = {});

// Into the other order of bytes: turns each number of `part` bytes round.
inline void SwapBytes(std::span<std::byte> numbers, size_t part) {
  for (; numbers.size() >= part; numbers = numbers.subspan(part)) {
    std::ranges::reverse(numbers.first(part));
  }
}

}  // namespace tapedeck::services::formats

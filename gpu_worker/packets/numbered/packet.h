// The packet "numbered": raw samples behind a number. Everything is little-endian.
//
//   offset  bytes
//        0      4  "TDNR"
//        4      4  number of the packet in its stream; after 2^32 - 1 comes 0
//        8      4  stream, chosen by its sender
//       12      2  bytes of samples, more than 0
//       14      2  1: the end of the stream, else 0
//       16         samples
//
// All packets of a stream have as many samples, but for its last one, which may have fewer. The end
// of a stream is the header of its last packet alone, with the mark: it may be sent several times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tapedeck::gpu_worker::packets::numbered {

inline constexpr size_t kHeaderBytes = 16;

struct Header {
  uint32_t number = 0;
  uint32_t stream = 0;
  uint16_t samples_bytes = 0;
  bool end = false;

  // Of the packet with its header.
  size_t packet_bytes() const { return kHeaderBytes + (end ? 0 : samples_bytes); }
  bool operator==(const Header&) const = default;
};

std::array<std::byte, kHeaderBytes> Encode(const Header& header);

// None: `bytes`, which may be of any size, do not begin with a header of a packet that may be.
std::optional<Header> Decode(std::span<const std::byte> bytes);

}  // namespace tapedeck::gpu_worker::packets::numbered

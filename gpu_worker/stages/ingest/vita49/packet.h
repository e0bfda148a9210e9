// Packets of VITA 49.2, those of a signal's data and of its context, as DIFI (IEEE-ISTO 4900) has
// them, too: words of 32 bits, big-endian.
//
//   word 0  type (4 bits) C T x x TSI (2) TSF (2) count (4) words of the packet (16)
//        1  stream, but for type 0
//     2, 3  class, where C is 1; the first 5 bits: bits of padding behind the samples
//        1  whole seconds, where TSI is not 0
//        2  fraction of the second, where TSF is not 0: samples (1), picoseconds (2), free count
//        (3)
//           samples; or of a context a word of bits, and the fields that they name
//        1  trailer, where T is 1 (data)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tapedeck::gpu_worker::stages::ingest::vita49 {

inline constexpr size_t kWordBytes = 4;

enum class Fraction : uint8_t { kNone, kSamples, kPicoseconds, kFreeCount };

struct Time {
  bool has_seconds = false;
  uint32_t seconds = 0;
  Fraction kind = Fraction::kNone;
  uint64_t fraction = 0;
};

// Of a context those fields that a recording is told of.
struct Context {
  std::optional<double> bandwidth_hz;
  std::optional<double> frequency_hz;  // of the radio signal, at its reference
  std::optional<double> gain_db;       // both stages together
  std::optional<double> sample_rate;

  bool operator==(const Context&) const = default;
};

struct Decoded {
  std::optional<uint32_t> stream;
  Time time;
  std::span<const std::byte> samples;  // without padding; none of a context
  std::optional<Context> context;
};

// Bytes of the packet that begins with this word; none: no packet is so short.
std::optional<size_t> SizeOf(std::span<const std::byte> word);

// None: not one whole packet of these kinds. Every size in it is held against the packet's own.
std::optional<Decoded> Decode(std::span<const std::byte> packet);

}  // namespace tapedeck::gpu_worker::stages::ingest::vita49

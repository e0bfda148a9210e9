// Packets of VITA 49.2 (ANSI/VITA 49.2-2017), those of a signal's data and of its context, as DIFI
// 1.1 (IEEE-ISTO 4900) has them, too: words of 32 bits, big-endian.
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

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/datatype.h"

namespace tapedeck::services::vita49 {

inline constexpr size_t kWordBytes = 4;

enum class Fraction : uint8_t { kNone, kSamples, kPicoseconds, kFreeCount };

struct Time {
  bool has_seconds = false;
  uint32_t seconds = 0;
  Fraction kind = Fraction::kNone;
  uint64_t fraction = 0;
  bool gps = false;  // the seconds are those of GPS, else those of UTC, since 1970

  bool operator==(const Time&) const = default;
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
  uint32_t count = 0;  // of the packet among those of its type, 4 bits
  Time time;
  std::span<const std::byte> samples;  // without padding; none of a context
  std::optional<Context> context;
  // Of a context that says so: what the samples are, big-endian. None, too: they are of a kind that
  // no datatype of SigMF has.
  std::optional<dataplane::Datatype> format;
  std::optional<uint64_t> told_format;  // the same as its words, see signal_text.h
};

// Bytes of the packet that begins with this word; none: no packet is so short.
std::optional<size_t> SizeOf(std::span<const std::byte> word);

// None: not one whole packet of these kinds. Every size in it is held against the packet's own.
std::optional<Decoded> Decode(std::span<const std::byte> packet);

// Why there is none: it is a command or of an extension, bins of a spectrum, or no packet.
enum class Undecoded : uint8_t { kOtherType, kSpectrum, kUnsound };
Undecoded WhyUndecoded(std::span<const std::byte> packet);

// What is written before samples: all of the above but a trailer, with the class of DIFI's data.
inline constexpr size_t kDataHeaderBytes = 7 * kWordBytes;

struct DataHeader {
  uint32_t stream = 0;
  uint32_t number = 0;  // of the packet among those of its type; the last 4 bits are written
  Time time;            // of the first sample: as of SampleClock
  size_t samples_bytes = 0;

  // Of the header itself.
  size_t bytes() const { return kDataHeaderBytes - (time.has_seconds ? 0 : kWordBytes); }
  // Behind the samples, to fill their last word.
  size_t padding_bytes() const { return (kWordBytes - samples_bytes % kWordBytes) % kWordBytes; }
};

// Of a packet that is no longer than kMaxPacketBytes.
// The first header.bytes() of it count.
std::array<std::byte, kDataHeaderBytes> Encode(const DataHeader& header);

struct ContextPacket {
  uint32_t stream = 0;
  uint32_t number = 0;         // as of DataHeader
  Time time;                   // from which on it holds
  Context context;             // with numbers that Writable takes
  dataplane::Datatype format;  // of the samples
  bool changed = false;        // something of it is new
};

// A context that has all four fields is one of DIFI: with its class, and with all fields that it
// has, 0 where nothing is known. One that has fewer is told as it is, without a class.
std::vector<std::byte> Encode(const ContextPacket& packet);

// The fields' fixed point has room for these numbers.
bool Writable(const Context& context);

}  // namespace tapedeck::services::vita49

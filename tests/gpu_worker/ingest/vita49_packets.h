// Packets of VITA 49.2, as a device makes them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace tapedeck::gpu_worker {

class VitaPacket {
 public:
  VitaPacket& Word(uint32_t word) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes_.push_back(static_cast<std::byte>(word >> shift));
    }
    return *this;
  }
  VitaPacket& Two(uint64_t words) {
    return Word(static_cast<uint32_t>(words >> 32)).Word(static_cast<uint32_t>(words));
  }
  VitaPacket& Hertz(double hertz) {
    return Two(static_cast<uint64_t>(std::llround(std::ldexp(hertz, 20))));
  }
  VitaPacket& Bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  // Writes its size into it.
  std::vector<std::byte> Done() const {
    std::vector<std::byte> done = bytes_;
    done[2] = static_cast<std::byte>(done.size() / 4 >> 8);
    done[3] = static_cast<std::byte>(done.size() / 4);
    return done;
  }

 private:
  std::vector<std::byte> bytes_;
};

// UTC seconds and picoseconds.
struct VitaTime {
  uint32_t seconds = 0;
  uint64_t picoseconds = 0;

  static VitaTime Of(uint64_t sample, uint64_t rate, uint32_t begin_s = 1'700'000'000) {
    return {begin_s + static_cast<uint32_t>(sample / rate),
            sample % rate * (1'000'000'000'000 / rate)};
  }
};

// Signal data with stream, class of DIFI and trailer.
inline std::vector<std::byte> VitaData(uint32_t stream, const VitaTime& time,
                                       std::span<const std::byte> samples) {
  return VitaPacket()
      .Word(0x1c60'0000)
      .Word(stream)
      .Word(0x006a'621e)
      .Word(0)
      .Word(time.seconds)
      .Two(time.picoseconds)
      .Bytes(samples)
      .Word(0)
      .Done();
}

// Bandwidth, frequency, gain and sample rate, with fields between them that nobody asks for.
inline std::vector<std::byte> VitaContext(uint32_t stream, const VitaTime& time,
                                          double frequency_hz, double gain_db) {
  return VitaPacket()
      .Word(0x4960'0000)
      .Word(stream)
      .Word(0x006a'621e)
      .Word(0)
      .Word(time.seconds)
      .Two(time.picoseconds)
      .Word(0xf9a0'8002)  // and a second such word
      .Word(0)
      .Word(100)   // reference point
      .Hertz(2e7)  // bandwidth
      .Hertz(1e6)  // intermediate frequency
      .Hertz(frequency_hz)
      .Word(0xffff'8000)  // reference level
      .Word(static_cast<uint16_t>(std::lround(gain_db * 128)))
      .Hertz(1e6)  // sample rate
      .Two(0)      // format of the payload
      .Done();
}

}  // namespace tapedeck::gpu_worker

// The chunks of WAV files: RIFF, or RF64 (EBU Tech 3306) where sizes need 64 bits. Numbers are
// little-endian. Of this room alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace tapedeck::services::formats {

inline constexpr uint64_t kMaxRiffBytes = 0xffffffff;

// WAVE_FORMAT_PCM, WAVE_FORMAT_IEEE_FLOAT; WAVE_FORMAT_EXTENSIBLE has one of them in a GUID.
inline constexpr uint16_t kWavePcm = 1;
inline constexpr uint16_t kWaveFloat = 3;
inline constexpr uint16_t kWaveExtensible = 0xfffe;

// The chunk `auxi` of programs for SDRs: two times of 16 bytes, then numbers of 32 bits, at these
// offsets.
inline constexpr size_t kSystemTimeBytes = 16;
inline constexpr size_t kAuxiStart = 0;
inline constexpr size_t kAuxiStop = 16;
inline constexpr size_t kAuxiFrequency = 32;  // Hz
inline constexpr size_t kAuxiRate = 36;
inline constexpr size_t kAuxiNextFile = 68;  // its name
inline constexpr size_t kAuxiBytes = 164;    // with what follows, which is not used here

// Appends a number of `bytes` bytes.
void AppendNumber(std::string* text, uint64_t value, int bytes);
uint64_t NumberAt(absl::string_view text, size_t at, int bytes);

// SYSTEMTIME of Windows, to the millisecond, UTC; zeros: unknown.
void AppendSystemTime(std::string* text, std::optional<int64_t> ns);
// None: no such time.
std::optional<int64_t> SystemTimeAt(absl::string_view text, size_t at);

}  // namespace tapedeck::services::formats

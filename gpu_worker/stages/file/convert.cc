#include "gpu_worker/stages/file/convert.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace tapedeck::gpu_worker::stages::file {
namespace {

using dataplane::Datatype;

template <size_t kBytes>
using Word = std::conditional_t<
    kBytes == 1, uint8_t,
    std::conditional_t<kBytes == 2, uint16_t, std::conditional_t<kBytes == 4, uint32_t, uint64_t>>>;

inline uint8_t Swapped(uint8_t word) { return word; }
inline uint16_t Swapped(uint16_t word) { return __builtin_bswap16(word); }
inline uint32_t Swapped(uint32_t word) { return __builtin_bswap32(word); }
inline uint64_t Swapped(uint64_t word) { return __builtin_bswap64(word); }

template <typename T, bool kBigEndian>
T Load(const std::byte* in) {
  Word<sizeof(T)> word;
  std::memcpy(&word, in, sizeof(word));
  return std::bit_cast<T>(kBigEndian ? Swapped(word) : word);
}

// One rounding, to float: every intermediate is exact in double.
template <typename T>
float Scaled(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<float>(value);
  } else {
    constexpr double kHalf = static_cast<double>(uint64_t{1} << (8 * sizeof(T) - 1));
    constexpr double kMiddle = std::is_unsigned_v<T> ? kHalf : 0;
    return static_cast<float>((static_cast<double>(value) - kMiddle) / kHalf);
  }
}

template <typename T, bool kComplex, bool kBigEndian>
void Convert(std::span<const std::byte> in, float* out) {
  constexpr size_t kComponents = kComplex ? 2 : 1;
  const size_t samples = in.size() / (kComponents * sizeof(T));
  for (size_t i = 0; i < samples; ++i) {
    const std::byte* sample = in.data() + i * kComponents * sizeof(T);
    out[2 * i] = Scaled(Load<T, kBigEndian>(sample));
    out[2 * i + 1] = kComplex ? Scaled(Load<T, kBigEndian>(sample + sizeof(T))) : 0.0f;
  }
}

template <typename T>
Converter Pick(const Datatype& datatype) {
  if (datatype.complex) {
    return datatype.big_endian ? &Convert<T, true, true> : &Convert<T, true, false>;
  }
  return datatype.big_endian ? &Convert<T, false, true> : &Convert<T, false, false>;
}

}  // namespace

absl::StatusOr<Converter> ConverterFor(const Datatype& datatype) {
  switch (datatype.kind) {
    case Datatype::Kind::kFloat:
      if (datatype.bits == 32) return Pick<float>(datatype);
      if (datatype.bits == 64) return Pick<double>(datatype);
      break;
    case Datatype::Kind::kInt:
      if (datatype.bits == 8) return Pick<int8_t>(datatype);
      if (datatype.bits == 16) return Pick<int16_t>(datatype);
      if (datatype.bits == 32) return Pick<int32_t>(datatype);
      break;
    case Datatype::Kind::kUint:
      if (datatype.bits == 8) return Pick<uint8_t>(datatype);
      if (datatype.bits == 16) return Pick<uint16_t>(datatype);
      if (datatype.bits == 32) return Pick<uint32_t>(datatype);
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("ConverterFor: no conversion from components of ", datatype.bits, " bits"));
}

}  // namespace tapedeck::gpu_worker::stages::file

#include "services/signal/samples/conversion.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/signal/samples/sample_math.h"

namespace tapedeck::services::samples {
namespace {

using dataplane::Datatype;

// Samples between reading and writing: what stays in the first cache.
constexpr size_t kRun = 512;

template <size_t kBytes>
using Word = std::conditional_t<
    kBytes == 1, uint8_t,
    std::conditional_t<kBytes == 2, uint16_t, std::conditional_t<kBytes == 4, uint32_t, uint64_t>>>;

template <typename T, bool kBigEndian>
double ReadOne(const std::byte* in) {
  Word<sizeof(T)> word;
  std::memcpy(&word, in, sizeof(word));
  const T value = std::bit_cast<T>(kBigEndian ? Swapped(word) : word);
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else {
    constexpr int kBits = 8 * sizeof(T);
    if constexpr (std::is_unsigned_v<T>) return FromFullScale(Centred(value, kBits), kBits);
    return FromFullScale(static_cast<int32_t>(value), kBits);
  }
}

template <typename T, bool kBigEndian>
void WriteOne(double value, std::byte* out) {
  T made = 0;
  if constexpr (std::is_floating_point_v<T>) {
    made = static_cast<T>(value);
  } else {
    constexpr int kBits = 8 * sizeof(T);
    const int32_t number = ToFullScale(value, kBits);
    made = static_cast<T>(std::is_unsigned_v<T> ? Uncentred(number, kBits) : number);
  }
  auto word = std::bit_cast<Word<sizeof(T)>>(made);
  if (kBigEndian) word = Swapped(word);
  std::memcpy(out, &word, sizeof(word));
}

template <typename T, bool kComplex, bool kBigEndian>
void Read(const std::byte* in, size_t samples, double* out) {
  constexpr size_t kBytes = (kComplex ? 2 : 1) * sizeof(T);
  for (size_t i = 0; i < samples; ++i) {
    const std::byte* const sample = in + i * kBytes;
    out[2 * i] = ReadOne<T, kBigEndian>(sample);
    out[2 * i + 1] = kComplex ? ReadOne<T, kBigEndian>(sample + kBytes / 2) : 0.0;
  }
}

template <typename T, bool kComplex, bool kBigEndian>
void Write(const double* in, size_t samples, std::byte* out) {
  constexpr size_t kBytes = (kComplex ? 2 : 1) * sizeof(T);
  for (size_t i = 0; i < samples; ++i) {
    std::byte* const sample = out + i * kBytes;
    WriteOne<T, kBigEndian>(in[2 * i], sample);
    if constexpr (kComplex) WriteOne<T, kBigEndian>(in[2 * i + 1], sample + kBytes / 2);
  }
}

}  // namespace

template <typename T>
Conversion::Codec Conversion::CodecOf(const Datatype& datatype) {
  if (datatype.complex) {
    return datatype.big_endian ? Codec{&Read<T, true, true>, &Write<T, true, true>}
                               : Codec{&Read<T, true, false>, &Write<T, true, false>};
  }
  return datatype.big_endian ? Codec{&Read<T, false, true>, &Write<T, false, true>}
                             : Codec{&Read<T, false, false>, &Write<T, false, false>};
}

absl::StatusOr<Conversion::Codec> Conversion::CodecFor(const Datatype& datatype) {
  switch (datatype.kind) {
    case Datatype::Kind::kFloat:
      if (datatype.bits == 32) return CodecOf<float>(datatype);
      if (datatype.bits == 64) return CodecOf<double>(datatype);
      break;
    case Datatype::Kind::kInt:
      if (datatype.bits == 8) return CodecOf<int8_t>(datatype);
      if (datatype.bits == 16) return CodecOf<int16_t>(datatype);
      if (datatype.bits == 32) return CodecOf<int32_t>(datatype);
      break;
    case Datatype::Kind::kUint:
      if (datatype.bits == 8) return CodecOf<uint8_t>(datatype);
      if (datatype.bits == 16) return CodecOf<uint16_t>(datatype);
      if (datatype.bits == 32) return CodecOf<uint32_t>(datatype);
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("CodecFor: no conversion of components of ", datatype.bits, " bits"));
}

absl::StatusOr<Conversion> Conversion::Between(const Datatype& from, const Datatype& to) {
  TD_ASSIGN_OR_RETURN(const Codec in, CodecFor(from));
  TD_ASSIGN_OR_RETURN(const Codec out, CodecFor(to));
  Conversion conversion;
  conversion.read_ = in.read;
  conversion.write_ = out.write;
  conversion.bytes_in_ = from.bytes_per_sample();
  conversion.bytes_out_ = to.bytes_per_sample();
  return conversion;
}

void Conversion::Run(std::span<const std::byte> in, std::byte* out) const {
  double numbers[2 * kRun];
  size_t left = in.size() / bytes_in_;
  for (const std::byte* at = in.data(); left > 0;) {
    const size_t samples = std::min(left, kRun);
    read_(at, samples, numbers);
    write_(numbers, samples, out);
    at += samples * bytes_in_;
    out += samples * bytes_out_;
    left -= samples;
  }
}

}  // namespace tapedeck::services::samples

#include "dataplane/crc/crc32c.h"

#include <isa-l/crc.h>

#include <array>

namespace tapedeck::dataplane {
namespace {

// The polynomial 0x1EDC6F41, bits reversed.
constexpr uint32_t kPolynomial = 0x82f63b78;

// A linear operator on CRC states: column i is the image of bit i.
using Matrix = std::array<uint32_t, 32>;

constexpr uint32_t Apply(const Matrix& m, uint32_t v) {
  uint32_t sum = 0;
  for (int i = 0; v != 0; ++i, v >>= 1) {
    if (v & 1) sum ^= m[i];
  }
  return sum;
}

constexpr Matrix Square(const Matrix& m) {
  Matrix out{};
  for (int i = 0; i < 32; ++i) out[i] = Apply(m, m[i]);
  return out;
}

// kShift[k] advances a CRC over 2^k zero bytes.
constexpr std::array<Matrix, 40> MakeShifts() {
  Matrix m{};  // one zero bit
  m[0] = kPolynomial;
  for (int i = 1; i < 32; ++i) m[i] = 1u << (i - 1);
  m = Square(Square(Square(m)));  // 8 zero bits
  std::array<Matrix, 40> shifts{};
  for (Matrix& shift : shifts) {
    shift = m;
    m = Square(m);
  }
  return shifts;
}

constexpr std::array<Matrix, 40> kShift = MakeShifts();

#if defined(__x86_64__)
__attribute__((target("avx"))) void ZeroUpper() { __builtin_ia32_vzeroupper(); }
#endif

}  // namespace

uint32_t Crc32cExtend(uint32_t crc, std::span<const std::byte> bytes) {
  // ISA-L takes int lengths; blocks are at most 8 MiB. Its prototype lacks const but it only reads.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
  crc = ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~crc);
  ClearVectorState();
  return crc;
}

uint32_t Crc32c(std::span<const std::byte> bytes) { return Crc32cExtend(0, bytes); }

uint32_t Crc32cCombine(uint32_t crc_a, uint32_t crc_b, uint64_t b_bytes) {
  for (size_t k = 0; b_bytes != 0 && k < kShift.size(); ++k, b_bytes >>= 1) {
    if (b_bytes & 1) crc_a = Apply(kShift[k], crc_a);
  }
  return crc_a ^ crc_b;
}

void ClearVectorState() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) ZeroUpper();
#endif
}

}  // namespace tapedeck::dataplane

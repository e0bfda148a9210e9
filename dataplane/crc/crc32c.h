// CRC32C (Castagnoli, RFC 3720 appendix B.4): initial value and final XOR are all ones, so
// Crc32c("123456789") is 0xe3069283. Computed by ISA-L (PCLMULQDQ).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tapedeck::dataplane {

uint32_t Crc32c(std::span<const std::byte> bytes);

// Continues `crc`, the CRC of what came before: Crc32cExtend(Crc32c(a), b) == Crc32c(a ‖ b).
uint32_t Crc32cExtend(uint32_t crc, std::span<const std::byte> bytes);

// Crc32c(a ‖ b) from the CRCs of both and the length of b, without touching the bytes; O(log
// b_bytes).
uint32_t Crc32cCombine(uint32_t crc_a, uint32_t crc_b, uint64_t b_bytes);

// Empties the upper parts of the calling thread's widest registers. While something is there each
// instruction of SSE waits for the one before it that wrote the same register, and a thread made by
// this one begins so, too: ISA-L's CRC with AVX-512 leaves it, and made the samples of synth after
// it 2.7 times slower.
void ClearVectorState();

}  // namespace tapedeck::dataplane

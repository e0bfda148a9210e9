#include "storage_node/follow/copy_past_caches.h"

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tapedeck::storage_node::follow {

#if defined(__SSE2__)

void CopyPastCaches(std::span<const std::byte> from, std::span<std::byte> to) {
  constexpr size_t kLine = 64;
  const size_t whole = from.size() / kLine * kLine;
  const auto* source = reinterpret_cast<const __m128i*>(from.data());
  auto* target = reinterpret_cast<__m128i*>(to.data());
  if (reinterpret_cast<uintptr_t>(target) % sizeof(__m128i) != 0) {
    std::memcpy(to.data(), from.data(), from.size());
    return;
  }
  for (size_t i = 0; i < whole / sizeof(__m128i); i += 4) {
    const __m128i a = _mm_loadu_si128(source + i);
    const __m128i b = _mm_loadu_si128(source + i + 1);
    const __m128i c = _mm_loadu_si128(source + i + 2);
    const __m128i d = _mm_loadu_si128(source + i + 3);
    _mm_stream_si128(target + i, a);
    _mm_stream_si128(target + i + 1, b);
    _mm_stream_si128(target + i + 2, c);
    _mm_stream_si128(target + i + 3, d);
  }
  _mm_sfence();  // these stores are not ordered by a lock
  if (whole < from.size()) {
    std::memcpy(to.data() + whole, from.data() + whole, from.size() - whole);
  }
}

#else

void CopyPastCaches(std::span<const std::byte> from, std::span<std::byte> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

#endif

}  // namespace tapedeck::storage_node::follow

// The bytes of one try, taken from the front.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tapedeck::fuzz {

class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(std::as_bytes(std::span(data, size))) {}

  size_t left() const { return rest_.size(); }

  // Zero where there are no more.
  template <typename T>
  T Number() {
    T value = 0;
    const auto bytes = Take(sizeof(T));
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }

  // So many, or all there are.
  std::span<const std::byte> Take(size_t bytes) {
    const auto taken = rest_.first(std::min(bytes, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  // So many, zeros behind what there is.
  std::vector<std::byte> Padded(size_t bytes) {
    std::vector<std::byte> padded(bytes);
    std::ranges::copy(Take(bytes), padded.begin());
    return padded;
  }

  absl::string_view Text() {
    const auto all = Take(rest_.size());
    return {reinterpret_cast<const char*>(all.data()), all.size()};
  }

 private:
  std::span<const std::byte> rest_;
};

// Ends the try where what must hold does not: unlike an assertion it counts in every build.
inline void Require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace tapedeck::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

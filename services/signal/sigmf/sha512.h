// SHA-512, by which SigMF names files. One thread each.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/strings/string_view.h"

namespace tapedeck::services::sigmf {

class Sha512Sum {
 public:
  Sha512Sum();
  ~Sha512Sum();
  void Add(std::span<const std::byte> bytes);
  // Of all that was added, 128 hex digits. Once.
  std::string Hex();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

std::string Sha512(absl::string_view text);

}  // namespace tapedeck::services::sigmf

// Samples of one SigMF type to another, on the CPU. Integers as sample_math.h says; floats keep
// their value, rounded once to the nearest where they become narrower, infinite beyond its range.
// Real samples become complex ones with an imaginary part of 0; of complex ones that become real
// the real part is left.
#pragma once

#include <cstddef>
#include <span>

#include "absl/status/statusor.h"
#include "dataplane/datatype.h"

namespace tapedeck::services::samples {

// Any thread.
class Conversion {
 public:
  // INVALID_ARGUMENT for a size of component that SigMF does not have.
  static absl::StatusOr<Conversion> Between(const dataplane::Datatype& from,
                                            const dataplane::Datatype& to);

  // Converts the whole samples of `in`; `out` has room for as many and lies apart from it.
  void Run(std::span<const std::byte> in, std::byte* out) const;

 private:
  // Between a type's samples and two numbers for each.
  using Reader = void (*)(const std::byte* in, size_t samples, double* out);
  using Writer = void (*)(const double* in, size_t samples, std::byte* out);
  struct Codec {
    Reader read;
    Writer write;
  };
  template <typename T>
  static Codec CodecOf(const dataplane::Datatype& datatype);
  static absl::StatusOr<Codec> CodecFor(const dataplane::Datatype& datatype);

  Reader read_ = nullptr;
  Writer write_ = nullptr;
  size_t bytes_in_ = 0;  // of a sample
  size_t bytes_out_ = 0;
};

}  // namespace tapedeck::services::samples

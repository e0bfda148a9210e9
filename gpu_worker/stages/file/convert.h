// Samples of any SigMF type to cf32_le. Integers are scaled to [-1, 1) as SigMF-Python does:
// signed n to n / 2^(bits-1), unsigned n to (n - 2^(bits-1)) / 2^(bits-1). Floats keep their value.
// Real samples get an imaginary part of 0.
#pragma once

#include <cstddef>
#include <span>

#include "absl/status/statusor.h"
#include "dataplane/datatype.h"

namespace tapedeck::gpu_worker::stages::file {

// Converts in.size() / bytes_per_sample samples to two floats each.
using Converter = void (*)(std::span<const std::byte> in, float* out);

// INVALID_ARGUMENT for a size of component that SigMF does not have.
absl::StatusOr<Converter> ConverterFor(const dataplane::Datatype& datatype);

}  // namespace tapedeck::gpu_worker::stages::file

// Windows that the samples of a transform are multiplied by before it: sums of cosines in their
// periodic form (also called DFT-even),
//   w[n] = sum over k of (-1)^k a[k] cos(2 pi k n / points),   n = 0 .. points - 1,
// with the a[k] of hann, hamming and blackman from F. J. Harris, "On the Use of Windows for
// Harmonic Analysis with the Discrete Fourier Transform", Proceedings of the IEEE 66 (1978), and
// those of flattop from G. D'Antona and A. Ferrero, "Digital Signal Processing for Measurement
// Systems" (2006), as MATLAB and SciPy have them. Nothing is normalised: the mean weight is a[0].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tapedeck::services::samples {

// Every weight is 1.
inline constexpr char kNoWindow[] = "none";

// "none", "hann", ...
std::vector<std::string> WindowNames();

// `window` is one of the names.
std::vector<double> WindowWeights(absl::string_view window, uint32_t points);

}  // namespace tapedeck::services::samples

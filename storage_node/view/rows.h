// The rows of a picture, from the powers of one transform after the other.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "services/model/seams/view.h"

namespace tapedeck::storage_node::view {

// The greater of two powers; a NaN stays.
inline double GreaterPower(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

// Of one thread.
class PowerRows {
 public:
  PowerRows(uint32_t rows, uint32_t columns);

  // A transform of the present row: a power for each column, where full scale is 1.
  void Add(std::span<const double> powers);

  // Ends the rows before this one, each with the greatest power of every column; NaN if nothing was
  // added to it.
  void Begin(uint32_t row);

  // Ends all rows. Sets the powers, the means, and how many transforms there were.
  void Finish(services::Spectrogram* made);

 private:
  const uint32_t rows_;
  const uint32_t columns_;
  uint32_t row_ = 0;
  uint32_t in_row_ = 0;  // transforms
  uint32_t most_in_row_ = 0;
  uint64_t transforms_ = 0;
  std::vector<double> greatest_;  // of the row
  std::vector<double> sums_;      // of all rows
  std::vector<float> decibels_;
};

}  // namespace tapedeck::storage_node::view

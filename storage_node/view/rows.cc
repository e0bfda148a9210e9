#include "storage_node/view/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tapedeck::storage_node::view {
namespace {

constexpr double kLeastDb = -200;
constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

float Decibels(double power) {
  if (std::isnan(power)) return kNone;
  return static_cast<float>(power > 0 ? std::max(10 * std::log10(power), kLeastDb) : kLeastDb);
}

}  // namespace

PowerRows::PowerRows(uint32_t rows, uint32_t columns)
    : rows_(rows), columns_(columns), greatest_(columns), sums_(columns) {
  decibels_.reserve(size_t{rows} * columns);
}

void PowerRows::Add(std::span<const double> powers) {
  for (uint32_t column = 0; column < columns_; ++column) {
    sums_[column] += powers[column];
    greatest_[column] = GreaterPower(greatest_[column], powers[column]);
  }
  ++in_row_;
}

void PowerRows::Begin(uint32_t row) {
  for (; row_ < row; ++row_) {
    for (const double power : greatest_) decibels_.push_back(in_row_ > 0 ? Decibels(power) : kNone);
    most_in_row_ = std::max(most_in_row_, in_row_);
    transforms_ += std::exchange(in_row_, 0);
    std::ranges::fill(greatest_, 0.0);
  }
}

void PowerRows::Finish(services::Spectrogram* made) {
  Begin(rows_);
  for (const double sum : sums_) {
    const auto transforms = static_cast<double>(transforms_);
    made->means.push_back(transforms_ > 0 ? Decibels(sum / transforms) : kNone);
  }
  made->powers = std::move(decibels_);
  made->transforms_per_row = most_in_row_;
  made->transforms = transforms_;
}

}  // namespace tapedeck::storage_node::view

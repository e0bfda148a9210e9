#include "tests/sim/luns/rails.h"

namespace tapedeck::sim {

void Rails::Send() {
  while (sent_ < blocks_ && sent_ < arrived_.mark() + window_) {
    const uint64_t slower = 1 - ahead_;
    rails_[random_() % 16 == 0 ? slower : ahead_].push_back(sent_++);
  }
}

std::optional<uint64_t> Rails::Next() {
  Send();
  if (random_() % 48 == 0) ahead_ = 1 - ahead_;
  auto& faster = rails_[ahead_];
  auto& rail = faster.empty() || random_() % 24 == 0 ? rails_[1 - ahead_] : faster;
  auto& from = rail.empty() ? faster : rail;
  if (from.empty()) return std::nullopt;
  const uint64_t sequence = from.front();
  from.pop_front();
  if (!arrived_.Has(sequence) && random_() % 10 == 0) rails_[random_() % 2].push_back(sequence);
  arrived_.Add(sequence);
  return sequence;
}

}  // namespace tapedeck::sim

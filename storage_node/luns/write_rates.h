// The recent write rates of LUNs, from which the node tells when they will be full.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "storage_node/luns/luns.h"

namespace tapedeck::storage_node::luns {

// Over so much time, or as long as there are two looks: shorter would follow every pause.
inline constexpr int64_t kRateWindowNs = 60 * dataplane::kSecondNs;

// One thread. Owned by the node.
class WriteRates {
 public:
  explicit WriteRates(Luns& luns) : luns_(luns) {}

  // One round, every second or so: sets the rate in each LUN's meter.
  void Look() {
    std::map<std::shared_ptr<recording::LunMeter>, Looks> now;
    for (const auto& [id, lun] : luns_.All()) {
      Looks& looks = now[lun->meter] = std::move(looks_[lun->meter]);
      looks.emplace_back(luns_.clock().NowNs(), lun->meter->written_bytes);
      const auto [last_ns, last_bytes] = looks.back();
      while (looks.size() > 2 && last_ns - looks[1].first >= kRateWindowNs) looks.pop_front();
      const int64_t ns = last_ns - looks.front().first;
      const auto bytes = static_cast<double>(last_bytes - looks.front().second);
      lun->meter->bytes_per_s = ns > 0 ? bytes * 1e9 / static_cast<double>(ns) : 0;
    }
    looks_ = std::move(now);
  }

 private:
  using Looks = std::deque<std::pair<int64_t, uint64_t>>;  // when, and the bytes written by then

  Luns& luns_;
  std::map<std::shared_ptr<recording::LunMeter>, Looks> looks_;
};

}  // namespace tapedeck::storage_node::luns

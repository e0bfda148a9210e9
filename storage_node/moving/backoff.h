// When what failed is tried again: after 10 s, and twice as long each time, 10 minutes at most. One
// thread. Times are of the steady clock.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tapedeck::storage_node::moving {

inline constexpr absl::Duration kFirstDelay = absl::Seconds(10);
inline constexpr absl::Duration kLongestDelay = absl::Minutes(10);

// Names are of channels and recordings.
class Backoff {
 public:
  // Whether it is too early at `now_ns`.
  bool Holds(const std::string& name, int64_t now_ns) const;
  bool Has(const std::string& name) const { return waits_.contains(name); }
  // Returns how long it is left alone.
  absl::Duration Failed(const std::string& name, int64_t now_ns);
  void Ended(const std::string& name) { waits_.erase(name); }
  // Of the names that begin with `prefix` forgets all but those.
  void KeepOnly(absl::string_view prefix, const std::set<std::string>& names);
  size_t size() const { return waits_.size(); }

 private:
  struct Wait {
    int64_t until_ns = 0;
    absl::Duration delay;
  };
  std::map<std::string, Wait> waits_;
};

}  // namespace tapedeck::storage_node::moving

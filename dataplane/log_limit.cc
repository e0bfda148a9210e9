#include "dataplane/log_limit.h"

#include <iterator>

namespace tapedeck::dataplane {

bool LogLimit::Admit(absl::string_view component, absl::string_view message, int64_t now_ns) {
  auto entry = components_.find(component);
  if (entry == components_.end())
    entry = components_.emplace(std::string(component), Component()).first;
  Component& messages = entry->second;
  auto window = messages.find(message);
  if (window == messages.end()) {
    const absl::string_view name = messages.size() < kMessages ? message : absl::string_view();
    window = messages.try_emplace(std::string(name), Window{.begin_ns = now_ns}).first;
  }
  return ++window->second.lines <= kLines;
}

std::vector<LogLimit::LeftOut> LogLimit::TakeLeftOut(int64_t now_ns) {
  std::vector<LeftOut> left_out;
  // Often enough: a window that is over longer admits no more and no less.
  if (now_ns - swept_ns_ < kWindowNs / 10) return left_out;
  swept_ns_ = now_ns;
  for (auto component = components_.begin(); component != components_.end();) {
    Component& messages = component->second;
    for (auto it = messages.begin(); it != messages.end();) {
      const Window& window = it->second;
      if (now_ns - window.begin_ns < kWindowNs) {
        ++it;
        continue;
      }
      if (window.lines > kLines) {
        left_out.push_back({component->first, it->first, window.lines - kLines});
      }
      it = messages.erase(it);
    }
    component = messages.empty() ? components_.erase(component) : std::next(component);
  }
  return left_out;
}

}  // namespace tapedeck::dataplane

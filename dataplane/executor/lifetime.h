// A callback that outlives its object must become a no-op. An executor-bound object keeps a
// Lifetime as its last member and guards what it posts; guarded calls run on that same executor, so
// "alive when checked" means "alive while called".
#pragma once

#include <memory>
#include <utility>

namespace tapedeck::dataplane {

class Lifetime {
 public:
  Lifetime() : token_(std::make_shared<char>()) {}
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;

  // Returns a callable that does nothing once this Lifetime is gone.
  template <typename F>
  auto Guard(F f) const {
    return [alive = std::weak_ptr<char>(token_), f = std::move(f)](auto&&... args) mutable {
      if (!alive.expired()) f(std::forward<decltype(args)>(args)...);
    };
  }

  // For a task made on another thread: it must check expired() on the object's own executor.
  std::weak_ptr<char> token() const { return token_; }

 private:
  std::shared_ptr<char> token_;
};

}  // namespace tapedeck::dataplane

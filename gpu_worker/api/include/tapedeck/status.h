// How calls end. C++17, for nvcc as well.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace tapedeck {

// OK, or a reason for programs and a text for people, which says what failed and what helps.
class Status {
 public:
  Status() = default;
  Status(std::string reason, std::string text)
      : reason_(std::move(reason)), text_(std::move(text)) {}

  bool ok() const { return reason_.empty(); }
  // A name of ErrorReason in tapedeck/v1/errors.proto, such as "LUN_FULL"; where the error has
  // none, the name of its code, such as "DEADLINE_EXCEEDED". Empty: OK.
  const std::string& reason() const { return reason_; }
  const std::string& text() const { return text_; }
  // "REASON: text", or "OK".
  std::string ToString() const { return ok() ? "OK" : reason_ + ": " + text_; }

 private:
  std::string reason_;
  std::string text_;
};

// A value, or why there is none.
template <typename T>
class Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: so that a T can be returned
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: so that a Status can
  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  // Only if ok().
  T& operator*() {
    assert(ok());
    return *value_;
  }
  const T& operator*() const {
    assert(ok());
    return *value_;
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace tapedeck

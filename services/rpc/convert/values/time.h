// Times and durations: nanoseconds on our side, google.protobuf types on the wire.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <cstdint>

namespace tapedeck::services::convert {

inline constexpr int64_t kNanosPerSecond = 1'000'000'000;

inline google::protobuf::Timestamp ToTimestamp(int64_t ns) {
  int64_t seconds = ns / kNanosPerSecond;
  int64_t nanos = ns % kNanosPerSecond;
  if (nanos < 0) {  // a Timestamp counts them forward
    nanos += kNanosPerSecond;
    --seconds;
  }
  google::protobuf::Timestamp out;
  out.set_seconds(seconds);
  out.set_nanos(static_cast<int32_t>(nanos));
  return out;
}

// Clamped to the years 1678 to 2262, which int64_t nanoseconds hold.
inline int64_t FromTimestamp(const google::protobuf::Timestamp& time) {
  constexpr int64_t kMaxSeconds = INT64_MAX / kNanosPerSecond - 1;
  if (time.seconds() > kMaxSeconds) return INT64_MAX;
  if (time.seconds() < -kMaxSeconds) return INT64_MIN;
  return time.seconds() * kNanosPerSecond + time.nanos();
}

inline google::protobuf::Duration ToDuration(int64_t ns) {
  google::protobuf::Duration out;
  out.set_seconds(ns / kNanosPerSecond);
  out.set_nanos(static_cast<int32_t>(ns % kNanosPerSecond));
  return out;
}

// Clamped to about 292 years, which int64_t nanoseconds hold.
inline int64_t FromDuration(const google::protobuf::Duration& duration) {
  constexpr int64_t kMaxSeconds = INT64_MAX / kNanosPerSecond - 1;
  if (duration.seconds() > kMaxSeconds) return INT64_MAX;
  if (duration.seconds() < -kMaxSeconds) return INT64_MIN;
  return duration.seconds() * kNanosPerSecond + duration.nanos();
}

}  // namespace tapedeck::services::convert

// core:datetime. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tapedeck::services::sigmf {

struct Datetime {
  int64_t time_ns = 0;   // since 1970, UTC
  int64_t grain_ns = 0;  // of its last digit
  bool zoned = false;    // it says its zone; else it is taken as UTC
  bool leap = false;     // in a leap second, which is taken as the second behind it
};

// None: it is no time, or one beyond the years 1823 to 2116.
std::optional<Datetime> ParseDatetime(std::string text);

}  // namespace tapedeck::services::sigmf

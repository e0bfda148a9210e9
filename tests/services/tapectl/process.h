// Runs tapectl as a process of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tapedeck::services::tapectl {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// `meanwhile` is called once it runs; with a `signal` the process gets that afterwards.
Outcome RunTapectl(const std::vector<std::string>& arguments,
                   const std::function<void()>& meanwhile = nullptr, int signal = 0);

}  // namespace tapedeck::services::tapectl

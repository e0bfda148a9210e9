// Runs tapectl as a process of its own.
#pragma once

#include <signal.h>

#include <string>
#include <vector>

namespace tapedeck::services::tapectl {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// With `interrupt_ms` the process gets `signal` after that time.
Outcome RunTapectl(const std::vector<std::string>& arguments, int interrupt_ms = 0,
                   int signal = SIGINT);

}  // namespace tapedeck::services::tapectl

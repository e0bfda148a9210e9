// How far a virtual machine's clock is from the host's: a page of memory that both see, in which
// the machine asks and a program on the host answers with its time. What lies between asking and
// having the answer bounds the error.
#pragma once

#include <cstdint>
#include <string>

namespace tapedeck::lab {

// One of each machine, in that page.
inline constexpr int kMailboxes = 8;

struct Distance {
  int64_t at_ns = 0;           // by the machine's clock
  int64_t ahead_ns = 0;        // the machine's less the host's
  int64_t uncertainty_ns = 0;  // it is off by no more
};

// On the host: answers until the process is ended, with its UTC of the first answer and what its
// oscillator has counted since: nobody sets or slews that. Exits with 1 if the file is none of a
// page.
[[noreturn]] void Answer(const std::string& file);

// In a machine: by the quickest of many answers, for up to 20 s until one is quick. Exits with 1
// where nobody answers for 20 s.
Distance Ask(int mailbox);

}  // namespace tapedeck::lab

// Clocks of virtual machines against that of their host.
//   tapedeck-lab-clocks answer FILE          on the host, until it is ended: the memory of vm.sh
//   --shared-memory tapedeck-lab-clocks ask N                in machine N: {"at_ns", "ahead_ns",
//   "uncertainty_ns"} of its clock tapedeck-lab-clocks steer NS PPM [US]    in a machine: steps its
//   clock, sets its rate, and tells the kernel that
//                                            it is off by so many microseconds at most; without
//                                            them, that nobody keeps it
//   tapedeck-lab-clocks hold US              in a machine: tells it so again and again, until it is
//   ended
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/lab/clocks/mailbox.h"
#include "tests/lab/clocks/steer.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "answer") tapedeck::lab::Answer(words[1]);
  if (words.size() == 2 && words[0] == "ask") {
    const int mailbox = std::atoi(words[1].c_str());
    if (mailbox < 0 || mailbox >= tapedeck::lab::kMailboxes) return 2;
    const tapedeck::lab::Distance distance = tapedeck::lab::Ask(mailbox);
    std::printf("{\"at_ns\": %lld, \"ahead_ns\": %lld, \"uncertainty_ns\": %lld}\n",
                static_cast<long long>(distance.at_ns), static_cast<long long>(distance.ahead_ns),
                static_cast<long long>(distance.uncertainty_ns));
    return 0;
  }
  if (words.size() == 2 && words[0] == "hold") tapedeck::lab::Hold(std::atoll(words[1].c_str()));
  if (words.size() >= 3 && words.size() <= 4 && words[0] == "steer") {
    tapedeck::lab::Steering steering{.step_ns = std::atoll(words[1].c_str()),
                                     .ppm = std::atof(words[2].c_str()),
                                     .most_error_us = std::nullopt};
    if (words.size() == 4) steering.most_error_us = std::atoll(words[3].c_str());
    tapedeck::lab::Steer(steering);
    return 0;
  }
  std::fputs("tapedeck-lab-clocks answer FILE | ask N | steer NS PPM [US] | hold US\n", stderr);
  return 2;
}

// The commands and options that tapectl has, by the manual that it writes itself.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tapedeck::services::tapectl {

using OptionsByCommand = std::map<std::string, std::set<std::string>>;

// All commands with their options; under "" those that all take. Runs the program, once.
const OptionsByCommand& ProgramsOwn();

// The command that the words after "tapectl" begin with; empty: none.
std::string CommandIn(const std::vector<std::string>& words, size_t at);

}  // namespace tapedeck::services::tapectl

// The names that a value on the line may be, asked of the nodes while the line is typed.
#pragma once

#include <string>
#include <vector>

#include "services/base/command_line/completion.h"
#include "services/tapectl/program/program.h"

namespace tapedeck::services::tapectl {

using Words = std::vector<command_line::Completion::Word>;

// What a shell is told of a value that is a path on this machine. The word's help is what stands
// before the path: "--to=", "file:".
inline constexpr char kFiles[] = ":files";

// Asks for a second at most; of a node that does not answer there are none, without a word. Those
// that begin otherwise than what was typed are left out.
Words ValueNames(Program& program, const command_line::Completion& completion);

}  // namespace tapedeck::services::tapectl

// How much room a text takes on a terminal. Any thread.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace tapedeck::services::command_line {

// Columns of a line in UTF-8: two of a wide character, none of a combining one. A byte that is no
// UTF-8 counts as one.
int ColumnsOf(absl::string_view text);

// What of the line fits so many columns, in whole characters.
std::string CutTo(absl::string_view line, int columns);

}  // namespace tapedeck::services::command_line

// What a user says of a file that comes in.
#pragma once

#include "services/formats/io/reader.h"
#include "services/tapectl/program/commands.h"

namespace tapedeck::services::tapectl {

// Of what a file does not say, or says wrongly, and of which part of it is meant.
void AddReadOptions(const Command& command, formats::ReadOptions& read);

}  // namespace tapedeck::services::tapectl

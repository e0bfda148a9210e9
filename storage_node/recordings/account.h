// What the members say of the recordings that a LUN's account knows by the catalog's rows alone.
#pragma once

#include <cstddef>
#include <string>

#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::recordings {

// A step of what is read beside all else, so that a start with many recordings disturbs nobody.
inline constexpr size_t kAccountStep = 64;

// Reads the manifests of at most `most` closed recordings that are in the account as their rows
// have them, and corrects the account and the rows. A manifest that all members have lost is
// written from the row if the index says whose it is, and the log names the recording. What cannot
// be read stays in the account and is not sure. Any thread; waits for the disk.
void ReadAccount(Recordings& recordings, luns::OpenLun& lun, size_t most);

}  // namespace tapedeck::storage_node::recordings

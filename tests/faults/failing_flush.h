// Sees the flushes of the program it is linked into, and makes one of a directory fail.
#pragma once

#include <sys/types.h>

#include <set>

namespace tapedeck::faults {

// The `which`-th flush of a directory from now on fails with EIO, 1 being the next; 0: none.
void FailDirectoryFlush(int which);

// The inodes of the directories that have been flushed since they were forgotten.
std::set<ino_t> FlushedDirectories();
void ForgetFlushedDirectories();

}  // namespace tapedeck::faults

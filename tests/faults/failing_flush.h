// Sees the flushes of the program it is linked into, and makes one of a directory fail.
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>

namespace tapedeck::faults {

// The `which`-th flush of a directory from now on fails with EIO, 1 being the next; 0: none.
void FailDirectoryFlush(int which);

// The inodes of the directories that have been flushed since they were forgotten.
std::set<ino_t> FlushedDirectories();
void ForgetFlushedDirectories();

// From now on what a file of at most 1 MiB holds when it is flushed is kept, until the next call.
void KeepFlushedBytes();

// What the file with this inode held when it was last flushed; none if it was not, or if it
// held more then.
std::optional<std::string> FlushedBytes(ino_t inode);

}  // namespace tapedeck::faults

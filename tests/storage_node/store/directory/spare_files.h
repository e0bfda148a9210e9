// The spare files of a member, told apart by their inodes.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>

namespace tapedeck::storage_node {

inline ino_t InodeOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_ino;
}

// Those of the whole spares of a member, but for what goes while it is looked at.
inline std::set<ino_t> SparesOf(const std::string& member) {
  std::set<ino_t> inodes;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(member + "/.tapedeck/spares", error)) {
    struct stat status = {};
    const bool whole = entry.path().extension().empty();
    if (whole && stat(entry.path().c_str(), &status) == 0) inodes.insert(status.st_ino);
  }
  return inodes;
}

}  // namespace tapedeck::storage_node

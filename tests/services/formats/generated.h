// Inputs that a Python script of this folder writes.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/shared_data.h"

namespace tapedeck::services::formats {

// Into a folder, which is made and which the caller removes. To be called within a test's
// ASSERT_NO_FATAL_FAILURE, or as the last of a set-up.
inline void Generate(const std::string& script, const std::string& folder) {
  std::filesystem::create_directories(folder);
  const std::string command =
      "/usr/bin/python3 " + TreeFile("tests/services/formats/" + script) + " " + folder;
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

}  // namespace tapedeck::services::formats

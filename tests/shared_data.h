// Files that tests read: of this tree, and real signals and descriptions of real servers, where the
// folder with them exists.
#pragma once

#include <string>

namespace tapedeck {

// The path of a file of this tree, such as "services/README.md".
std::string TreeFile(const std::string& name);

// The path of a shared file, or empty. Looked for in TAPEDECK_SHARED_DATA, else in ../shared/data
// beside the repository.
std::string SharedData(const std::string& name);

}  // namespace tapedeck

#define TAPEDECK_SHARED_OR_SKIP(variable, name)                         \
  const std::string variable = tapedeck::SharedData(name);              \
  if (variable.empty())                                                 \
  GTEST_SKIP() << name << " is neither in TAPEDECK_SHARED_DATA nor in " \
               << "../shared/data beside the repository"

// Files for tests: a scratch folder, and the real signals of the shared folder where it exists.
#pragma once

#include <string>

namespace tapedeck::gpu_worker {

// A path of its own for this test process; nothing is there yet.
std::string ScratchPath(const std::string& name);

void WriteFile(const std::string& path, const std::string& bytes);
// Empty if it does not exist.
std::string ReadFile(const std::string& path);

// The path of a shared signal, or empty. Looked for in TAPEDECK_SHARED_DATA, else beside the
// repository.
std::string SharedData(const std::string& name);

}  // namespace tapedeck::gpu_worker

#define TAPEDECK_SHARED_OR_SKIP(variable, name)                         \
  const std::string variable = tapedeck::gpu_worker::SharedData(name);  \
  if (variable.empty())                                                 \
  GTEST_SKIP() << name << " is neither in TAPEDECK_SHARED_DATA nor in " \
               << "../shared/data beside the repository"

// Files for tests, in a scratch folder.
#pragma once

#include <string>

namespace tapedeck {

// A path of its own for this test process; nothing is there yet.
std::string ScratchPath(const std::string& name);

void WriteFile(const std::string& path, const std::string& bytes);
// Empty if it does not exist.
std::string ReadFile(const std::string& path);

}  // namespace tapedeck

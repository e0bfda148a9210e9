// The settings of both daemons, parsed in this process.
#pragma once

#include <string>
#include <vector>

#include "services/model/seams/node.h"

namespace tapedeck::services::config {

struct Outcome {
  bool starts = false;
  int status = 0;  // of the process, if it does not start
  std::string out;
  std::string err;
};

// What the arguments name need not be there, unless it is looked at.
enum class Named { kIgnored, kLookedAt };
Outcome ParseAs(NodeRole node, std::vector<std::string> arguments, Named named = Named::kIgnored);

// A file of this process with the text; gone with it.
class TextFile {
 public:
  explicit TextFile(const std::string& text);
  ~TextFile();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Example {
  NodeRole node;
  std::string path;
  std::string text;
};

// Those of deploy/examples.
std::vector<Example> Examples();

}  // namespace tapedeck::services::config

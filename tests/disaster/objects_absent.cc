// Without librados.
#include <stdexcept>

#include "tests/disaster/world.h"

namespace tapedeck::disaster {

Image LoadObjects(const std::string& member) { throw std::runtime_error(member); }
void SaveObjects(const Image& /*objects*/, const std::string& member) {
  throw std::runtime_error(member);
}

}  // namespace tapedeck::disaster

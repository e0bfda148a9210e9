#include "tests/disaster/world.h"

#include <utility>

namespace tapedeck::disaster {
namespace {

constexpr std::string_view kObjects = "m0/";

}  // namespace

std::vector<Shape> Shapes() {
  return {{"posix_1", "posix", 1, 1},      {"posix_2", "posix", 2, 1},
          {"posix_mirror", "posix", 2, 2}, {"direct_1", "direct", 1, 1},
          {"direct_3", "direct", 3, 1},    {"direct_mirror", "direct", 2, 2},
          {"device_1", "device", 1, 1},    {"device_2", "device", 2, 1}};
}

Shape RadosShape() { return {"rados_1", "rados", 1, 1}; }

std::string MemberName(const Shape& shape, const std::string& world, uint32_t number) {
  if (!shape.on_objects()) return world + "/m" + std::to_string(number);
  // The folder above has a name that nobody else has.
  const std::string above = world.substr(0, world.rfind('/'));
  return "rados:tape/" + above.substr(above.rfind('/') + 1);
}

Image LoadWorld(const Shape& shape, const std::string& world) {
  Image image = LoadImage(world);
  if (!shape.on_objects()) return image;
  for (auto& [name, node] : LoadObjects(MemberName(shape, world, 0))) {
    image[std::string(kObjects) + name] = std::move(node);
  }
  return image;
}

void SaveWorld(const Shape& shape, const Image& image, const std::string& world) {
  if (!shape.on_objects()) return SaveImage(image, world);
  Image files, objects;
  for (const auto& [name, node] : image) {
    const bool object = name.starts_with(kObjects);
    (object ? objects : files)[object ? name.substr(kObjects.size()) : name] = node;
  }
  SaveImage(files, world);
  SaveObjects(objects, MemberName(shape, world, 0));
}

}  // namespace tapedeck::disaster

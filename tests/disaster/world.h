// Where a LUN and its node lie: the node's STATE and members that are folders or devices below one
// folder, and objects of a Ceph cluster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/disaster/image.h"

namespace tapedeck::disaster {

struct Shape {
  std::string name;
  std::string store;
  uint32_t members = 1;
  uint32_t copies = 1;

  bool mirrored() const { return copies > 1; }
  bool on_devices() const { return store == "device"; }
  bool on_objects() const { return store == "rados"; }
};

// On this machine's files.
std::vector<Shape> Shapes();
// On the cluster that there is.
Shape RadosShape();

// As a LUN's configuration has it.
std::string MemberName(const Shape& shape, const std::string& world, uint32_t number);

// An object is a file m0/NAME; each of its attributes is one beside it, m0/NAME@KEY, and each of
// its rows, m0/NAME#KEY.
Image LoadWorld(const Shape& shape, const std::string& world);
// What was there goes.
void SaveWorld(const Shape& shape, const Image& image, const std::string& world);

// Of the namespace of such a member, without m0/. These throw where the cluster refuses; without
// librados they throw always.
Image LoadObjects(const std::string& member);
void SaveObjects(const Image& objects, const std::string& member);

}  // namespace tapedeck::disaster

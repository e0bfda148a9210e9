#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "storage_node/store/rados/cluster.h"
#include "tests/disaster/world.h"

namespace tapedeck::disaster {
namespace {

using storage_node::store::rados::Cluster;

constexpr size_t kMost = 64 << 20;
constexpr uint64_t kRows = 10'000;

std::unique_ptr<Cluster> Connect(const std::string& member) {
  auto cluster = Cluster::Connect(member);
  if (!cluster.ok()) throw std::runtime_error(cluster.status().ToString());
  return *std::move(cluster);
}

void Check(int result, const std::string& what) {
  if (result < 0) throw std::runtime_error(what + ": " + std::to_string(result));
}

Node NodeOf(librados::bufferlist& bytes) {
  Node node{.kind = Node::Kind::kFile, .bytes = {}, .target = {}};
  node.bytes.Write(0, bytes.to_str());
  return node;
}

}  // namespace

Image LoadObjects(const std::string& member) {
  const auto cluster = Connect(member);
  librados::IoCtx& pool = cluster->objects();
  Image image;
  for (auto it = pool.nobjects_begin(); it != pool.nobjects_end(); ++it) {
    const std::string name = it->get_oid();
    librados::bufferlist bytes;
    Check(pool.read(name, bytes, kMost, 0), "read " + name);
    image[name] = NodeOf(bytes);
    std::map<std::string, librados::bufferlist> values;
    Check(pool.getxattrs(name, values), "getxattrs " + name);
    for (auto& [key, value] : values) {
      if (key.starts_with("tapedeck.")) image[name + "@" + key] = NodeOf(value);  // not the lock
    }
    values.clear();
    Check(pool.omap_get_vals(name, "", kRows, &values), "omap_get_vals " + name);
    for (auto& [key, value] : values) image[name + "#" + key] = NodeOf(value);
  }
  return image;
}

void SaveObjects(const Image& objects, const std::string& member) {
  const auto cluster = Connect(member);
  librados::IoCtx& pool = cluster->objects();
  std::set<std::string> there;
  for (auto it = pool.nobjects_begin(); it != pool.nobjects_end(); ++it)
    there.insert(it->get_oid());
  for (const std::string& name : there) Check(pool.remove(name), "remove " + name);
  for (const auto& [name, node] : objects) {
    librados::bufferlist bytes;
    bytes.append(node.bytes.All());
    const size_t key = name.find_first_of("@#");
    if (key == name.npos) {
      Check(pool.write_full(name, bytes), "write " + name);
    } else if (objects.contains(name.substr(0, key)) && name[key] == '@') {
      Check(pool.setxattr(name.substr(0, key), name.substr(key + 1).c_str(), bytes), name);
    } else if (objects.contains(name.substr(0, key))) {
      Check(pool.omap_set(name.substr(0, key), {{name.substr(key + 1), bytes}}), name);
    }
  }
}

}  // namespace tapedeck::disaster

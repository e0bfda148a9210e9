// A machine made of files, with the rails that a test gives it.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "services/observe/doctor/checks.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::services::doctor {

class FakeMachine {
 public:
  FakeMachine() {
    scene_.root = dir_.path();
    scene_.interface_of = [this](const std::string& address) { return interfaces_[address]; };
  }

  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = dir_.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text << "\n";
  }

  // A rail over TCP, with an interface that is up.
  void AddTcpRail(const std::string& name, const std::string& address, const std::string& mtu) {
    interfaces_[address] = name + "if";
    scene_.rails.push_back({.rail = {.name = name, .transport = "tcp", .address = address}});
    Write("/sys/class/net/" + name + "if/operstate", "up");
    Write("/sys/class/net/" + name + "if/mtu", mtu);
    Write("/sys/class/net/" + name + "if/speed", "25000");
  }

  // A rail over a RoCE port of 25 Gb/s that is up and has the GID of 10.0.0.1.
  void AddRoceRail(const std::string& name, const std::string& mtu) {
    scene_.rails.push_back(
        {.rail = {
             .name = name, .transport = "verbs", .address = "10.0.0.1", .device = "mlx5_0/1"}});
    const std::string port = "/sys/class/infiniband/mlx5_0/ports/1";
    Write(port + "/state", "4: ACTIVE");
    Write(port + "/rate", "25 Gb/sec (1X EDR)");
    Write(port + "/gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001");
    Write(port + "/gid_attrs/types/0", "RoCE v2");
    Write(port + "/gids/1", "0000:0000:0000:0000:0000:ffff:0a00:0001");
    Write(port + "/gid_attrs/types/1", "RoCE v2");
    Write(port + "/gid_attrs/ndevs/0", "ens1");
    Write("/sys/class/net/ens1/mtu", mtu);
  }

  template <typename MachineCheck>
  Findings Look(MachineCheck check) const {
    Findings findings;
    check(scene_, Request(), findings);
    return findings;
  }

  Scene& scene() { return scene_; }
  void MoveAddress(const std::string& address) { interfaces_.erase(address); }

 private:
  storage_node::TempDir dir_;
  std::map<std::string, std::string> interfaces_;
  Scene scene_;
};

}  // namespace tapedeck::services::doctor

// What others may have on a member: files, folders, links, sockets and FIFOs, named like
// Tapedeck's own. A tree knows what it has put there, and what of it is there still.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/scratch_file.h"

namespace tapedeck::storage_node {

class ForeignTree {
 public:
  // `outside` is a folder that links lead to.
  ForeignTree(std::string root, std::string outside)
      : root_(std::move(root)), outside_(std::move(outside)) {
    paths_.push_back(outside_);
  }

  const std::string& outside() const { return outside_; }

  void File(const std::string& path, const std::string& text) {
    Parents(path);
    std::ofstream(Of(path), std::ios::binary) << text;
  }
  void Copy(const std::string& from, const std::string& path) {
    Parents(path);
    std::filesystem::copy_file(from, Of(path));
  }
  void Folder(const std::string& path) {
    Parents(path);
    std::filesystem::create_directory(Of(path));
  }
  // To a file or folder outside, which it makes.
  void LinkToFile(const std::string& path, const std::string& text) {
    const std::string target = outside_ + "/" + std::to_string(paths_.size()) + "-file";
    std::ofstream(target) << text;
    Link(path, target);
  }
  void LinkToFolder(const std::string& path) {
    const std::string target = outside_ + "/" + std::to_string(paths_.size()) + "-folder";
    for (const char* below : {"", "/20261122T065058Z-a537"}) {
      std::filesystem::create_directory(target + below);
      for (const char* name : {"data", "index", "manifest.json", "channel.json", "results.csv"}) {
        std::ofstream(target + below + "/" + name) << "of somebody else: " << path << name;
      }
    }
    Link(path, target);
  }
  void Fifo(const std::string& path) {
    Parents(path);
    EXPECT_EQ(mkfifo(Of(path).c_str(), 0600), 0) << path;
  }
  // The path of a socket must be short: it is made elsewhere.
  void Socket(const std::string& path) {
    Parents(path);
    const std::string made = "/tmp/td-" + std::to_string(getpid());
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    made.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    close(fd);
    EXPECT_EQ(rename(made.c_str(), Of(path).c_str()), 0) << path;
  }

  // All of it as it is now: kinds, modes, contents, targets of links.
  std::map<std::string, std::string> Print() const {
    std::map<std::string, std::string> print;
    for (const std::string& path : paths_) PrintOne(path, &print);
    return print;
  }

 private:
  std::string Of(const std::string& path) const { return root_ + "/" + path; }
  // What of them is not there yet is the tree's.
  void Parents(const std::string& path) {
    std::filesystem::path at = root_;
    for (const auto& part : std::filesystem::path(path)) {
      at /= part;
      if (std::filesystem::exists(std::filesystem::symlink_status(at))) continue;
      paths_.push_back(at.string());
      break;
    }
    std::filesystem::create_directories(std::filesystem::path(Of(path)).parent_path());
  }
  void Link(const std::string& path, const std::string& target) {
    Parents(path);
    std::filesystem::create_symlink(target, Of(path));
  }
  static void PrintOne(const std::string& path, std::map<std::string, std::string>* print) {
    struct stat status = {};
    if (lstat(path.c_str(), &status) != 0) {
      (*print)[path] = "gone";
      return;
    }
    std::string& line = (*print)[path];
    line = std::to_string(status.st_mode) + " ";
    if (S_ISLNK(status.st_mode)) line += std::filesystem::read_symlink(path).string();
    if (S_ISREG(status.st_mode)) line.append(ReadFile(path));
    if (!S_ISDIR(status.st_mode)) return;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      PrintOne(entry.path().string(), print);
    }
  }

  const std::string root_;
  const std::string outside_;
  std::vector<std::string> paths_;  // the topmost of each
};

}  // namespace tapedeck::storage_node

// A sealed recording on two members that are directories, and its two copies of index and manifest.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/scratch_file.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {

inline std::string TextOf(const std::string& path) { return ReadFile(path); }

class CopiesTest : public testing::TestWithParam<std::string> {
 protected:
  static constexpr uint64_t kBlocks = 300;  // more than are compared at a time
  static constexpr uint64_t kFast = uint64_t{1} << 40;

  CopiesTest() : name_(node_.RecordAndSeal(kBlocks)) {}

  std::string Path(const std::string& file, int copy) const {
    return node_.Directory(name_, copy) + "/" + file;
  }
  // Both copies, as they are now.
  std::vector<std::string> Read(const std::string& file) const {
    return {TextOf(Path(file, 0)), TextOf(Path(file, 1))};
  }
  // With the node stopped, so that no cache has what is on the disk.
  template <typename Act>
  void Stopped(const Act& act) {
    node_.Stop();
    act();
    node_.Start();
  }
  // For the node's next start: what it knows then is what the members hold.
  void ForgetCatalog() const {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::remove(node_.state_dir() + "/catalog.sqlite" + suffix);
    }
  }
  services::Scrub RunScrub() {
    const auto started = node_.node().scrubs().StartScrub(
        {.parent = "luns/l", .rate_bytes_per_s = kFast, .restart = true});
    EXPECT_TRUE(started.ok()) << started.status();
    services::Scrub scrub = node_.EndScrub("luns/l");
    EXPECT_EQ(scrub.state, services::ScrubState::kDone) << scrub.cause;
    return scrub;
  }
  void ExpectPlays(uint64_t blocks = kBlocks) {
    const auto headers = node_.PlayAll(name_);
    EXPECT_EQ(headers.size(), blocks);
    for (const auto& header : headers) EXPECT_EQ(header.flags, 0u) << header.sequence;
  }

  NodeFixture node_{GetParam(), 2};
  std::string name_;
};

inline std::string NameOfStore(const testing::TestParamInfo<std::string>& store) {
  return store.param == "posix" ? "Posix" : "Direct";
}

}  // namespace tapedeck::storage_node

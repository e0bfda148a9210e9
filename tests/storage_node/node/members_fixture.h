// A LUN that gets more members, of any kind that has some.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {

inline constexpr char kGrownLun[] = "luns/l";

// The parameter: the kind of store.
class MembersFixture : public testing::TestWithParam<std::string> {
 protected:
  static constexpr uint64_t kImageBytes = 64 << 20;

  // One that has its members' size, if that is known.
  explicit MembersFixture(int members = 1) : node_(GetParam(), members, 0, kImageBytes) {}

  // Where member `m` of the LUN is, or is to be.
  std::string member(int m) const { return node_.dir().path() + "/m" + std::to_string(m); }
  std::vector<std::string> Members(int count) const {
    std::vector<std::string> members;
    for (int m = 0; m < count; ++m) members.push_back(member(m));
    return members;
  }
  // What a member can be made of.
  std::string MakeEmpty(const std::string& name) const {
    return GetParam() == "device" ? node_.dir().MakeImage(name, kImageBytes)
                                  : node_.dir().Make(name);
  }
  void MakeEmpty(int m) const { MakeEmpty("m" + std::to_string(m)); }
  // Nothing of ours, nor of anybody else.
  bool IsEmpty(const std::string& path) const {
    if (GetParam() != "device") return std::filesystem::is_empty(path);
    const std::string text = TextOf(path);
    return std::ranges::all_of(text, [](char c) { return c == 0; });
  }

  absl::StatusOr<services::Lun> SetMembers(std::vector<std::string> members) {
    return node_.node().luns().UpdateLun(
        services::LunUpdate{.name = kGrownLun}.Set(&services::Lun::members, std::move(members)),
        "");
  }
  // So many, of which the new ones are made before.
  void Grow(int from, int to) {
    for (int m = from; m < to; ++m) MakeEmpty(m);
    const auto lun = SetMembers(Members(to));
    ASSERT_TRUE(lun.ok()) << lun.status();
    EXPECT_EQ(lun->members, Members(to));
  }
  services::Lun Get() {
    const auto lun = node_.node().luns().GetLun(kGrownLun);
    EXPECT_TRUE(lun.ok()) << lun.status();
    return lun.value_or(services::Lun());
  }
  void ExpectMembers(int count) {
    EXPECT_EQ(Get().state, services::LunState::kReady) << Get().cause;
    EXPECT_EQ(Get().members, Members(count));
  }

  // What was recorded of `blocks` blocks is as it was.
  void ExpectWhole(const std::string& recording, uint64_t blocks, uint64_t seed = 1) {
    EXPECT_EQ(node_.PlayAll(recording, seed).size(), blocks) << recording;
    EXPECT_TRUE(node_.Verify(recording).empty()) << recording;
  }
  // Whether the payload of the block is in the data files, or on the device, of the member.
  bool Holds(int m, uint64_t sequence, uint64_t seed) const {
    const auto payload = Payload(sequence, kBlockBytes, seed);
    const std::string wanted(reinterpret_cast<const char*>(payload.data()), payload.size());
    if (GetParam() == "device") return TextOf(member(m)).find(wanted) != std::string::npos;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(member(m))) {
      if (entry.path().filename() != "data") continue;
      if (TextOf(entry.path()).find(wanted) != std::string::npos) return true;
    }
    return false;
  }
  // That block i lies on member i mod `members`.
  void ExpectStriped(uint64_t blocks, int members, uint64_t seed) const {
    for (uint64_t i = 0; i < blocks; ++i) {
      EXPECT_TRUE(Holds(static_cast<int>(i) % members, i, seed)) << i << " of seed " << seed;
    }
  }

  static std::string TextOf(const std::string& path) {
    std::string text(std::filesystem::file_size(path), '\0');
    std::ifstream(path, std::ios::binary)
        .read(text.data(), static_cast<std::streamsize>(text.size()));
    return text;
  }
  std::string state_file() const { return node_.state_dir() + "/luns/l.json"; }

  // The members as another node finds them, which knows nothing.
  void AttachElsewhere(std::vector<std::string> members) {
    node_.Stop();
    std::filesystem::remove_all(node_.state_dir());
    node_.Start();
    const auto lun = node_.node().luns().AttachLun({.members = std::move(members)}, "");
    ASSERT_TRUE(lun.ok()) << lun.status();
  }
  // What the state directory and the members say, or hold where they are devices, now.
  void KeepState() const {
    std::filesystem::copy_file(state_file(), state_file() + ".old");
    for (int m = 0; std::filesystem::exists(said_by(m)); ++m) {
      std::filesystem::copy_file(said_by(m), member(m) + ".old");
    }
  }
  // As after a crash before the state directory was written.
  void ForgetChange() {
    node_.Stop();
    ForgetOnMembers();
    ForgetInState();
    node_.Start();
  }
  // Of a node that is stopped.
  void ForgetInState() const { Restore(state_file() + ".old", state_file()); }
  void ForgetOnMembers() const {
    for (int m = 0; std::filesystem::exists(member(m) + ".old"); ++m) {
      Restore(member(m) + ".old", said_by(m));
    }
  }
  // What says of which LUN a member is.
  std::string said_by(int m) const {
    return GetParam() == "device" ? member(m) : member(m) + "/.tapedeck/lun.json";
  }
  static void Restore(const std::string& from, const std::string& to) {
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  }

  NodeFixture node_;
};

inline std::string MemberKindName(const testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace tapedeck::storage_node

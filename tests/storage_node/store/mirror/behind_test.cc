// What members say of a copy that is behind, and LUNs that cannot keep two copies.
#include "storage_node/format/behind.h"

#include "tests/storage_node/store/mirror/mirror_fixture.h"

namespace tapedeck::storage_node {
namespace {

using testing::HasSubstr;

constexpr char kUid[] = "00112233-4455-4677-8899-aabbccddeeff";

TEST(BehindText, SaysWhatItWasMadeOf) {
  const format::Behind behind{
      .lun_uid = kUid, .member = 1, .since_ns = 1'700'000'000'000'000'000, .why = "it went away"};
  EXPECT_EQ(format::DecodeBehind(format::EncodeBehind(behind)).value_or(format::Behind()), behind);
}

TEST(BehindText, WhatNoneHasIsDamage) {
  const std::string long_why(10'000, '\x01');
  const std::string text = format::EncodeBehind({.lun_uid = kUid, .why = long_why});
  EXPECT_TRUE(format::DecodeBehind(text).ok()) << "what is said of a failure is cut";
  EXPECT_FALSE(format::DecodeBehind(format::EncodeBehind({.lun_uid = kUid, .member = 2})).ok());
  EXPECT_FALSE(format::DecodeBehind(format::EncodeBehind({.lun_uid = "x"})).ok());
  EXPECT_TRUE(absl::IsDataLoss(format::DecodeBehind(text.substr(1)).status()));
}

class RefusedCopies : public MirrorTest {
 protected:
  absl::Status Make(services::Lun lun) {
    lun.name = "luns/other";
    if (lun.store.empty()) lun.store = "posix";
    return deck_.node().luns().CreateLun(lun, "").status();
  }
  std::string New(const std::string& name) { return deck_.dir().Make(name); }
};

TEST_F(RefusedCopies, EachNeedsAMemberOfItsOwn) {
  for (const std::vector<std::string>& members :
       {std::vector{New("a")}, std::vector{New("a"), New("b"), New("c")}}) {
    const absl::Status status = Make({.members = members, .copies = 2});
    EXPECT_EQ(Reason(status), "ARGUMENT_INVALID");
    EXPECT_THAT(std::string(status.message()), HasSubstr("must be 2: each copy"));
  }
  EXPECT_THAT(std::string(Make({.members = {New("a"), New("a")}, .copies = 2}).message()),
              HasSubstr("given twice"));
  EXPECT_THAT(std::string(Make({.members = {New("a"), New("b"), New("c")}, .copies = 3}).message()),
              HasSubstr("must be 1 or 2"));
}

TEST_F(RefusedCopies, OnlyKindsThatKeepThem) {
  const absl::Status memory = Make({.store = "memory", .capacity_bytes = 1 << 20, .copies = 2});
  EXPECT_EQ(Reason(memory), "ARGUMENT_INVALID");
  const std::vector<std::string> images = {deck_.dir().MakeImage("i0", 64 << 20),
                                           deck_.dir().MakeImage("i1", 64 << 20)};
  const absl::Status device = Make({.store = "device", .members = images, .copies = 2});
  EXPECT_EQ(Reason(device), "ARGUMENT_INVALID");
  EXPECT_THAT(std::string(device.message()), HasSubstr("posix, direct"));
}

TEST_F(RefusedCopies, NeitherCopiesNorMembersChange) {
  const auto more =
      deck_.node().luns().UpdateLun(services::LunUpdate{.name = "luns/l"}.Set(
                                        &services::Lun::members, {Member(0), Member(1), New("m2")}),
                                    "");
  EXPECT_EQ(Reason(more.status()), "ARGUMENT_INVALID") << more.status();
  EXPECT_TRUE(std::filesystem::is_empty(Member(2)));
}

TEST_F(RefusedCopies, OneOfAnotherKindIsNoMember) {
  const absl::Status status =
      Make({.members = {New("a"), deck_.dir().MakeImage("i0", 64 << 20)}, .copies = 2});
  EXPECT_EQ(Reason(status), "MEMBER_UNUSABLE") << status;
}

}  // namespace
}  // namespace tapedeck::storage_node

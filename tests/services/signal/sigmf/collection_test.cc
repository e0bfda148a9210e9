#include "services/signal/sigmf/collection.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "services/signal/sigmf/sha512.h"

namespace tapedeck::services::sigmf {
namespace {

// FIPS 180-4's own example.
TEST(CollectionTest, TheHashIsSha512) {
  EXPECT_EQ(Sha512("abc"),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

TEST(CollectionTest, StreamsAreInOrderByNameAndHash) {
  const auto object = nlohmann::json::parse(
      Encode({.description = "two",
              .group = model::RecordingGroup{.id = "g", .name = "array", .number = 2, .members = 3},
              .streams = {{"b", "abc"}, {"a", ""}}}));
  ASSERT_EQ(object.size(), 1u);
  const auto& collection = object["collection"];
  EXPECT_EQ(collection["core:version"], "1.2.5");
  EXPECT_EQ(collection["core:description"], "two");
  EXPECT_EQ(collection["tapedeck:group"],
            (nlohmann::json{{"id", "g"}, {"name", "array"}, {"members", 3}}));
  const auto& streams = collection["core:streams"];
  ASSERT_EQ(streams.size(), 2u);
  EXPECT_EQ(streams[0], nlohmann::json::array({"b", Sha512("abc")}));
  EXPECT_EQ(streams[1][0], "a");
}

}  // namespace
}  // namespace tapedeck::services::sigmf

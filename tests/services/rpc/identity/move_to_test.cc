// Whoever has recordings moved to another LUN needs the rights there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/time.h"
#include "services/rpc/client/catalog_client.h"
#include "tests/services/rpc/identity/secure_server.h"

namespace tapedeck::services::identity {
namespace {

constexpr char kTenants[] =
    "rules:\n"
    "- {identities: ['spiffe://lab/ann'], role: admin, resources: ['luns/raw/channels/ann-*']}\n"
    "- {identities: ['spiffe://lab/bob'], role: admin, resources: ['luns/*/channels/bob-*']}\n";

absl::Status CreateAs(const client::Channel& channel, const std::string& name,
                      const std::string& to) {
  client::CatalogClient client(channel, absl::Seconds(10));
  return client
      .CreateChannel({.name = name,
                      .block_bytes = 65536,
                      .datatype = "cf32_le",
                      .move_to = to,
                      .move_after_ns = 3'600'000'000'000})
      .status();
}

absl::Status UpdateAs(const client::Channel& channel, const std::string& name,
                      const std::string& to) {
  client::CatalogClient client(channel, absl::Seconds(10));
  ChannelUpdate update{.name = name};
  update.Set(&Channel::move_to, to);
  return client.UpdateChannel(update).status();
}

TEST(MoveToTest, NobodyFillsALunThatIsNotTheirs) {
  const SecureServer server(kTenants);
  const client::Channel ann = server.ChannelOf("ann"), bob = server.ChannelOf("bob");
  EXPECT_TRUE(absl::IsPermissionDenied(CreateAs(ann, "luns/raw/channels/ann-1", "luns/deep")));
  EXPECT_FALSE(absl::IsPermissionDenied(CreateAs(ann, "luns/raw/channels/ann-1", "")));
  EXPECT_TRUE(absl::IsPermissionDenied(UpdateAs(ann, "luns/raw/channels/ann-1", "luns/deep")));
  EXPECT_FALSE(absl::IsPermissionDenied(UpdateAs(ann, "luns/raw/channels/ann-1", "")));
  EXPECT_FALSE(absl::IsPermissionDenied(UpdateAs(ann, "luns/raw/channels/ann-1", "a:7400/deep")));
  EXPECT_FALSE(absl::IsPermissionDenied(CreateAs(bob, "luns/raw/channels/bob-1", "luns/deep")));
  EXPECT_FALSE(absl::IsPermissionDenied(UpdateAs(bob, "luns/raw/channels/bob-1", "luns/deep")));
}

}  // namespace
}  // namespace tapedeck::services::identity

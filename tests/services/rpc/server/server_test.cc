// The shell: health, reflection, drain, a taken port, and peers that speak no HTTP/2.
#include "services/rpc/server/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "absl/time/clock.h"
#include "dataplane/now.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "services/base/errors.h"
#include "services/rpc/client/catalog_client.h"
#include "services/rpc/client/jobs_client.h"
#include "services/rpc/client/node_client.h"
#include "tests/services/loopback_node.h"

namespace tapedeck::services::server {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using ::testing::HasSubstr;

constexpr absl::Duration kAnswerTimeout = absl::Seconds(5);

grpc::Status Check(const client::Channel& channel, const std::string& service,
                   HealthCheckResponse& response) {
  grpc::ClientContext context;
  HealthCheckRequest request;
  request.set_service(service);
  return Health::NewStub(channel.channel)->Check(&context, request, &response);
}

TEST(ServerTest, HealthOfEachService) {
  const LoopbackNode node;
  for (const char* name : {"", "tapedeck.v1.CatalogService", "tapedeck.v1.NodeService"}) {
    HealthCheckResponse response;
    ASSERT_TRUE(Check(node.channel, name, response).ok()) << name;
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << name;
  }
  HealthCheckResponse response;
  EXPECT_EQ(Check(node.channel, "no.such.Service", response).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST(ServerTest, HealthWatchTellsOfTheDrain) {
  const LoopbackNode node;
  const auto stub = Health::NewStub(node.channel.channel);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(dataplane::WallTime() + kAnswerTimeout));
  const auto reader = stub->Watch(&context, HealthCheckRequest());
  HealthCheckResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  node.server->Drain();
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
}

// The reflection protocol by hand: a ServerReflectionRequest with an empty list_services (field 7)
// is answered with the services' names.
TEST(ServerTest, ReflectionListsTheServices) {
  const LoopbackNode node;
  grpc::GenericStub stub(node.channel.channel);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(dataplane::WallTime() + kAnswerTimeout));
  grpc::CompletionQueue queue;
  const grpc::Slice slice("\x3a\x00", 2);
  const auto call = stub.PrepareUnaryCall(
      &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      grpc::ByteBuffer(&slice, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  ASSERT_TRUE(status.ok()) << status.error_message();
  grpc::Slice text;
  ASSERT_TRUE(response.DumpToSingleSlice(&text).ok());
  const std::string names(reinterpret_cast<const char*>(text.begin()), text.size());
  EXPECT_THAT(names, HasSubstr("tapedeck.v1.CatalogService"));
  EXPECT_THAT(names, HasSubstr("grpc.health.v1.Health"));
}

TEST(ServerTest, DrainRefusesNewWorkOnly) {
  LoopbackNode node;
  node.server->Drain();
  client::JobsClient jobs(node.channel, kAnswerTimeout);
  const auto started = jobs.StartRecord(
      {.transfer = {.storage = "s:1", .target = "luns/l0/channels/c0"}, .blocks = 1});
  EXPECT_EQ(started.status().code(), absl::StatusCode::kUnavailable);
  ASSERT_TRUE(ReasonOf(started.status()).has_value());
  EXPECT_EQ(ReasonOf(started.status())->reason, "DRAINING");
  EXPECT_TRUE(jobs.ListJobs().ok());
  client::CatalogClient catalog(node.channel, kAnswerTimeout);
  EXPECT_TRUE(catalog.ListLuns().ok());
}

TEST(ServerTest, ShutdownEndsWatchersSoon) {
  LoopbackNode node;
  client::JobsClient jobs(node.channel, kAnswerTimeout);
  const auto started =
      jobs.StartRecord({.transfer = {.storage = "s:1", .target = "luns/l0/channels/endless"},
                        .source = {"synth"},
                        .blocks = 1});
  ASSERT_TRUE(started.ok()) << started.status();
  absl::Status watched;
  std::thread watcher(
      [&] { watched = jobs.WatchJob(started->name, kAnswerTimeout, [](const Job&) {}).status(); });
  absl::SleepFor(absl::Milliseconds(100));
  const absl::Time start = dataplane::SteadyTime();
  node.server->Shutdown(absl::Seconds(10));
  EXPECT_LT(dataplane::SteadyTime() - start, absl::Seconds(5));
  watcher.join();
  EXPECT_EQ(watched.code(), absl::StatusCode::kUnavailable);
}

TEST(ServerTest, TakenPortIsNamed) {
  const LoopbackNode node;
  const auto second = ReservedPort::Create(node.address);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(node.address));
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("in use"));
}

TEST(ServerTest, UnusableAddressIsExplained) {
  for (const char* listen : {"192.0.2.1:7400", "no-port", "127.0.0.1:99999"}) {
    const auto port = ReservedPort::Create(listen);
    ASSERT_FALSE(port.ok()) << listen;
    EXPECT_THAT(std::string(port.status().message()), HasSubstr(listen));
  }
}

// Sends `text` as a raw TCP client and reads until the server closes or 200 ms have passed.
void SendGarbage(int port, const std::string& text) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const timeval wait{.tv_usec = 200'000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
  (void)send(fd, text.data(), text.size(), MSG_NOSIGNAL);
  char buffer[4096];
  while (recv(fd, buffer, sizeof(buffer), 0) > 0) {
  }
  close(fd);
}

TEST(ServerTest, GarbageHarmsNothing) {
  const LoopbackNode node;
  std::string noise(100'000, '\0');
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * 2654435761u >> 13);
  SendGarbage(node.server->port(), noise);
  SendGarbage(node.server->port(), "GET / HTTP/1.1\r\n\r\n");
  SendGarbage(node.server->port(), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + noise);
  SendGarbage(node.server->port(), "");
  EXPECT_TRUE(client::GetNode(node.channel, kAnswerTimeout).ok());
}

}  // namespace
}  // namespace tapedeck::services::server

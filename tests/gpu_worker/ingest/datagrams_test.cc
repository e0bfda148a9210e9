// Packets that go together as one message arrive one by one.
#include "gpu_worker/packets/datagrams.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/socket_address.h"
#include "services/base/addresses/listen_address.h"

namespace tapedeck::gpu_worker::packets {
namespace {

// The next datagram; nothing if none comes.
std::string Receive(int socket) {
  pollfd readable{.fd = socket, .events = POLLIN, .revents = 0};
  if (poll(&readable, 1, 5000) != 1) return "";
  std::string text(65'536, '\0');
  const ssize_t bytes = recv(socket, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(bytes, 0)));
  return text;
}

TEST(DatagramsTest, ArriveAsTheyWereGivenWhateverTheirSizes) {
  const auto receiver = services::ListenForDatagrams("127.0.0.1:0");
  ASSERT_TRUE(receiver.ok()) << receiver.status();
  auto datagrams = Datagrams::Connect(dataplane::LocalAddress(*receiver));
  ASSERT_TRUE(datagrams.ok()) << datagrams.status();
  std::vector<size_t> sizes(100, 40);  // more than one call takes
  for (const size_t size : {30, 40, 500, 500, 500, 1, 500, 8192, 8192, 0, 8192, 7}) {
    sizes.push_back(size);
  }
  std::vector<std::string> texts;
  for (size_t i = 0; i < sizes.size(); ++i) {
    texts.push_back(absl::StrCat(100 + i, std::string(sizes[i], static_cast<char>('a' + i % 26))));
  }
  std::vector<Datagrams::Packet> packets;
  for (const std::string& text : texts) {
    const auto bytes = std::as_bytes(std::span(text));
    packets.push_back({.header = bytes.first(3), .samples = bytes.subspan(3)});
  }
  ASSERT_TRUE(datagrams->Send(packets, absl::Seconds(5)).ok());
  for (const std::string& text : texts) {
    const std::string got = Receive(receiver->get());
    ASSERT_EQ(got.substr(0, 3), text.substr(0, 3));
    EXPECT_TRUE(got == text) << got.size() << " bytes, not " << text.size();
  }
}

}  // namespace
}  // namespace tapedeck::gpu_worker::packets

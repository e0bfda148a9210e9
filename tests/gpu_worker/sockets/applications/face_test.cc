// Ordinary clients ask a kernel whose photo they have; the photos are in an unmodified memcached.
#include "tests/gpu_worker/sockets/applications/face.h"

#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/gpu_worker/sockets/applications/fixture.h"
#include "tests/gpu_worker/sockets/applications/memcached_process.h"

namespace tapedeck::gpu_worker::sockets {
namespace {

constexpr uint32_t kFaceBlocks = 4;
constexpr uint32_t kPersons = 250;
constexpr uint32_t kPhotos = kPersons * kPhotosOfAPerson;  // 1,000

using Photo = std::array<unsigned char, kPhotoBytes>;

// Three waves that a person has, and three of the photo; with noise. What is drawn for a photo is
// the same each time.
Photo Draw(uint32_t person, uint32_t number, double noise, uint32_t seed) {
  std::mt19937 of_person(person * 7919 + 1);
  std::mt19937 of_photo(person * 7919 + number * 104729 + 2);
  std::uniform_real_distribution<double> chance(0, 1);
  std::array<std::array<double, 4>, 6> waves;
  for (size_t i = 0; i < waves.size(); ++i) {
    std::mt19937& random = i < 3 ? of_person : of_photo;
    for (double& value : waves[i]) value = chance(random);
  }
  std::mt19937 random(seed);
  std::normal_distribution<double> grain(0, noise);
  Photo out;
  for (uint32_t y = 0; y < kPhotoSide; ++y) {
    for (uint32_t x = 0; x < kPhotoSide; ++x) {
      double value = 128 + grain(random);
      for (const auto& wave : waves) {
        value += 20 * std::sin((wave[0] - 0.5) * x + (wave[1] - 0.5) * y + 6.28 * wave[2]);
      }
      out[y * kPhotoSide + x] =
          static_cast<unsigned char>(std::lround(std::min(255.0, std::max(0.0, value))));
    }
  }
  return out;
}

// The same by other means: how often each cell has each answer of the eight neighbours, who are
// asked one by one.
using Reference = std::vector<int64_t>;

Reference ReferenceOf(const Photo& photo) {
  constexpr std::array<std::pair<int, int>, 8> kAround = {
      {{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}}};
  const auto at = [&](int x, int y) { return photo[y * kPhotoSide + x]; };
  Reference out(16 * 256);
  for (int y = 1; y < 63; ++y) {
    for (int x = 1; x < 63; ++x) {
      int answers = 0;
      for (const auto& [dx, dy] : kAround) {
        answers = 2 * answers + (at(x + dx, y + dy) < at(x, y) ? 1 : 0);
      }
      ++out[(y / 16 * 4 + x / 16) * 256 + answers];
    }
  }
  return out;
}

uint64_t ReferenceDistance(const Reference& a, const Reference& b) {
  uint64_t out = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const int64_t apart = a[i] - b[i];
    if (apart != 0) out += static_cast<uint64_t>(apart * apart * 1024 / (a[i] + b[i]));
  }
  return out;
}

std::string Key(uint32_t person, uint32_t number) {
  return "face/" + std::to_string(person) + "/" + std::to_string(number);
}

// What is asked for photo `number` of a person: the photo again, with other noise.
Photo Asked(uint32_t person, uint32_t number) {
  return Draw(person, number, 2, person * 31 + number + 500'000);
}
Photo Stored(uint32_t person, uint32_t number) {
  return Draw(person, number, 2, person * 31 + number);
}

FaceAnswer ReferenceAnswer(const Photo& photo, uint32_t person,
                           const std::vector<Reference>& stored) {
  const Reference asked = ReferenceOf(photo);
  FaceAnswer best{0, 0, ~uint64_t{0}};
  for (uint32_t i = 0; i < kPhotosOfAPerson; ++i) {
    const uint64_t distance = ReferenceDistance(asked, stored[person * kPhotosOfAPerson + i]);
    if (distance < best.distance) best = {0, i, distance};
  }
  return best;
}

class FaceServerTest : public OnDevices {
 protected:
  void SetUp() override {
    const std::string path = PathOf("memcached");
    if (path.empty()) GTEST_SKIP() << "memcached is not installed";
    OnDevices::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    memcached_.emplace(path);
    ASSERT_TRUE(memcached_->Answers());
    Load<Listen>();
    Load<FaceServer>();
    auto memory = DeviceBytes::Create(*device_, kFaceBlocks * sizeof(FaceMemory));
    ASSERT_TRUE(memory.ok()) << memory.status();
    memory_ = *std::move(memory);
    auto listening = Listening::Create(*device_, {.sockets = 16, .ring_bytes = 16384});
    ASSERT_TRUE(listening.ok()) << listening.status();
    listening_ = *std::move(listening);
  }

  FaceServer NewServer() {
    return {listening_.NewArgs(), memcached_->port(), memory_.as<FaceMemory>()};
  }

  // An answer whose result is -ENODATA is none.
  static FaceAnswer Ask(const Fd& client, uint32_t person, const Photo& photo) {
    FaceQuestion question{person, 0, {}};
    std::memcpy(question.photo, photo.data(), photo.size());
    FaceAnswer answer{-ENODATA, 0, 0};
    if (!PlainSend(client, BytesOf(question))) return answer;
    const std::string bytes = PlainReceive(client, sizeof(answer));
    if (bytes.size() == sizeof(answer)) std::memcpy(&answer, bytes.data(), sizeof(answer));
    return answer;
  }

  std::optional<MemcachedProcess> memcached_;
  DeviceBytes memory_;
  Listening listening_;
};
TAPEDECK_ON_HOST_AND_CUDA(FaceServerTest);

TEST_P(FaceServerTest, AThousandPhotosAreFoundAsACpuFindsThem) {
  std::vector<Reference> stored;
  const Fd filler = PlainConnect(memcached_->port());
  for (uint32_t i = 0; i < kPhotos; ++i) {
    const Photo photo = Stored(i / kPhotosOfAPerson, i % kPhotosOfAPerson);
    const std::string value(photo.begin(), photo.end());
    ASSERT_TRUE(
        PlainSend(filler, SetCommand(Key(i / kPhotosOfAPerson, i % kPhotosOfAPerson), value)));
    stored.push_back(ReferenceOf(photo));
  }
  ASSERT_TRUE(HasTaken(filler));
  const FaceServer program = NewServer();
  Server server(on_gpu(), program, program.args.stop, kFaceBlocks);
  std::vector<FaceAnswer> answers(kPhotos);
  std::vector<Photo> asked(kPhotos);
  std::vector<std::thread> clients;
  for (uint32_t client = 0; client < kFaceBlocks; ++client) {
    clients.emplace_back([&, client] {
      const Fd socket = PlainConnect(listening_.port());
      for (uint32_t i = client; i < kPhotos; i += kFaceBlocks) {
        const uint32_t person = i / kPhotosOfAPerson;
        asked[i] = Asked(person, i % kPhotosOfAPerson);
        answers[i] = Ask(socket, person, asked[i]);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  uint32_t recognised = 0;
  for (uint32_t i = 0; i < kPhotos; ++i) {
    const FaceAnswer expected = ReferenceAnswer(asked[i], i / kPhotosOfAPerson, stored);
    ASSERT_EQ(answers[i].result, 0) << i;
    EXPECT_EQ(answers[i].photo, expected.photo) << i;
    EXPECT_EQ(answers[i].distance, expected.distance) << i;
    recognised += answers[i].photo == i % kPhotosOfAPerson ? 1 : 0;
  }
  EXPECT_GE(recognised, kPhotos * 9 / 10);
  ASSERT_EQ(server.Stop(), "");
  const Served served = SumOf(program.args.served, kFaceBlocks);
  EXPECT_EQ(served.answers, kPhotos);
  EXPECT_EQ(served.fault, 0);
}

TEST_P(FaceServerTest, WhatIsMissingOrWrongInTheMemcachedIsNamed) {
  const Fd filler = PlainConnect(memcached_->port());
  const Photo third = Stored(7, 2);
  ASSERT_TRUE(PlainSend(filler, SetCommand(Key(7, 2), std::string(third.begin(), third.end()))));
  ASSERT_TRUE(PlainSend(filler, SetCommand(Key(8, 0), "no photo")));
  ASSERT_TRUE(HasTaken(filler));
  const FaceServer program = NewServer();
  Server server(on_gpu(), program, program.args.stop, kFaceBlocks);
  const Fd client = PlainConnect(listening_.port());
  const FaceAnswer alone = Ask(client, 7, third);
  EXPECT_EQ(alone.result, 0);
  EXPECT_EQ(alone.photo, 2u) << "the only one that is there";
  EXPECT_EQ(alone.distance, 0u);
  EXPECT_EQ(Ask(client, 4'000'000'000, third).result, -ENOENT);
  EXPECT_EQ(Ask(client, 8, third).result, -EPROTO);
  EXPECT_EQ(Ask(client, 7, third).photo, 2u) << "over another connection";
  memcached_->Kill();
  const int32_t gone = Ask(client, 7, third).result;
  EXPECT_TRUE(gone == -ECONNRESET || gone == -EPIPE) << gone;
  EXPECT_EQ(Ask(client, 7, third).result, -ECONNREFUSED);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::sockets

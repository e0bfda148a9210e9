// Ordinary clients ask a kernel for products of matrices.
#include "tests/gpu_worker/sockets/applications/matrix.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/gpu_worker/sockets/applications/fixture.h"

namespace tapedeck::gpu_worker::sockets {
namespace {

constexpr uint32_t kMatrixBlocks = 3;
constexpr double kMostError = 1e-5;

class MatrixServerTest : public OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    Load<Listen>();
    Load<MatrixServer>();
    auto memory = DeviceBytes::Create(*device_, kMatrixBlocks * sizeof(MatrixMemory));
    ASSERT_TRUE(memory.ok()) << memory.status();
    memory_ = *std::move(memory);
    auto listening = Listening::Create(*device_, {.sockets = 16, .ring_bytes = 65536});
    ASSERT_TRUE(listening.ok()) << listening.status();
    listening_ = *std::move(listening);
  }

  MatrixServer NewServer() { return {listening_.NewArgs(), memory_.as<MatrixMemory>()}; }

  DeviceBytes memory_;
  Listening listening_;
};
TAPEDECK_ON_HOST_AND_CUDA(MatrixServerTest);

std::vector<float> RandomMatrix(size_t elements, std::mt19937& random) {
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> out(elements);
  for (float& value : out) value = values(random);
  return out;
}

std::string BytesOfFloats(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

// How far an answer is from the product that the CPU computes, in another order of the loops; -1
// where there is none.
double AskForProduct(const Fd& client, const MatrixQuestion& size, std::mt19937& random) {
  const std::vector<float> left = RandomMatrix(size.rows * size.inner, random);
  const std::vector<float> right = RandomMatrix(size.inner * size.columns, random);
  if (!PlainSend(client, BytesOf(size) + BytesOfFloats(left) + BytesOfFloats(right))) return -1;
  std::vector<double> expected(size.rows * size.columns);
  for (size_t row = 0; row < size.rows; ++row) {
    for (size_t k = 0; k < size.inner; ++k) {
      for (size_t column = 0; column < size.columns; ++column) {
        expected[row * size.columns + column] +=
            double{left[row * size.inner + k]} * right[k * size.columns + column];
      }
    }
  }
  const std::string answer =
      PlainReceive(client, sizeof(MatrixAnswer) + expected.size() * sizeof(float));
  if (answer.size() != sizeof(MatrixAnswer) + expected.size() * sizeof(float)) return -1;
  MatrixAnswer head;
  std::memcpy(&head, answer.data(), sizeof(head));
  if (head.result != 0) return -1;
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    float value;
    std::memcpy(&value, answer.data() + sizeof(head) + i * sizeof(value), sizeof(value));
    const double error = std::abs(value - expected[i]);
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  }
  return worst;
}

TEST_P(MatrixServerTest, ClientsGetTheProductsThatACpuComputes) {
  constexpr int kClients = 6;
  const MatrixServer program = NewServer();
  Server server(on_gpu(), program, program.args.stop, kMatrixBlocks);
  const std::vector<MatrixQuestion> sizes = {{1, 1, 1, 0},       {3, 5, 7, 0},
                                             {64, 64, 64, 0},    {17, 256, 33, 0},
                                             {256, 100, 256, 0}, {128, 128, 1, 0}};
  std::vector<double> worst(kClients, -1);
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      std::mt19937 random(i + 1);
      const Fd client = PlainConnect(listening_.port());
      double most = 0;
      for (const MatrixQuestion& size : sizes) {
        const double error = AskForProduct(client, size, random);
        if (error < 0) return;
        most = std::max(most, error);
      }
      worst[i] = most;
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_THAT(worst, testing::Each(testing::AllOf(testing::Ge(0), testing::Le(kMostError))));
  ASSERT_EQ(server.Stop(), "");
  const Served served = SumOf(program.args.served, kMatrixBlocks);
  EXPECT_EQ(served.connections, kClients);
  EXPECT_EQ(served.answers, static_cast<int64_t>(kClients * sizes.size()));
  EXPECT_EQ(served.fault, 0);
}

TEST_P(MatrixServerTest, ASizeThatIsNoneIsRefusedAndNobodyElseNoticesIt) {
  const MatrixServer program = NewServer();
  Server server(on_gpu(), program, program.args.stop, kMatrixBlocks);
  std::mt19937 random(1);
  const Fd other = PlainConnect(listening_.port());
  EXPECT_LE(AskForProduct(other, {8, 8, 8, 0}, random), kMostError);
  for (const MatrixQuestion& size : std::vector<MatrixQuestion>{
           {0, 1, 1, 0}, {1, 257, 1, 0}, {1, 1, 0xffffffff, 0}, {65536, 65536, 65536, 0}}) {
    const Fd client = PlainConnect(listening_.port());
    EXPECT_TRUE(PlainSend(client, BytesOf(size)));
    const std::string answer = PlainReceive(client, 2 * sizeof(MatrixAnswer));
    ASSERT_EQ(answer.size(), sizeof(MatrixAnswer)) << "the answer, and then the end";
    MatrixAnswer head;
    std::memcpy(&head, answer.data(), sizeof(head));
    EXPECT_EQ(head.result, -EMSGSIZE);
  }
  // One that goes in the middle of its question.
  EXPECT_TRUE(PlainSend(PlainConnect(listening_.port()), BytesOf(MatrixQuestion{8, 8, 8, 0})));
  const double error = AskForProduct(other, {8, 8, 8, 0}, random);
  EXPECT_GE(error, 0);
  EXPECT_LE(error, kMostError);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::sockets

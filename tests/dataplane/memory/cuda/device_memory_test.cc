#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "dataplane/memory/cuda/bar1.h"
#include "dataplane/memory/cuda/memory.h"
#include "dataplane/memory/cuda/status.h"
#include "dataplane/memory/cuda/visibility.h"
#include "dataplane/reason.h"

namespace tapedeck::dataplane::cuda {
namespace {

using testing::HasSubstr;

constexpr uint64_t kMiB = 1 << 20;

TEST(Bar1Test, KeepsATenthOr32MiBFree) {
  const Bar1 small{.total_bytes = 256 * kMiB, .used_bytes = 24 * kMiB};
  EXPECT_TRUE(CheckBar1(small, 200 * kMiB).ok());
  const absl::Status status = CheckBar1(small, 200 * kMiB + 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr(
          "a window of 201 MiB does not fit in BAR1: of its 256 MiB, 24 are used, and 32 must"));
  const Bar1 large{.total_bytes = 1000 * kMiB};
  EXPECT_TRUE(CheckBar1(large, 900 * kMiB).ok());
  EXPECT_FALSE(CheckBar1(large, 901 * kMiB).ok());
}

TEST(VisibilityTest, FollowsTheOrderingAttribute) {
  EXPECT_EQ(VisibilityOf(200, 0), WriteVisibility::kOrdered);
  EXPECT_EQ(VisibilityOf(100, 0), WriteVisibility::kOrdered);
  EXPECT_EQ(VisibilityOf(0, 1), WriteVisibility::kFlush);
  EXPECT_EQ(VisibilityOf(0, 3), WriteVisibility::kFlush);
  EXPECT_EQ(VisibilityOf(0, 2), WriteVisibility::kLoopbackRead);
  EXPECT_EQ(VisibilityOf(0, 0), WriteVisibility::kLoopbackRead);
}

TEST(StatusTest, StickyErrorsAreToldApart) {
  for (const cudaError_t error :
       {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorECCUncorrectable, cudaErrorAssert,
        cudaErrorMisalignedAddress, cudaErrorLaunchTimeout, cudaErrorIllegalInstruction}) {
    const absl::Status status = ToStatus(error, "cudaFree");
    EXPECT_EQ(ReasonOf(status)->reason, "DEVICE_FAILED") << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(cudaGetErrorName(error)));
  }
  const absl::Status full = ToStatus(cudaErrorMemoryAllocation, "cudaMalloc");
  EXPECT_EQ(ReasonOf(full)->reason, "LIMIT_REACHED") << full;
  for (const cudaError_t error :
       {cudaErrorInvalidValue, cudaErrorNoDevice, cudaErrorNotReady, cudaErrorNotSupported}) {
    EXPECT_FALSE(ReasonOf(ToStatus(error, "cudaFree")).has_value());
  }
  EXPECT_TRUE(ToStatus(cudaSuccess, "cudaFree").ok());
}

class CudaMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) GTEST_SKIP() << cudaGetErrorString(error);
    if (count == 0) GTEST_SKIP() << "no CUDA device";
    cudaSetDevice(0);
    cudaFree(nullptr);
  }
};

TEST_F(CudaMemoryTest, RingMemoryIsExportedAsADmaBuf) {
  const auto attributes = ReadDirectAttributes(0);
  ASSERT_TRUE(attributes.ok()) << attributes.status();
  if (!attributes->supported) GTEST_SKIP() << "this GPU has no GPUDirect RDMA";
  const auto memory = CreateExported(5 * kMiB + 4096, 0);
  ASSERT_TRUE(memory.ok()) << memory.status();
  const MemoryWindow window = (*memory)->window();
  EXPECT_EQ(window.bytes.size(), 5 * kMiB + 4096);
  EXPECT_FALSE(window.host_accessible);
  ASSERT_GE(window.dma_buf_fd, 0) << "the log says why";
  // A dma-buf tells its size by its end.
  EXPECT_GE(lseek(window.dma_buf_fd, 0, SEEK_END), static_cast<off_t>(window.bytes.size()));
  cudaPointerAttributes of{};
  ASSERT_EQ(cudaPointerGetAttributes(&of, window.bytes.data()), cudaSuccess);
  EXPECT_EQ(of.type, cudaMemoryTypeDevice);
}

TEST_F(CudaMemoryTest, TheDmaBufIsClosedWithItsMemory) {
  int fd = -1;
  {
    const auto memory = CreateExported(kMiB, 0);
    if (!memory.ok()) GTEST_SKIP() << memory.status();
    fd = (*memory)->window().dma_buf_fd;
    if (fd < 0) GTEST_SKIP() << "no dma-buf here";
    EXPECT_GE(fcntl(fd, F_GETFD), 0);
  }
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

TEST_F(CudaMemoryTest, Bar1IsRead) {
  const auto reader = Bar1Reader::Create(0);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto bar1 = (*reader)->Read();
  if (absl::IsUnimplemented(bar1.status())) GTEST_SKIP() << bar1.status();
  ASSERT_TRUE(bar1.ok()) << bar1.status();
  EXPECT_GT(bar1->total_bytes, 0u);
  EXPECT_LE(bar1->used_bytes, bar1->total_bytes);
  RecordProperty("bar1_mib", std::to_string(bar1->total_bytes / kMiB));
}

TEST_F(CudaMemoryTest, WritesCanBeFlushedWhereTheDeviceSaysSo) {
  const auto attributes = ReadDirectAttributes(0);
  ASSERT_TRUE(attributes.ok()) << attributes.status();
  if ((attributes->flush_options & 1) == 0) GTEST_SKIP() << "no flush on this device";
  const absl::Status status = FlushWrites(0);
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace tapedeck::dataplane::cuda

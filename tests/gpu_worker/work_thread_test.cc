// A job whose thread cannot be made is refused; the worker goes on.
#include "gpu_worker/pipeline/work_thread.h"

#include <gtest/gtest.h>

#include "services/errors.h"
#include "tests/no_threads.h"

namespace tapedeck::gpu_worker {
namespace {

TEST(WorkThreadTest, SaysThatThereIsNone) {
  const auto tasks = std::make_shared<pipeline::TaskQueue>();
  {
    const NoThreads none;
    if (!none.works()) GTEST_SKIP() << "this user may not become another one";
    const auto refused = pipeline::WorkThread::Create(tasks, "work");
    EXPECT_EQ(services::ReasonOf(refused.status()).value_or(services::ErrorReason()).reason,
              "LIMIT_REACHED");
  }
  EXPECT_TRUE(pipeline::WorkThread::Create(tasks, "work").ok());
}

}  // namespace
}  // namespace tapedeck::gpu_worker

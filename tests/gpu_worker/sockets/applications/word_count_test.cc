// Two kernels count the words of a text together, in one process and in two; what each finds of the
// other's goes to it over a socket. TAPEDECK_LONG=1: a text of 1 GB.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/gpu_worker/sockets/applications/word_count_half.h"

namespace tapedeck::gpu_worker::sockets {
namespace {

Counts CountOnCpu(std::string_view text) {
  Counts out;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) != 0) continue;
    if (i > begin) ++out[std::string(text.substr(begin, std::min<size_t>(i - begin, 24)))];
    begin = i + 1;
  }
  return out;
}

class WordCountTest : public OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    Load<Listen>();
    Load<WordCount>();
    auto listening = Listening::Create(*device_, kCountingShape);
    ASSERT_TRUE(listening.ok()) << listening.status();
    listening_ = *std::move(listening);
    auto other = ServedTable::Create(*device_, kCountingShape);
    ASSERT_TRUE(other.ok()) << other.status();
    other_ = *std::move(other);
  }

  uint32_t blocks() const { return CountingBlocks(on_gpu()); }
  static size_t text_bytes() {
    return std::getenv("TAPEDECK_LONG") != nullptr ? 1'000'000'000 : 4'000'000;
  }

  WordCount FirstProgram(const Half& half, uint64_t text_bytes, uint32_t blocks) {
    WordCount program = half.ProgramFor(listening_.net(), 0, text_bytes, blocks);
    program.listener = listening_.NewArgs().listener;
    return program;
  }
  WordCount SecondProgram(const Half& half, uint64_t text_bytes, uint32_t blocks) {
    WordCount program = half.ProgramFor(other_.table->net(), 1, text_bytes, blocks);
    program.port = listening_.port();
    return program;
  }

  Listening listening_;
  ServedTable other_;
};
TAPEDECK_ON_HOST_AND_CUDA(WordCountTest);

TEST_P(WordCountTest, TwoKernelsCountTogetherWhatACpuCounts) {
  const size_t bytes = text_bytes();
  const std::string text = MakeText(bytes, 1);
  const size_t middle = MiddleOf(text);
  auto first = Half::Create(*device_, std::string_view(text).substr(0, middle), blocks());
  ASSERT_TRUE(first.ok()) << first.status();
  auto second = Half::Create(*device_, std::string_view(text).substr(middle), blocks());
  ASSERT_TRUE(second.ok()) << second.status();
  {
    Blocks listens(on_gpu(), FirstProgram(*first, middle, blocks()), blocks());
    Blocks connects(on_gpu(), SecondProgram(*second, bytes - middle, blocks()), blocks());
    EXPECT_EQ(connects.Join(), "");
    EXPECT_EQ(listens.Join(), "");
  }
  const Totals of_first = TotalsOf(*first, blocks());
  const Totals of_second = TotalsOf(*second, blocks());
  ASSERT_EQ(of_first.fault, 0) << strerror(static_cast<int>(-of_first.fault));
  ASSERT_EQ(of_second.fault, 0) << strerror(static_cast<int>(-of_second.fault));
  EXPECT_GT(of_first.sent, 0);
  EXPECT_GT(of_second.sent, 0);
  EXPECT_EQ(of_first.sent, of_second.received);
  EXPECT_EQ(of_second.sent, of_first.received);
  const auto out_bytes = static_cast<int64_t>(listening_.proxy().counts().out_bytes);
  EXPECT_EQ(out_bytes, of_first.sent * static_cast<int64_t>(sizeof(Record)));
  const auto one = first->Result();
  ASSERT_TRUE(one.ok()) << one.status();
  const auto other = second->Result();
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_GT(one->size(), 0u);
  EXPECT_GT(other->size(), 0u);
  Counts together = *one;
  together.insert(other->begin(), other->end());
  EXPECT_EQ(together.size(), one->size() + other->size()) << "a word is counted in one place";
  EXPECT_TRUE(together == CountOnCpu(text)) << together.size() << " words";
}

// The second half as a process of its own: gpu_worker_word_count, from this program's folder.
class OtherProcess {
 public:
  OtherProcess(const char* device, size_t bytes, uint32_t port) {
    const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const std::string command = (folder / "gpu_worker_word_count").string() + " " + device + " " +
                                std::to_string(bytes) + " 1 " + std::to_string(port);
    output_ = popen(command.c_str(), "re");
  }
  ~OtherProcess() {
    if (output_ != nullptr) pclose(output_);
  }

  // It has its text, and connects.
  bool IsReady() {
    char word[8] = {};
    return output_ != nullptr && std::fgets(word, sizeof(word), output_) != nullptr &&
           std::string(word) == "ready\n";
  }
  // What it has counted, once it has ended well.
  Counts Result(Totals& totals) {
    Counts out;
    Record record;
    if (std::fread(&totals, sizeof(totals), 1, output_) != 1) return out;
    while (std::fread(&record, sizeof(record), 1, output_) == 1) {
      const auto* const letters = reinterpret_cast<const char*>(record.word.letters);
      out[std::string(letters, LettersOf(record.word))] += record.count;
    }
    return out;
  }

 private:
  std::FILE* output_ = nullptr;
};

TEST_P(WordCountTest, TwoProcessesCountTogetherWhatACpuCounts) {
  const std::string text = MakeText(text_bytes(), 1);
  const size_t middle = MiddleOf(text);
  auto first = Half::Create(*device_, std::string_view(text).substr(0, middle), blocks());
  ASSERT_TRUE(first.ok()) << first.status();
  OtherProcess other(on_gpu() ? "cuda" : "host", text.size(), listening_.port());
  ASSERT_TRUE(other.IsReady());
  Blocks listens(on_gpu(), FirstProgram(*first, middle, blocks()), blocks());
  EXPECT_EQ(listens.Join(), "");
  Totals of_other;
  Counts together = other.Result(of_other);
  const size_t others = together.size();
  const Totals of_first = TotalsOf(*first, blocks());
  ASSERT_EQ(of_first.fault, 0) << strerror(static_cast<int>(-of_first.fault));
  ASSERT_EQ(of_other.fault, 0) << strerror(static_cast<int>(-of_other.fault));
  EXPECT_GT(of_first.sent, 0);
  EXPECT_EQ(of_first.sent, of_other.received);
  EXPECT_EQ(of_other.sent, of_first.received);
  const auto one = first->Result();
  ASSERT_TRUE(one.ok()) << one.status();
  together.insert(one->begin(), one->end());
  EXPECT_EQ(together.size(), one->size() + others) << "a word is counted in one place";
  EXPECT_TRUE(together == CountOnCpu(text)) << together.size() << " words";
}

TEST_P(WordCountTest, AHalfWhosePeerGoesSaysSo) {
  constexpr uint32_t kFew = 2;
  const std::string text = MakeText(2'000'000, 2);
  auto half = Half::Create(*device_, text, kFew);
  ASSERT_TRUE(half.ok()) << half.status();
  Blocks run(on_gpu(), FirstProgram(*half, text.size(), kFew), kFew);
  for (uint32_t i = 0; i < kFew; ++i) {
    // Takes some, and goes in the middle of a record of its own.
    const Fd peer = PlainConnect(listening_.port());
    EXPECT_EQ(PlainReceive(peer, 1000).size(), 1000u);
    EXPECT_TRUE(PlainSend(peer, std::string(sizeof(Record) + 5, 'x')));
  }
  EXPECT_EQ(run.Join(), "");
  for (uint32_t i = 0; i < kFew; ++i) {
    const int64_t fault = half->counted()[i].fault;
    EXPECT_TRUE(fault == -ECONNRESET || fault == -EPIPE || fault == -EPROTO) << fault;
  }
}

}  // namespace
}  // namespace tapedeck::gpu_worker::sockets

// Two kernels count the words of a text together; what each finds of the other's goes to it over a
// socket. TAPEDECK_LONG=1: a text of 1 GB.
#include "tests/gpu_worker/sockets/applications/word_count.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/gpu_worker/sockets/applications/fixture.h"

namespace tapedeck::gpu_worker::sockets {
namespace {

constexpr uint32_t kMostWords = 1 << 17;
constexpr uint32_t kSlots = 1 << 18;

using Counts = std::unordered_map<std::string, uint64_t>;

// Words of which few are frequent and many rare, of 1 to 30 letters, with all that may stand
// between words.
std::string MakeText(size_t bytes, uint32_t seed) {
  static constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  static constexpr std::array<const char*, 8> kBetween = {" ",  " ",   " ",    " ",
                                                          ", ", ".\n", " -- ", "\xe4"};
  std::mt19937 random(seed);
  std::vector<std::string> words(20'000);
  for (std::string& word : words) {
    word.resize(1 + random() % 30);
    for (char& letter : word) letter = kLetters[random() % 52];
  }
  std::string out;
  out.reserve(bytes + 64);
  while (out.size() < bytes) {
    const double chance = static_cast<double>(random()) / 4294967296.0;
    out += words[static_cast<size_t>(chance * chance * chance * words.size())];
    out += kBetween[random() % kBetween.size()];
  }
  out.resize(bytes);
  return out;
}

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

// Where the second half begins: not within a word.
size_t MiddleOf(std::string_view text) {
  size_t at = text.size() / 2;
  while (at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

// One of the two: its text, its table of words, its memory.
struct Half {
  DeviceBytes text;
  DeviceBytes slots;
  DeviceBytes records;
  DeviceBytes used;
  DeviceBytes memory;
  std::unique_ptr<dataplane::Memory> shared;

  static absl::StatusOr<Half> Create(device::Device& device, std::string_view text,
                                     uint32_t blocks) {
    Half made;
    TD_ASSIGN_OR_RETURN(made.text, DeviceBytes::Create(device, std::max<size_t>(text.size(), 1)));
    TD_RETURN_IF_ERROR(made.text.Fill(text.data(), text.size()));
    TD_ASSIGN_OR_RETURN(made.slots, DeviceBytes::Create(device, kSlots * sizeof(uint32_t)));
    TD_ASSIGN_OR_RETURN(made.records, DeviceBytes::Create(device, kMostWords * sizeof(Record)));
    TD_ASSIGN_OR_RETURN(made.used, DeviceBytes::Create(device, 64));
    TD_ASSIGN_OR_RETURN(made.memory, DeviceBytes::Create(device, blocks * sizeof(MapMemory)));
    TD_ASSIGN_OR_RETURN(made.shared, device.NewHostMemory(blocks * sizeof(WordCounted)));
    std::memset(made.shared->window().bytes.data(), 0, blocks * sizeof(WordCounted));
    return made;
  }

  WordCounted* counted() const {
    return reinterpret_cast<WordCounted*>(shared->window().bytes.data());
  }

  WordCount ProgramFor(const Net& net, uint32_t half, uint64_t text_bytes, uint32_t blocks) const {
    WordCount program{};
    program.net = net;
    program.half = half;
    program.blocks = blocks;
    program.timeout_ns = 20'000'000'000;
    program.text = text.as<unsigned char>();
    program.text_bytes = text_bytes;
    program.table = {slots.as<uint32_t>(), kSlots, records.as<Record>(), kMostWords,
                     used.as<uint32_t>()};
    program.memory = memory.as<MapMemory>();
    program.counted = counted();
    return program;
  }

  // What it has counted.
  absl::StatusOr<Counts> Result() {
    std::vector<Record> all(kMostWords);
    TD_RETURN_IF_ERROR(records.Read(all.data(), records.as<Record>(), all.size() * sizeof(Record)));
    Counts out;
    for (const Record& record : all) {
      if (record.count == 0) continue;
      const auto* const letters = reinterpret_cast<const char*>(record.word.letters);
      const bool fresh =
          out.emplace(std::string(letters, LettersOf(record.word)), record.count).second;
      if (!fresh) return absl::InternalError("a word is in the table twice");
    }
    return out;
  }
};

class WordCountTest : public OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    Load<Listen>();
    Load<WordCount>();
    const TableShape shape{.sockets = 128, .ring_bytes = 65536};
    auto listening = Listening::Create(*device_, shape);
    ASSERT_TRUE(listening.ok()) << listening.status();
    listening_ = *std::move(listening);
    auto other = ServedTable::Create(*device_, shape);
    ASSERT_TRUE(other.ok()) << other.status();
    other_ = *std::move(other);
  }

  uint32_t blocks() const { return on_gpu() ? 48 : 2; }

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

struct Totals {
  int64_t fault = 0;
  int64_t sent = 0;
  int64_t received = 0;
};
Totals TotalsOf(const Half& half, uint32_t blocks) {
  Totals out;
  for (uint32_t i = 0; i < blocks; ++i) {
    if (out.fault == 0) out.fault = half.counted()[i].fault;
    out.sent += half.counted()[i].sent;
    out.received += half.counted()[i].received;
  }
  return out;
}

TEST_P(WordCountTest, TwoKernelsCountTogetherWhatACpuCounts) {
  const size_t bytes = std::getenv("TAPEDECK_LONG") != nullptr ? 1'000'000'000 : 4'000'000;
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

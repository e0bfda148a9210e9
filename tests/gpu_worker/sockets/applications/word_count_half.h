// One of the two halves that count words together, and the text that they count.
#pragma once

#include <array>
#include <cctype>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/gpu_worker/sockets/applications/fixture.h"
#include "tests/gpu_worker/sockets/applications/word_count.h"

namespace tapedeck::gpu_worker::sockets {

inline constexpr uint32_t kMostWords = 1 << 17;
inline constexpr uint32_t kSlots = 1 << 18;

using Counts = std::unordered_map<std::string, uint64_t>;

// Words of which few are frequent and many rare, of 1 to 30 letters, with all that may stand
// between words.
inline std::string MakeText(size_t bytes, uint32_t seed) {
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

// Where the second half begins: not within a word.
inline size_t MiddleOf(std::string_view text) {
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

struct Totals {
  int64_t fault = 0;
  int64_t sent = 0;
  int64_t received = 0;
};
inline Totals TotalsOf(const Half& half, uint32_t blocks) {
  Totals out;
  for (uint32_t i = 0; i < blocks; ++i) {
    if (out.fault == 0) out.fault = half.counted()[i].fault;
    out.sent += half.counted()[i].sent;
    out.received += half.counted()[i].received;
  }
  return out;
}

// Enough to keep a GPU busy; few on a host, where each is a thread.
inline uint32_t CountingBlocks(bool on_gpu) { return on_gpu ? 48 : 2; }

inline constexpr TableShape kCountingShape{.sockets = 128, .ring_bytes = 65536};

}  // namespace tapedeck::gpu_worker::sockets

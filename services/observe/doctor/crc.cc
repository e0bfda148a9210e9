// Whether the processor has the instructions for CRC32C.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "services/observe/doctor/checks.h"

namespace tapedeck::services::doctor {
namespace {

bool Has(const std::vector<absl::string_view>& words, absl::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void CheckCrc(const Scene& scene, const Request& /*request*/, Findings& findings) {
  const std::string text = TextIn(scene, "/proc/cpuinfo");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const bool x86 = absl::StartsWith(line, "flags");
    if (!x86 && !absl::StartsWith(line, "Features")) continue;
    const std::vector<absl::string_view> words = absl::StrSplit(line, absl::ByAnyChar(" \t:"));
    if (x86 ? Has(words, "sse4_2") && Has(words, "pclmulqdq") : Has(words, "crc32")) return;
    findings.push_back(
        Found("CRC_IN_SOFTWARE", x86 ? "/proc/cpuinfo lacks sse4_2 or pclmulqdq among its flags"
                                     : "/proc/cpuinfo lacks crc32 among its features"));
    return;
  }
}

}  // namespace tapedeck::services::doctor

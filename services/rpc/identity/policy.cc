#include "services/rpc/identity/policy.h"

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "dataplane/status_macros.h"
#include "services/rpc/identity/address_patterns.h"
#include "services/rpc/identity/tls/openssl.h"

namespace tapedeck::services::identity {
namespace {

constexpr char kEveryLun[] = "luns/*";
constexpr size_t kMostKnown = 1024;

using Parts = std::vector<absl::string_view>;

Parts PartsOf(absl::string_view name) { return absl::StrSplit(name, '/'); }

// Whether the resource is what the pattern names, or lies in it.
bool Covers(absl::string_view pattern, absl::string_view resource) {
  const Parts wanted = PartsOf(pattern);
  const Parts parts = PartsOf(resource);
  if (wanted.size() > parts.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!Matches(wanted[i], parts[i])) return false;
  }
  return true;
}

bool Reaches(const Rule& rule, const Place& place) {
  if (place.scope == Scope::kSome) return true;
  return std::ranges::any_of(rule.resources, [&](const std::string& pattern) {
    return place.scope == Scope::kAll ? pattern == kEveryLun : Covers(pattern, place.resource);
  });
}

bool IsIdPattern(absl::string_view part) {
  return !part.empty() && !absl::StrContains(part, "**") && std::ranges::all_of(part, [](char c) {
    return absl::ascii_isalnum(static_cast<uint8_t>(c)) || absl::StrContains("._-*", c);
  });
}

using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;

}  // namespace

std::vector<const Rule*> Policy::RulesOf(const std::string& identity) const {
  {
    absl::MutexLock lock(&mutex_);
    if (const auto found = known_.find(identity); found != known_.end()) return found->second;
  }
  std::vector<const Rule*> rules;
  for (const Rule& rule : rules_) {
    if (std::ranges::any_of(rule.identities, [&](const std::string& pattern) {
          return Matches(pattern, identity);
        })) {
      rules.push_back(&rule);
    }
  }
  absl::MutexLock lock(&mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  return known_[identity] = rules;
}

Policy::Grant Policy::On(const std::string& identity, const Place& place) const {
  Grant grant;
  for (const Rule* rule : RulesOf(identity)) {
    if (!Reaches(*rule, place)) continue;
    if (rule->role == Role::kWorker) {
      grant.worker = true;
    } else if (rule->role > grant.role) {
      grant.role = rule->role;
      grant.line = rule->line;
    }
  }
  return grant;
}

bool Policy::Revokes(const std::string& certificate) const {
  if (revoked_.empty()) return false;
  {
    absl::MutexLock lock(&mutex_);
    if (const auto found = seen_.find(certificate); found != seen_.end()) return found->second;
  }
  const auto serial = SerialOf(certificate);
  const bool revoked = !serial.ok() || revoked_.contains(*serial);
  absl::MutexLock lock(&mutex_);
  if (seen_.size() >= kMostKnown) seen_.clear();
  return seen_[certificate] = revoked;
}

absl::Status CheckResourcePattern(absl::string_view pattern) {
  const Parts parts = PartsOf(pattern);
  const bool lun = parts.size() >= 2 && parts[0] == "luns" && IsIdPattern(parts[1]);
  const bool channel = parts.size() == 4 && parts[2] == "channels" && IsIdPattern(parts[3]);
  if (lun && (parts.size() == 2 || channel)) return absl::OkStatus();
  if (parts.size() == 2 && parts[0] == "inlets" && IsIdPattern(parts[1])) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "not luns/PATTERN, luns/PATTERN/channels/PATTERN or inlets/PATTERN, where a pattern has "
      "letters, digits, . _ - and *");
}

absl::StatusOr<std::string> ParseSerial(absl::string_view text) {
  std::string digits = absl::AsciiStrToUpper(absl::StrReplaceAll(text, {{":", ""}}));
  const auto is_digit = [](char c) { return absl::ascii_isxdigit(static_cast<uint8_t>(c)); };
  if (digits.empty() || !std::ranges::all_of(digits, is_digit)) {
    return absl::InvalidArgumentError("not a serial number in hexadecimal");
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  if (digits.size() <= kMaxSerialDigits) return digits;
  return absl::InvalidArgumentError(absl::StrCat("longer than ", kMaxSerialDigits, " digits"));
}

absl::StatusOr<std::string> SerialOf(const std::string& certificate) {
  const Bio bio = OverText(certificate);
  const Certificate found(PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr));
  if (found == nullptr) return absl::InvalidArgumentError("no certificate in PEM form");
  const Number number(ASN1_INTEGER_to_BN(X509_get0_serialNumber(found.get()), nullptr));
  char* const text = number == nullptr ? nullptr : BN_bn2hex(number.get());
  if (text == nullptr) return absl::InvalidArgumentError("no serial number");
  const std::string digits = text;
  OPENSSL_free(text);
  return ParseSerial(digits);
}

}  // namespace tapedeck::services::identity

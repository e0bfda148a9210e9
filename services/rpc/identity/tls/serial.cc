#include "services/rpc/identity/tls/serial.h"

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "dataplane/status_macros.h"
#include "services/rpc/identity/tls/openssl.h"

namespace tapedeck::services::identity {
namespace {

using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;

}  // namespace

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

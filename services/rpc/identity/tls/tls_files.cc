#include "services/rpc/identity/tls/tls_files.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/files/input_file.h"
#include "services/rpc/identity/tls/openssl.h"

namespace tapedeck::services::identity {
namespace {

absl::StatusOr<std::string> TextOf(const std::string& path) {
  const auto text = files::ReadText(path, kMaxTlsFileBytes);
  if (!text.ok()) return TlsUnusable(path, absl::StrCat("is needed: ", text.status().message()));
  return text;
}

absl::StatusOr<std::vector<Certificate>> CertificatesIn(const std::string& path) {
  TD_ASSIGN_OR_RETURN(const std::string text, TextOf(path));
  const Bio bio = OverText(text);
  std::vector<Certificate> found;
  while (X509* const next = PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)) {
    found.emplace_back(next);
  }
  if (found.empty()) return TlsUnusable(path, "has no certificate in PEM form");
  return found;
}

absl::StatusOr<Key> KeyIn(const std::string& path) {
  TD_ASSIGN_OR_RETURN(const std::string text, TextOf(path));
  Key key(PEM_read_bio_PrivateKey(OverText(text).get(), nullptr, NoPassphrase, nullptr));
  if (key != nullptr) return key;
  return TlsUnusable(path, "has no private key in PEM form, or one with a passphrase");
}

absl::StatusOr<absl::Time> TimeOf(const std::string& path, const ASN1_TIME* time) {
  std::tm broken_down{};
  if (ASN1_TIME_to_tm(time, &broken_down) != 1) return TlsUnusable(path, "has an invalid time");
  return absl::FromTM(broken_down, absl::UTCTimeZone());
}

// When the first of them expires; refused if one is not valid at `now`.
absl::StatusOr<absl::Time> ExpiryOf(const std::string& path,
                                    const std::vector<Certificate>& certificates, absl::Time now) {
  absl::Time expires = absl::InfiniteFuture();
  for (const Certificate& certificate : certificates) {
    TD_ASSIGN_OR_RETURN(const absl::Time from,
                        TimeOf(path, X509_get0_notBefore(certificate.get())));
    TD_ASSIGN_OR_RETURN(const absl::Time until,
                        TimeOf(path, X509_get0_notAfter(certificate.get())));
    if (now > until) {
      return TlsUnusable(path, absl::StrCat("expired at ", absl::FormatTime(until)));
    }
    if (now < from) {
      return TlsUnusable(path, absl::StrCat("is valid only from ", absl::FormatTime(from), " on"));
    }
    expires = std::min(expires, until);
  }
  return expires;
}

}  // namespace

absl::Status TlsUnusable(const std::string& path, absl::string_view what) {
  return WithReason(absl::FailedPreconditionError(absl::StrCat(path, " ", what)), "TLS_UNUSABLE",
                    {{"path", path}});
}

Faults LookAtTlsFiles(const TlsFiles& files, absl::Time now, TlsFacts& facts) {
  Faults faults;
  const auto chain = CertificatesIn(files.cert);
  const auto key = KeyIn(files.key);
  AddFault(faults, chain.status());
  AddFault(faults, key.status());
  AddFault(faults, CertificatesIn(files.ca).status());
  if (chain.ok() && key.ok() && X509_check_private_key(chain->front().get(), key->get()) != 1) {
    AddFault(faults, TlsUnusable(files.key, absl::StrCat("is not the key of ", files.cert)));
  }
  if (chain.ok()) AddFault(faults, Take(ExpiryOf(files.cert, *chain, now), facts.expires));
  struct stat found {};
  facts.key_readable_by_others =
      stat(files.key.c_str(), &found) == 0 && (found.st_mode & S_IROTH) != 0;
  return faults;
}

absl::StatusOr<TlsFacts> CheckTlsFiles(const TlsFiles& files, absl::Time now) {
  TlsFacts facts;
  const Faults faults = LookAtTlsFiles(files, now, facts);
  if (!faults.empty()) return faults.front();
  return facts;
}

}  // namespace tapedeck::services::identity

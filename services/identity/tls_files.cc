#include "services/identity/tls_files.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "services/files/input_file.h"
#include "services/identity/openssl.h"

namespace tapedeck::services::identity {
namespace {

absl::StatusOr<std::string> TextOf(const std::string& path) {
  const auto text = files::ReadText(path, kMaxTlsFileBytes);
  if (!text.ok()) return TlsUnusable(path, absl::StrCat("is needed: ", text.status().message()));
  return text;
}

absl::StatusOr<std::vector<Certificate>> CertificatesIn(const std::string& path,
                                                        const std::string& text) {
  const Bio bio = OverText(text);
  std::vector<Certificate> found;
  while (X509* const next = PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)) {
    found.emplace_back(next);
  }
  if (found.empty()) return TlsUnusable(path, "has no certificate in PEM form");
  return found;
}

absl::StatusOr<absl::Time> TimeOf(const std::string& path, const ASN1_TIME* time) {
  std::tm broken_down{};
  if (ASN1_TIME_to_tm(time, &broken_down) != 1) return TlsUnusable(path, "has a time that is none");
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

absl::StatusOr<TlsFacts> CheckTlsFiles(const TlsFiles& files, absl::Time now) {
  TD_ASSIGN_OR_RETURN(const std::string cert, TextOf(files.cert));
  TD_ASSIGN_OR_RETURN(const std::string key, TextOf(files.key));
  TD_ASSIGN_OR_RETURN(const std::string ca, TextOf(files.ca));
  TD_ASSIGN_OR_RETURN(const auto chain, CertificatesIn(files.cert, cert));
  TD_RETURN_IF_ERROR(CertificatesIn(files.ca, ca).status());
  const Key secret(PEM_read_bio_PrivateKey(OverText(key).get(), nullptr, NoPassphrase, nullptr));
  if (secret == nullptr) {
    return TlsUnusable(files.key, "has no private key in PEM form, or one with a passphrase");
  }
  if (X509_check_private_key(chain.front().get(), secret.get()) != 1) {
    return TlsUnusable(files.key, absl::StrCat("is not the key of ", files.cert));
  }
  struct stat found {};
  TlsFacts facts{.key_readable_by_others =
                     stat(files.key.c_str(), &found) == 0 && (found.st_mode & S_IROTH) != 0};
  TD_ASSIGN_OR_RETURN(facts.expires, ExpiryOf(files.cert, chain, now));
  return facts;
}

}  // namespace tapedeck::services::identity

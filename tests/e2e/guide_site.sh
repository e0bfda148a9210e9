#!/usr/bin/env bash
# deploy/guide.sh writes into a new folder, an empty one and its own: every file of others stays. If mkdocs-material is not installed,
# a program stands in for mkdocs that empties the site's folder as it does.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

stand_in() {
  mkdir "$WORK/bin"
  printf '#!/bin/sh\necho installed\n' >"$WORK/bin/dpkg-query"
  cat >"$WORK/bin/mkdocs" <<'MKDOCS'
#!/usr/bin/env bash
set -e
while [[ $# -gt 0 ]]; do
  case $1 in
    --config-file) cd "$(dirname "$2")" ;;
    --site-dir) site=$2 ;;
  esac
  shift
done
mkdir -p "$site"
find "$site" -mindepth 1 -maxdepth 1 ! -name '.*' -exec rm -rf {} +
mkdir "$site/assets"
cp pages/index.md "$site/index.html"
echo "$PAGE_OF_TEST" >"$site/assets/$PAGE_OF_TEST.js"
MKDOCS
  chmod +x "$WORK/bin/dpkg-query" "$WORK/bin/mkdocs"
  PATH=$WORK/bin:$PATH
}

# builds DIR: it says where the site is.
builds() {
  local said
  said=$("$TAPEDECK_ROOT/deploy/guide.sh" "$1" 2>"$WORK/guide.log") || fail "into $1: $(cat "$WORK/guide.log")"
  [[ $said == "$1/index.html" && -s $1/index.html ]] || fail "no site in $1: $said"
}

# refuses DIR: by its name, and says what to do.
refuses() {
  ! "$TAPEDECK_ROOT/deploy/guide.sh" "$1" >"$WORK/guide.log" 2>&1 || fail "a site goes into $1: $(ls -A "$1")"
  [[ $(<"$WORK/guide.log") == *"$1 "*"name a new or empty folder"* ]] || fail "of $1 it says: $(cat "$WORK/guide.log")"
}

spares_others() {
  local place
  mkdir -p "$WORK/others/sub" "$WORK/hidden"
  echo mine | tee "$WORK/others/sub/thesis.tex" "$WORK/others/index.html" "$WORK/hidden/.mine" >"$WORK/file"
  ln -s "$WORK/nowhere" "$WORK/link"
  for place in others hidden file link; do refuses "$WORK/$place"; done
  cat "$WORK/others/sub/thesis.tex" "$WORK/others/index.html" "$WORK/hidden/.mine" "$WORK/file" | cmp - <(yes mine | head -n 4) || fail "it changes files of others"
  [[ ! -e $WORK/nowhere ]] || fail "it follows a link"
}

writes_and_renews() {
  mkdir "$WORK/empty"
  cd "$WORK" || fail "no $WORK"
  for place in "$WORK/new" "$WORK/empty" relative/site; do builds "$place"; done
  echo mine >"$WORK/new/thesis.tex"
  PAGE_OF_TEST=renewed builds "$WORK/new"
  [[ $(<"$WORK/new/thesis.tex") == mine ]] || fail "a file beside the site is gone"
  [[ -z $STAND_IN || ! -e $WORK/new/assets/first.js && -e $WORK/new/assets/renewed.js ]] || fail "old files of the site stay"
}

begin_test
export PAGE_OF_TEST=first
STAND_IN=
[[ $(dpkg-query -W -f='${db:Status-Status}' mkdocs-material 2>/dev/null) == installed ]] || STAND_IN=yes
[[ -z $STAND_IN ]] || stand_in
spares_others
writes_and_renews

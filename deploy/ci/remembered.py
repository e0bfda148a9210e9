"""What a check of a compiler without objects remembers: of each group of files that is right, the hashes of all that it read. A
compiler cache remembers only what makes an object."""
import functools
import hashlib
import os
import pathlib
import time

CACHES = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
KEPT_SECONDS = 30 * 24 * 3600


@functools.cache
def hash_of(path):
    """Of a file's bytes; of one that is not there, nothing."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


class Remembered:
    """In ~/.cache/NAME, for every clone: `setting` is all but the files that the result depends on."""

    def __init__(self, name, root, setting):
        self.folder, self.root = CACHES / name, root
        self.setting = setting.replace(str(root), "ROOT")

    def _note(self, part):
        return self.folder / hashlib.sha256("\n".join([self.setting, *part]).encode()).hexdigest()

    def is_known(self, part):
        """Whether the part, a list of names, was right with the files as they are."""
        try:
            lines = self._note(part).read_text().splitlines()
        except OSError:
            return False
        right = all(hash_of(self.root / path) == found for found, path in (line.split(" ", 1) for line in lines))
        if right:
            os.utime(self._note(part))
        return right

    def remember(self, part, read):
        """It is right, having read these files."""
        lines = {f"{hash_of(path)} {os.path.relpath(path, self.root) if path.is_relative_to(self.root) else path}\n" for path in read}
        self.folder.mkdir(parents=True, exist_ok=True)
        written = self._note(part).with_suffix(f".{os.getpid()}")
        written.write_text("".join(sorted(lines)))
        written.rename(self._note(part))

    def forget_old(self):
        """What nobody has asked for in a month."""
        for path in self.folder.glob("*"):
            if time.time() - path.stat().st_mtime > KEPT_SECONDS:
                path.unlink()

"""What a check of a compiler without objects remembers: of each group of files that is right, the hashes of all that it read. A
compiler cache remembers only what makes an object."""
import functools
import hashlib
import os
import pathlib
import threading
import time

CACHES = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
KEPT_SECONDS = 30 * 24 * 3600
NOTE = "note"  # in place of a file's hash: all of another note


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

    @functools.cache
    def _holds(self, note):
        """Whether the files that a note names are as they were; those of a note that it names, too."""
        try:
            lines = note.read_text().splitlines()
        except OSError:
            return False
        right = all(self._holds(self.folder / path) if found == NOTE else hash_of(self.root / path) == found
                    for found, path in (line.split(" ", 1) for line in lines))
        if right:
            os.utime(note)
        return right

    def _write(self, note, lines):
        self.folder.mkdir(parents=True, exist_ok=True)
        written = note.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        written.write_text("".join(sorted(lines)))
        written.rename(note)

    def _lines(self, read):
        return {f"{hash_of(path)} {os.path.relpath(path, self.root) if path.is_relative_to(self.root) else path}\n" for path in read}

    def is_known(self, part):
        """Whether the part, a list of names, was right with the files as they are."""
        return self._holds(self._note(part))

    def remember_files(self, read):
        """A note of files that many parts have read, for `remember`."""
        lines = self._lines(read)
        name = hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()
        self._write(self.folder / name, lines)
        return name

    def remember(self, part, read, notes=()):
        """It is right, having read these files and those of these notes."""
        self._write(self._note(part), self._lines(read) | {f"{NOTE} {name}\n" for name in notes})

    def forget_old(self):
        """What nobody has asked for in a month."""
        for path in self.folder.glob("*"):
            if time.time() - path.stat().st_mtime > KEPT_SECONDS:
                path.unlink()

"""An object store in memory, as fsspec shows one: what the archive asks of it, and no more."""

from fnmatch import fnmatch
from pathlib import Path

WRITTEN = 1_767_225_600.5  # 2026-01-01, in seconds since 1970


class Bucket:
    """Objects by their key; `folders` are listed as an object store lists common beginnings."""

    def __init__(self, *folders):
        self.objects, self.folders, self.listed = {}, folders, {}

    def at(self, url):
        """As `filesystem_of`: itself, and the path in it."""
        return self, url.split("://", 1)[1]

    def invalidate_cache(self):
        """As a client of a store keeps what it listed, whoever writes there meanwhile."""
        self.listed = {}

    def _listing(self, key, contents=b""):
        kind = "directory" if key in self.folders else "file"
        return {"name": key, "size": None if kind == "directory" else len(contents), "type": kind, "mtime": WRITTEN}

    def ls(self, root, detail):
        assert detail
        names = [key for key in (*self.objects, *self.folders) if key.startswith(f"{root}/")]
        if not names:
            raise FileNotFoundError(root)
        return self.listed.setdefault(root, [self._listing(key, self.objects.get(key, b"")) for key in names])

    def glob(self, pattern, detail):
        assert detail
        names = [key for key in (*self.objects, *self.folders) if fnmatch(key, pattern.replace("**/", "*"))]
        return {key: self._listing(key, self.objects.get(key, b"")) for key in names}

    def cat_file(self, key):
        return self.objects[key]

    def get_file(self, key, path):
        Path(path).write_bytes(self.objects[key])

    def put_file(self, path, key):
        self.objects[key] = Path(path).read_bytes()

    def rm_file(self, key):
        if key not in self.objects:
            raise FileNotFoundError(key)
        del self.objects[key]

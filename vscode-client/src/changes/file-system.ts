import { Disposable, FileSystemError, type Uri } from "vscode";

/** What the file systems of proposals have in common: files only, which are neither created, renamed nor deleted. */
export abstract class FileSystem {
  watch(): Disposable {
    // Changes are reported whether or not anything watches.
    return new Disposable(() => undefined);
  }
  readDirectory(uri: Uri): never {
    throw FileSystemError.FileNotADirectory(uri);
  }
  createDirectory(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }
  delete(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }
  rename(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }
}

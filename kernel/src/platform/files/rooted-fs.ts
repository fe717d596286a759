import { createHash } from "node:crypto";
import {
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  type Stats,
} from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import {
  isLaresError,
  limitExceeded,
  messageOf,
  notFound,
  stale,
  storageError,
  systemCode,
} from "../../base/errors.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import { failpoint } from "../failpoint.ts";
import {
  checkingOpener,
  descriptorOpener,
  linkInTheWay,
  namesOf,
  type FolderOpener,
  type HeldFolder,
} from "./rooted-fs-folders.ts";
import { fileStat, pathOccupied, kindOf, statOf, translated, type FileStat } from "./rooted-fs-results.ts";
import { setModifiedTime } from "./rooted-fs-times.ts";

export type { FileStat } from "./rooted-fs-results.ts";

export type FileContent = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * All access to files beneath one folder, never through a link. Paths are canonical: relative, "/" between names,
 * "." for the root.
 *
 * Errors: ScopeViolation if a path meets a link or `.git`, NotFound if there is nothing to work on, Stale if
 * something is in the way, StorageError with the system's message for the rest. Changes of names are one system
 * call each and are done when the call returns; `syncFolder` makes them survive a power cut.
 */
export interface RootedFs extends Disposable {
  /** Absolute, with links resolved. */
  readonly root: string;
  /** Returns the facts of the name itself, not of a link's target; null if nothing exists there. */
  stat(path: string): Promise<FileStat | null>;
  readFile(path: string, options: { maxBytes: number }): Promise<Uint8Array>;
  readRange(path: string, offset: number, length: number): Promise<{ bytes: Uint8Array; eof: boolean }>;
  /** Null if there is no file. Rejects with the signal's reason when the signal is aborted. */
  hashFile(path: string, signal?: AbortSignal): Promise<Hash | null>;
  /** Not sorted. Names that are not valid UTF-8 are omitted and reported. */
  list(path: string): Promise<{ name: string; kind: FileStat["kind"] }[]>;
  /** Yields the file in pieces of at most 1 MiB. */
  readStream(path: string): AsyncGenerator<Uint8Array, void, void>;

  /** Creates a file, which is on the disk when it resolves; Stale if the name is taken. */
  writeNew(path: string, content: FileContent, options?: NewFileOptions): Promise<FileStat>;
  /** Creates a hard link; Stale if the name is taken. Returns false if the file system has no hard links. */
  link(from: string, to: string): Promise<boolean>;
  /** Renames `from` to `to` in one step, replacing a file there. */
  replace(from: string, to: string): Promise<void>;
  /**
   * Stale if the name `to` is taken. A file first gets its new name as a hard link, which fails if the name is
   * taken; for a folder, or without hard links, the name is checked immediately before.
   */
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  mkdir(path: string): Promise<void>;
  /** Returns false, and changes nothing, if the folder is not empty. */
  rmdir(path: string): Promise<boolean>;
  /** Waits until changes of names in this folder are on the disk. */
  syncFolder(path: string): Promise<void>;
}

export interface NewFileOptions {
  /** Permission bits; default 0o666 minus the process's umask. */
  readonly mode?: number;
  readonly mtimeMs?: number;
}

interface RootedFsOptions {
  /** Receives names that cannot be represented. */
  readonly report?: (message: string, fields: Readonly<Record<string, unknown>>) => void;
  /** False tests the implementation for other systems. */
  readonly descriptors?: boolean;
}

const chunkBytes = 1048576;
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** Throws StorageError if the root cannot be opened or is not a folder. */
export async function openRootedFs(root: string, options: RootedFsOptions = {}): Promise<RootedFs> {
  const useDescriptors = options.descriptors ?? process.platform === "linux";
  try {
    const real = realpathSync(root);
    if (!lstatSync(real).isDirectory()) throw new Error("it is not a folder");
    return new DescriptorFs(real, useDescriptors ? descriptorOpener(real) : checkingOpener(real), options);
  } catch (error) {
    throw storageError(`The folder ${JSON.stringify(root)} cannot be opened: ${messageOf(error)}`, error);
  }
}

class DescriptorFs implements RootedFs {
  readonly root: string;
  readonly #folders: FolderOpener;
  readonly #report: NonNullable<RootedFsOptions["report"]>;

  constructor(root: string, folders: FolderOpener, options: RootedFsOptions) {
    this.root = root;
    this.#folders = folders;
    this.#report = options.report ?? (() => {});
  }

  [Symbol.dispose](): void {
    this.#folders[Symbol.dispose]();
  }

  async stat(path: string): Promise<FileStat | null> {
    const names = namesOf(path);
    const name = names.pop() ?? ".";
    using folder = this.#folders.open(names, path);
    try {
      return folder === null ? null : statOf(folder.at(name));
    } catch (error) {
      throw translated(path, error);
    }
  }

  async readFile(path: string, { maxBytes }: { maxBytes: number }): Promise<Uint8Array> {
    return this.#withFile(path, async (file, stats) => {
      if (stats.size > maxBytes) {
        throw limitExceeded(
          "maxBytes",
          stats.size,
          `${JSON.stringify(path)} has ${stats.size} bytes; at most ${maxBytes} are read at once.`,
        );
      }
      // Reads one byte more than the size, so that growth is noticed instead of cut off.
      const buffer = new Uint8Array(Math.min(maxBytes, stats.size) + 1);
      let length = 0;
      while (length < buffer.length) {
        const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
        if (bytesRead === 0) return buffer.subarray(0, length);
        length += bytesRead;
      }
      throw stale(path, `${JSON.stringify(path)} grew while it was read; read it again.`);
    });
  }

  async readRange(
    path: string,
    offset: number,
    length: number,
  ): Promise<{ bytes: Uint8Array; eof: boolean }> {
    return this.#withFile(path, async (file, stats) => {
      const buffer = new Uint8Array(Math.max(0, Math.min(length, stats.size - offset)));
      let read = 0;
      while (read < buffer.length) {
        const { bytesRead } = await file.read(buffer, read, buffer.length - read, offset + read);
        if (bytesRead === 0) break;
        read += bytesRead;
      }
      return { bytes: buffer.subarray(0, read), eof: offset + read >= stats.size };
    });
  }

  async hashFile(path: string, signal?: AbortSignal): Promise<Hash | null> {
    if ((await this.stat(path))?.kind !== "file") return null;
    const hash = createHash("sha256");
    try {
      for await (const bytes of this.readStream(path)) {
        signal?.throwIfAborted();
        hash.update(bytes);
      }
    } catch (error) {
      if (isLaresError(error, "NotFound")) return null;
      throw error;
    }
    return `sha256:${hash.digest("hex")}`;
  }

  async *readStream(path: string): AsyncGenerator<Uint8Array, void, void> {
    const { file } = await this.#openFile(path);
    try {
      for (;;) {
        const { buffer, bytesRead } = await file.read(new Uint8Array(chunkBytes), 0, chunkBytes, null);
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }

  async list(path: string): Promise<{ name: string; kind: FileStat["kind"] }[]> {
    using folder = this.#hold(path, namesOf(path));
    const found: { name: string; kind: FileStat["kind"] }[] = [];
    for (const entry of readdirSync(folder.at("."), { withFileTypes: true, encoding: "buffer" })) {
      const name = entry.name.toString("utf8");
      if (Buffer.from(name, "utf8").equals(entry.name)) found.push({ name, kind: kindOf(entry) });
      else this.#report("A name that is not valid UTF-8 was left out.", { folder: path, name });
    }
    return found;
  }

  async writeNew(path: string, content: FileContent, options: NewFileOptions = {}): Promise<FileStat> {
    return this.#changing(path, async (folder, name) => {
      const file = await open(folder.at(name), createFlags, 0o666);
      failpoint("staging.file.created");
      try {
        if (content instanceof Uint8Array) await writeAll(file, content);
        else for await (const bytes of content) await writeAll(file, bytes);
        if (options.mode !== undefined) await file.chmod(options.mode);
        if (options.mtimeMs !== undefined) await setModifiedTime(file, options.mtimeMs);
        failpoint("staging.file.written");
        await file.sync();
        failpoint("staging.file.synced");
        return fileStat(await file.stat());
      } finally {
        await file.close();
      }
    });
  }

  async link(from: string, to: string): Promise<boolean> {
    return this.#changing(from, (source, sourceName) =>
      this.#changing(to, (target, targetName) => tryLink(source.at(sourceName), target.at(targetName))),
    );
  }

  async replace(from: string, to: string): Promise<void> {
    await this.#changing(from, (source, sourceName) =>
      this.#changing(to, (target, targetName) => renameSync(source.at(sourceName), target.at(targetName))),
    );
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#changing(from, (source, sourceName) =>
      this.#changing(to, (target, targetName) => {
        const [old, wanted] = [source.at(sourceName), target.at(targetName)];
        const found = statOf(old);
        if (found === null) throw notFound("file", from);
        if (found.kind === "file" && tryLink(old, wanted)) {
          failpoint("actions.within-step");
          return unlinkSync(old);
        }
        if (statOf(wanted) !== null) throw pathOccupied(to);
        return renameSync(old, wanted);
      }),
    );
  }

  async unlink(path: string): Promise<void> {
    await this.#changing(path, (folder, name) => unlinkSync(folder.at(name)));
  }

  async mkdir(path: string): Promise<void> {
    await this.#changing(path, (folder, name) => mkdirSync(folder.at(name)));
  }

  async rmdir(path: string): Promise<boolean> {
    return this.#changing(path, (folder, name) => {
      try {
        rmdirSync(folder.at(name));
        return true;
      } catch (error) {
        if (systemCode(error) === "ENOTEMPTY" || systemCode(error) === "EEXIST") return false;
        throw error;
      }
    });
  }

  async syncFolder(path: string): Promise<void> {
    using folder = this.#hold(path, namesOf(path));
    if (folder.descriptor === null && process.platform === "win32") return; // folders cannot be synced there
    const handle = await open(folder.at("."), constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  async #changing<Result>(
    path: string,
    run: (folder: HeldFolder, name: string) => Result | Promise<Result>,
  ): Promise<Result> {
    const names = namesOf(path);
    const name = names.pop();
    if (name === undefined) throw storageError("The workspace's own folder is not changed.");
    using folder = this.#hold(path, names);
    try {
      return await run(folder, name);
    } catch (error) {
      throw translated(path, error);
    }
  }

  #hold(path: string, names: readonly string[]): HeldFolder {
    const folder = this.#folders.open(names, path);
    if (folder === null) throw notFound("folder", names.length === 0 ? path : names.join("/"));
    return folder;
  }

  async #openFile(path: string): Promise<{ readonly file: FileHandle; readonly stats: Stats }> {
    const names = namesOf(path);
    const name = names.pop();
    if (name === undefined) throw notFound("file", path);
    using folder = this.#folders.open(names, path);
    if (folder === null) throw notFound("file", path);
    let file: FileHandle;
    try {
      file = await open(folder.at(name), readFlags);
    } catch (error) {
      throw translated(path, error);
    }
    const stats = await file.stat();
    const seen = folder.descriptor === null ? statOf(folder.at(name)) : null;
    // Without descriptors: checks that the opened file still has the name and is not a link.
    const swapped =
      folder.descriptor === null &&
      (seen === null || seen.inode !== String(stats.ino) || seen.kind === "link");
    if (stats.isFile() && !swapped) return { file, stats };
    await file.close();
    throw swapped ? linkInTheWay(path) : notFound("file", path);
  }

  async #withFile<Result>(
    path: string,
    run: (file: FileHandle, stats: Stats) => Promise<Result>,
  ): Promise<Result> {
    const { file, stats } = await this.#openFile(path);
    try {
      return await run(file, stats);
    } finally {
      await file.close();
    }
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length)
    written += (await file.write(bytes, written, bytes.length - written)).bytesWritten;
}

function tryLink(old: string, wanted: string): boolean {
  try {
    linkSync(old, wanted);
    return true;
  } catch (error) {
    if (noHardLinks.has(systemCode(error))) return false;
    throw error;
  }
}

const noHardLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { storageError } from "../../base/errors.ts";

/** What one lstat tells about a name in a folder. */
export interface Observation {
  readonly kind: "file" | "folder" | "other";
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970, exact to the microsecond. */
  readonly mtimeMs: number;
  readonly birthtimeMs: number;
  /** Folded into what a double holds exactly; on the file systems of Linux and macOS that is the number itself. */
  readonly inode: number;
  readonly device: number;
}

/**
 * A folder held open. Everything goes through its descriptor where the platform allows (Linux), so a
 * folder that is swapped for a link after it was opened is not followed.
 */
export interface OpenFolder extends Disposable {
  /** A path that names this very folder as long as it is open; for a watch. */
  readonly handle: string;
  /** The names in it, in no particular order; null when they cannot be read. */
  names(): readonly string[] | null;
  /**
   * Null when there is nothing of that name (any more), "unreadable" when nobody may tell. A link is
   * "other": it is never followed.
   */
  observe(name: string): Observation | null | "unreadable";
  /** Null when it is missing, not a folder, a link, or may not be read. */
  openFolder(name: string): OpenFolder | null;
  /**
   * Reads a small file in it. Null when it is missing, a folder, a pipe or a device; "unreadable" when it is a link, is
   * larger than `maxBytes` or may not be read.
   */
  readBytes(name: string, maxBytes: number): Uint8Array | null | "unreadable";
}

/** Reads folders beneath one root quickly and synchronously, for the index. */
export interface FolderReader {
  /** Absolute, with links resolved. */
  readonly root: string;
  /** Whether the file system of the root takes names that differ in case for one. Always true on macOS and Windows. */
  readonly foldsCase: boolean;
  /** Whether this is the root: what has its place since then is not, until `renew`. */
  isRoot(facts: Pick<Observation, "inode" | "device">): boolean;
  /** What has the root's place now; "other" is another folder than the root. */
  rootState(): "root" | "other" | "missing";
  /** Names in what has the root's place now. */
  namesAtRoot(): readonly string[];
  /** The folder that has the root's place now is the root from here on; without one nothing changes. */
  renew(): void;
  /**
   * Opens a folder by its components from the root; null as in `OpenFolder.openFolder`, and where another folder has the
   * root's place: nothing is taken for missing because a disk is not there. It stays open until
   * `release`, and so do those above it: the next folder beside it is opened from there. So a caller works
   * synchronously, and releases before it lets others run.
   */
  open(components: readonly string[]): OpenFolder | null;
  /**
   * `observe` for many names in the folder that was opened last, at a lower price: by path, which is a third
   * faster than by descriptor, as long as it is certain that no folder on the path changed meanwhile.
   */
  observeAll(names: readonly string[]): readonly (Observation | null | "unreadable")[];
  /** Closes what `open` holds open. */
  release(): void;
}

/** A folder that changed less long ago than this may change again without its times showing it: they have steps. */
export const steadyAfterMs = 100;

const folderFlags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
const fileFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Throws StorageError when `root` is not a folder that can be read. */
export function openFolderReader(
  root: string,
  onUnreadable: (path: string, reason: string) => void,
): FolderReader {
  let real: string;
  let own: Observation;
  try {
    real = realpathSync(root);
    own = observationOf(lstatSync(real));
    if (own.kind !== "folder") throw new Error("it is not a folder");
  } catch (error) {
    throw storageError(`The workspace folder "${root}" cannot be opened: ${String(error)}.`, error);
  }
  const openAt = (path: string): HeldFolder | null => {
    const usesDescriptors = process.platform === "linux";
    if (!usesDescriptors) {
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found?.isDirectory() === true ? folderAt(path, null) : null;
    }
    const descriptor = tolerating(() => openSync(path, folderFlags), path);
    return descriptor === null ? null : folderAt(`/proc/self/fd/${descriptor}`, descriptor);
  };
  const folderAt = (handle: string, descriptor: number | null): HeldFolder => {
    const prefix = `${handle}/`;
    return {
      handle,
      descriptor,
      names: () => tolerating(() => readdirSync(prefix), handle),
      observe: (name) => observeAt(prefix + name),
      openFolder: (name) => openAt(prefix + name),
      readBytes: (name, maxBytes) =>
        tolerating<Uint8Array | null | "unreadable">(
          () => {
            const opened = openSync(prefix + name, fileFlags);
            try {
              const stats = fstatSync(opened);
              if (!stats.isFile()) return null;
              if (stats.size > maxBytes) return "unreadable";
              const bytes = new Uint8Array(stats.size);
              return bytes.subarray(0, readSync(opened, bytes, 0, bytes.length, 0));
            } finally {
              closeSync(opened);
            }
          },
          prefix + name,
          "unreadable",
          (code) => code === "ELOOP",
        ),
      [Symbol.dispose]: () => {
        if (descriptor !== null) closeSync(descriptor);
      },
    };
  };
  /** Null for what may happen to any path at any time: gone, a link now, not a folder; `otherwise` for what may not be read. */
  const tolerating = <T>(
    read: () => T,
    path: string,
    otherwise: T | null = null,
    isRefusal: (code: string) => boolean = () => false,
  ): T | null => {
    try {
      return read();
    } catch (error) {
      const code = codeOf(error);
      if (isRefusal(code)) return otherwise;
      if (vanished.has(code)) return null;
      onUnreadable(path, code);
      return otherwise;
    }
  };
  const isRoot: FolderReader["isRoot"] = ({ inode, device }) => inode === own.inode && device === own.device;
  const atRoot = (): Observation | null => {
    const found = observeAt(real);
    return found !== null && found !== "unreadable" && found.kind === "folder" ? found : null;
  };
  const openRoot = (): HeldFolder | null => {
    const folder = openAt(real);
    if (folder === null) return null;
    const found = folder.descriptor === null ? atRoot() : observationOf(fstatSync(folder.descriptor));
    if (found !== null && isRoot(found)) return folder;
    folder[Symbol.dispose]();
    return null;
  };
  const held: { readonly name: string; readonly folder: HeldFolder }[] = [];
  const closeFrom = (depth: number): void => {
    for (const { folder } of held.splice(depth).toReversed()) folder[Symbol.dispose]();
  };
  return {
    root: real,
    foldsCase: foldsCaseAt(real),
    isRoot,
    rootState: () => {
      const found = atRoot();
      return found === null ? "missing" : isRoot(found) ? "root" : "other";
    },
    namesAtRoot: () => (atRoot() === null ? [] : (tolerating(() => readdirSync(real), real) ?? [])),
    renew: () => {
      own = atRoot() ?? own;
    },
    open: (components) => {
      let shared = 0;
      // The first one held is the root itself, under no name.
      while (shared < components.length && held[shared + 1]?.name === components[shared]) shared++;
      closeFrom(shared + 1);
      if (held.length === 0) {
        const folder = openRoot();
        if (folder === null) return null;
        held.push({ name: "", folder });
      }
      for (const name of components.slice(shared)) {
        const folder: HeldFolder | null = held.at(-1)?.folder.openFolder(name) ?? null;
        if (folder === null) return null;
        held.push({ name, folder });
      }
      return held.at(-1)?.folder ?? null;
    },
    observeAll: (names) => {
      const folder = held.at(-1)?.folder;
      if (folder === undefined) return names.map(() => null);
      const path = [real, ...held.slice(1).map(({ name }) => name)].join("/");
      const before = changeTimes(held);
      if (before !== null) {
        const seen = names.map((name) => observeAt(`${path}/${name}`));
        const after = changeTimes(held);
        if (before.every((time, at) => time === after?.[at]) && leadsTo(path, folder)) return seen;
      }
      return names.map((name) => folder.observe(name));
    },
    release: () => closeFrom(0),
  };
}

/**
 * Looks for the folder under its name in the other case. Only on Linux is a file system that folds case the exception: there
 * a folder whose name has no letters is taken for one that does not.
 */
function foldsCaseAt(path: string): boolean {
  const name = basename(path);
  const upper = name.toUpperCase();
  const twin = upper === name ? name.toLowerCase() : upper;
  if (twin === name || process.platform !== "linux") return process.platform !== "linux";
  const [own, other] = [path, join(dirname(path), twin)].map((at) =>
    lstatSync(at, { throwIfNoEntry: false }),
  );
  return own !== undefined && other !== undefined && own.ino === other.ino && own.dev === other.dev;
}

interface HeldFolder extends OpenFolder {
  readonly descriptor: number | null;
  openFolder(name: string): HeldFolder | null;
}

/**
 * When each of these folders last changed. Where all say the same before and after, no name in any of them led
 * elsewhere in between. Null when that cannot be told.
 */
function changeTimes(held: readonly { readonly folder: HeldFolder }[]): number[] | null {
  const youngest = Date.now() - steadyAfterMs;
  const times: number[] = [];
  for (const { folder } of held) {
    if (folder.descriptor === null) return null;
    const { ctimeMs } = fstatSync(folder.descriptor);
    if (ctimeMs > youngest) return null;
    times.push(ctimeMs);
  }
  return times;
}

function leadsTo(path: string, { descriptor }: HeldFolder): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || descriptor === null) return false;
  const { ino, dev } = fstatSync(descriptor);
  return found.ino === ino && found.dev === dev;
}

function observeAt(path: string): Observation | null | "unreadable" {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined ? null : observationOf(stats);
  } catch (error) {
    return vanished.has(codeOf(error)) ? null : "unreadable";
  }
}

const vanished = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ESTALE", "ENAMETOOLONG", "ENXIO"]);

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

function observationOf(stats: Stats): Observation {
  const isFile = stats.isFile();
  return {
    kind: isFile ? "file" : stats.isDirectory() ? "folder" : "other",
    size: isFile ? stats.size : 0,
    mtimeMs: Math.round(stats.mtimeMs * 1000) / 1000,
    birthtimeMs: Math.round(stats.birthtimeMs * 1000) / 1000,
    inode: stats.ino % 2 ** 53,
    device: stats.dev % 2 ** 53,
  };
}

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

/** The facts that one lstat returns for a name in a folder. */
export interface Observation {
  readonly kind: "file" | "folder" | "other";
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970, with a precision of microseconds. */
  readonly mtimeMs: number;
  readonly birthtimeMs: number;
  /** Folded to a value that a double represents exactly; on Linux and macOS it is the number itself. */
  readonly inode: number;
  readonly device: number;
}

/**
 * An open folder. Where the platform allows it (Linux), all access goes through its descriptor, so a link that
 * replaces the folder after it was opened is not followed.
 */
export interface OpenFolder extends Disposable {
  /** A path that names exactly this folder while it is open; for a watch. */
  readonly handle: string;
  /** The names in the folder, in no particular order; null if they cannot be read. */
  names(): readonly string[] | null;
  /** Null if nothing has this name (any more), "unreadable" if access is refused. A link is "other", never followed. */
  observe(name: string): Observation | null | "unreadable";
  /** Null if it is missing, not a folder, a link, or not readable. */
  openFolder(name: string): OpenFolder | null;
  /**
   * Reads a small file in the folder. Null if it is missing, a folder, a pipe or a device; "unreadable" if it is a
   * link, larger than `maxBytes` or not readable.
   */
  readBytes(name: string, maxBytes: number): Uint8Array | null | "unreadable";
}

/** Reads folders beneath one root quickly and synchronously, for the index. */
export interface FolderReader {
  /** Absolute, with links resolved. */
  readonly root: string;
  /** Whether the root's file system ignores case in names. Always true on macOS and Windows. */
  readonly foldsCase: boolean;
  /** Returns true for the root itself. A folder that has replaced it does not count until `renew`. */
  isRoot(facts: Pick<Observation, "inode" | "device">): boolean;
  /** Returns what is at the root's path now; "other" is another folder than the root. */
  rootState(): "root" | "other" | "missing";
  /** Returns the names in whatever folder is at the root's path now. */
  namesAtRoot(): readonly string[];
  /** Makes the folder that is now at the root's path the root; does nothing if there is none. */
  renew(): void;
  /**
   * Opens a folder by its components from the root. Returns null as `OpenFolder.openFolder` does, and if another
   * folder is at the root's path, so that nothing counts as missing because a disk is unmounted. The folder and its
   * parents stay open until `release`, so that its siblings open faster. The caller must work synchronously and
   * release before it yields.
   */
  open(components: readonly string[]): OpenFolder | null;
  /**
   * `observe` for many names in the folder that was opened last, but faster: it uses paths instead of descriptors
   * while it is certain that no folder on the path changes.
   */
  observeAll(names: readonly string[]): readonly (Observation | null | "unreadable")[];
  /** Closes everything that `open` holds open. */
  release(): void;
}

/**
 * A folder that changed more recently than this may change again without a visible change of its times, which have
 * a limited resolution.
 */
export const steadyAfterMs = 100;

const folderFlags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
const fileFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Throws StorageError if `root` is not a readable folder. */
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
  /**
   * Returns null for errors that may occur at any path at any time: removed, replaced by a link, not a folder.
   * Returns `otherwise` if access is refused.
   */
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
      // The first held folder is the root itself, without a name.
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
 * Looks for the folder under its name in the other case. Only on Linux are case-insensitive file systems an
 * exception; there, a name without letters counts as case-sensitive.
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
 * Returns the change times of these folders. If they are equal before and after, no name in any of them led
 * elsewhere in between. Null if that cannot be determined.
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

import { unlessAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { systemCode } from "../base/errors.ts";
import type { ModelSource } from "../base/vocabulary/declared-model.ts";
import { waitUnlessAborted } from "../base/wait.ts";
import type { EgressAnswer } from "../egress/client/answer.ts";
import { filesIn, markUsed, moveFile, removeFile, sizeOfFile } from "../platform/files/cached-files.ts";
import { sha256File } from "../platform/files/hash.ts";
import { join } from "../platform/files/paths.ts";
import { makePrivateFolder } from "../platform/files/state-folder.ts";
import { acquireLock } from "../platform/processes/lock.ts";
import { downloadModel } from "./download.ts";

interface ModelRequest {
  readonly source: ModelSource;
  /** The agent, as the trace of the request names it. */
  readonly who: string;
  readonly fromByte: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

interface StorePorts {
  /** The cache's folders that lead to the store's, outermost first. Each is private to the user. */
  readonly folders: readonly string[];
  readonly clock: Clock;
  /** Sends a request through the egress host. Rejects with EgressError. */
  request(request: ModelRequest): Promise<EgressAnswer>;
}

export interface FetchOptions {
  readonly who: string;
  readonly signal: AbortSignal;
  /** Called with the first byte of a download, and with each further piece. */
  received?(bytes: number): void;
}

interface StoredModel {
  readonly path: string;
  /** False if it was there already. */
  readonly fetched: boolean;
}

export type ModelState =
  | { readonly state: "fetched"; readonly bytes: number }
  /** A download broke off. */
  | { readonly state: "partial"; readonly bytes: number }
  | { readonly state: "missing"; readonly bytes: 0 };

/** The models that one user keeps; if a new one does not fit, those that were not used for longest are removed. */
const maxStoreBytes = 20 * 1024 * 1024 * 1024;
/** Parts of broken downloads and unused locks are removed after this time. */
const leftoverAfterMs = 14 * 24 * 60 * 60_000;
/** How often a download of another process is looked at. */
const waitMs = 250;
/** A model's time of use is written at most once in this time. */
const useGranularityMs = 60 * 60_000;

const fileOf = (sha256: string): string => `${sha256}.onnx`;
const partOf = (sha256: string): string => `${sha256}.part`;
const lockOf = (sha256: string): string => `${sha256}.lock`;

interface Download {
  readonly work: Promise<StoredModel>;
  readonly aborter: AbortController;
  readonly receivers: Set<(bytes: number) => void>;
  waiting: number;
}

/** The models of extensions in the user's cache, named by their SHA-256 alone: what has another digest is another model. */
export class ModelStore {
  readonly #ports: StorePorts;
  readonly #downloads = new Map<string, Download>();

  constructor(ports: StorePorts) {
    this.#ports = ports;
  }

  get folder(): string {
    return this.#ports.folders.at(-1) ?? "";
  }

  /** Creates the folder, so that a process may be permitted to read it. */
  async prepare(): Promise<void> {
    for (const folder of this.#ports.folders) await makePrivateFolder(folder);
  }

  async stateOf({ sha256 }: ModelSource): Promise<ModelState> {
    const whole = await this.#sizeOf(fileOf(sha256));
    if (whole !== null) return { state: "fetched", bytes: whole };
    const part = await this.#sizeOf(partOf(sha256));
    return part === null || part === 0 ? { state: "missing", bytes: 0 } : { state: "partial", bytes: part };
  }

  /**
   * Returns the model's path, after fetching it if it is missing. Concurrent callers share one download, which is cancelled
   * once none of them waits any more; the part that arrived is kept for the next one. Rejects as `downloadModel`, or with the
   * signal's reason.
   */
  async fetch(source: ModelSource, { who, signal, received }: FetchOptions): Promise<StoredModel> {
    signal.throwIfAborted();
    const path = join(this.folder, fileOf(source.sha256));
    if ((await this.#sizeOf(fileOf(source.sha256))) !== null) {
      await markUsed(path, this.#ports.clock.now(), useGranularityMs);
      return { path, fetched: false };
    }
    const download = this.#downloads.get(source.sha256) ?? this.#start(source, who);
    if (received !== undefined) download.receivers.add(received);
    download.waiting++;
    try {
      return await unlessAborted(download.work, signal);
    } finally {
      if (received !== undefined) download.receivers.delete(received);
      if (--download.waiting === 0) download.aborter.abort();
    }
  }

  /** Returns whether the stored file is what its name says; removes it if it is not. */
  async verify({ sha256 }: ModelSource): Promise<boolean> {
    const path = join(this.folder, fileOf(sha256));
    try {
      if ((await sha256File(path)) === `sha256:${sha256}`) return true;
    } catch (error) {
      if (systemCode(error) === "ENOENT") return false;
      throw error;
    }
    await this.remove(sha256);
    return false;
  }

  async remove(sha256: string): Promise<void> {
    await removeFile(join(this.folder, fileOf(sha256)));
  }

  #start(source: ModelSource, who: string): Download {
    const aborter = new AbortController();
    const receivers = new Set<(bytes: number) => void>();
    const work = this.#download(source, who, aborter.signal, (bytes) => {
      for (const receiver of receivers) receiver(bytes);
    }).finally(() => {
      if (this.#downloads.get(source.sha256) === download) this.#downloads.delete(source.sha256);
    });
    // Nobody may wait for it any more.
    work.catch(() => undefined);
    const download: Download = { work, aborter, receivers, waiting: 0 };
    this.#downloads.set(source.sha256, download);
    aborter.signal.addEventListener(
      "abort",
      () => {
        // A new caller starts another download, which waits for this one's lock.
        if (this.#downloads.get(source.sha256) === download) this.#downloads.delete(source.sha256);
      },
      { once: true },
    );
    return download;
  }

  async #download(
    source: ModelSource,
    who: string,
    signal: AbortSignal,
    received: (bytes: number) => void,
  ): Promise<StoredModel> {
    const { sha256 } = source;
    await this.prepare();
    const path = join(this.folder, fileOf(sha256));
    await using lock = await this.#lock(sha256, signal);
    // Another process may have brought it.
    if ((await this.#sizeOf(fileOf(sha256))) !== null) return { path, fetched: false };
    await this.#makeRoom(source);
    const part = join(this.folder, partOf(sha256));
    await downloadModel(part, source, {
      clock: this.#ports.clock,
      signal,
      request: (fromByte, maxBytes) => this.#ports.request({ source, who, fromByte, maxBytes, signal }),
      received,
    });
    await moveFile(part, path);
    void lock;
    return { path, fetched: true };
  }

  async #lock(sha256: string, signal: AbortSignal): Promise<AsyncDisposable> {
    for (;;) {
      const lock = await acquireLock(join(this.folder, lockOf(sha256)));
      if (!("heldBy" in lock)) return lock;
      await waitUnlessAborted(this.#ports.clock, waitMs, signal);
      signal.throwIfAborted();
    }
  }

  /** Removes leftovers, and if the new model does not fit, the models that were not used for longest. */
  async #makeRoom({ sha256, maxBytes }: ModelSource): Promise<void> {
    const now = this.#ports.clock.now();
    const models: { readonly name: string; readonly bytes: number; readonly usedMs: number }[] = [];
    for (const { name, bytes, modifiedMs } of await filesIn(this.folder)) {
      if (name.startsWith(sha256)) continue;
      if (name.endsWith(".onnx")) models.push({ name, bytes, usedMs: modifiedMs });
      else if (now - modifiedMs > leftoverAfterMs) await removeFile(join(this.folder, name));
    }
    let together = models.reduce((sum, { bytes }) => sum + bytes, maxBytes);
    for (const { name, bytes } of models.toSorted((one, other) => one.usedMs - other.usedMs)) {
      if (together <= maxStoreBytes) return;
      await removeFile(join(this.folder, name));
      together -= bytes;
    }
  }

  #sizeOf(name: string): Promise<number | null> {
    return sizeOfFile(join(this.folder, name));
  }
}

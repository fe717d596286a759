import { neverAborted, unlessAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { isLaresError, LaresError, messageOf, storageError } from "../../base/errors.ts";
import { Fifo } from "../../base/fifo.ts";
import type { Log } from "../../base/log.ts";
import { ChildKeeper } from "../../platform/children/child-keeper.ts";
import { startChildProcess } from "../../platform/children/child-process.ts";
import { joinPath, makeFolder } from "../../platform/files/data-files.ts";
import { failpointsPassedOn } from "../../platform/failpoint.ts";
import { siblingModule } from "../../platform/files/sibling-module.ts";
import { storeBounds as bounds } from "../bounds.ts";
import { FairQueue } from "./fair-queue.ts";
import { HostLink } from "./link.ts";
import type { FromHost } from "../messages.ts";
import { packagePaths } from "./native-packages.ts";
import {
  type EmbedHere,
  OutsideError,
  type OutsideRequest,
  type PostOutside,
  type Store,
  type StoreMemory,
  type StoreNotice,
  type StoreRequestName,
  type StoreRequests,
} from "../../memory-contract/store-port.ts";

export interface StoreOptions {
  /** Absolute path. All memories have their folders beneath it; the store host may read and write there. */
  readonly stateFolder: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Bytes that a vector library may leak in the host; default `storeBounds.maxLeakedBytes`. */
  readonly maxLeakedBytes?: number;
  /** Receives an event that the host reports. It has been written to `log` already. */
  notice(notice: Exclude<StoreNotice, { kind: "log" }>): void;
  /**
   * Sends the embedders' requests to services, because the store host opens no connections. Absent: nothing
   * is sent.
   */
  readonly post?: PostOutside;
  /** Runs local models, because the store host loads none. Absent: there are none. */
  readonly embedHere?: EmbedHere;
}

export function createStore(options: StoreOptions): Store {
  return new StoreClient(options);
}

interface Request {
  readonly id: number;
  readonly name: StoreRequestName;
  readonly memory: StoreMemory;
  readonly params: unknown;
  readonly signal: AbortSignal;
  /** The number of hosts that died while this request was in flight. */
  deaths: number;
  resolve(result: unknown): void;
  reject(error: LaresError): void;
}

/**
 * Keeps one store host: starts it with the first request, and again after it died, with growing delays.
 * Requests that a dead host had not answered are retried one at a time, so that the request that kills hosts
 * can be identified. If a retry takes long, new requests are sent beside it.
 */
class StoreClient implements Store {
  readonly #options: StoreOptions;
  /** Requests that were never sent. */
  readonly #waiting = new FairQueue<Request>();
  /** Requests that were in flight when a host died. */
  readonly #retried = new Fifo<Request>();
  /** Requests in flight. */
  readonly #open = new Map<number, Request>();
  readonly #foreignPaths = new Set<string>();
  /**
   * Memories whose projections the next host must rebuild. Each is rebuilt once only, because a request may
   * be the cause.
   */
  readonly #quarantined = new Map<string, "next" | "done">();
  /**
   * Memories that have answered since a host died; null before the first death. A hint may have killed it as
   * well.
   */
  #trusted: Set<string> | null = null;
  readonly #grown = new Map<string, StoreMemory>();
  #grownTimer: Disposable | null = null;
  readonly #host: ChildKeeper<HostLink>;
  #starting: Promise<void> | null = null;
  /** True when a retried request has been in flight for longer than `aloneMs`. */
  #isAloneLong = false;
  #aloneTimer: Disposable | null = null;
  #failedStarts = 0;
  #nextId = 1;
  #isDisposed = false;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#host = new ChildKeeper({
      clock: options.clock,
      restarts: bounds,
      start: () => this.#launch(),
      end: (link) => link.close(),
      gone: (link, how) => this.#gone(link, how),
      closed,
    });
  }

  get pid(): number | null {
    return this.#host.pid;
  }

  request<Name extends StoreRequestName>(
    name: Name,
    memory: StoreMemory,
    params: StoreRequests[Name]["params"],
    signal: AbortSignal = neverAborted,
  ): Promise<StoreRequests[Name]["result"]> {
    if (this.#isDisposed) return Promise.reject(closed());
    if (this.#waiting.lengthOf(memory.key) >= bounds.maxWaitingPerMemory) {
      return Promise.reject(
        new LaresError(
          "Busy",
          `${bounds.maxWaitingPerMemory} questions to this memory wait already. Ask again when some are answered.`,
        ),
      );
    }
    const id = this.#nextId++;
    const answer = new Promise<StoreRequests[Name]["result"]>((resolve, reject) => {
      const request = { id, name, memory, params, signal, deaths: 0, reject };
      this.#waiting.push(memory.key, {
        ...request,
        resolve: (result) => resolve(result as StoreRequests[Name]["result"]),
      });
      this.#pump();
    });
    return unlessAborted(answer, signal, () => {
      if (this.#open.has(id)) this.#host.child?.send({ kind: "cancel", id });
    });
  }

  grown(memory: StoreMemory): void {
    if (this.#host.child === null || this.#trusted?.has(memory.key) === false) return;
    this.#grown.set(memory.key, memory);
    this.#grownTimer ??= this.#options.clock.timer(bounds.grownIntervalMs, () => this.#sendGrown());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#grownTimer?.[Symbol.dispose]();
    this.#aloneTimer?.[Symbol.dispose]();
    for (const request of [...this.#waiting.drain(), ...this.#open.values()]) request.reject(closed());
    for (let request = this.#retried.shift(); request !== undefined; request = this.#retried.shift()) {
      request.reject(closed());
    }
    this.#open.clear();
    await this.#host[Symbol.asyncDispose]();
    await this.#starting;
  }

  /** Sends as many requests as allowed; starts a host if there is none. */
  #pump(): void {
    const isWanted = this.#waiting.length > 0 || this.#retried.length > 0;
    if (!isWanted || this.#isDisposed) return;
    const link = this.#host.child;
    if (link === null) {
      this.#starting ??= this.#start().finally(() => {
        this.#starting = null;
        this.#pump();
      });
      return;
    }
    while (!link.isEnding && !link.isLeaving) {
      const request = this.#next();
      if (request === undefined) return;
      this.#open.set(request.id, request);
      if (!this.#mayRead(link, request.memory)) return this.#startAnew(link);
      this.#send(link, request);
    }
  }

  /** Returns the next request whose caller still waits for it. */
  #next(): Request | undefined {
    for (;;) {
      const request = this.#nextInLine();
      if (request?.signal.aborted !== true) return request;
    }
  }

  /**
   * Returns the next request that may be sent. A retried request is sent alone; if it takes long, only new
   * ones may join it.
   */
  #nextInLine(): Request | undefined {
    if (this.#open.size === 0) return this.#retried.shift() ?? this.#waiting.shift();
    if (this.#open.size >= bounds.maxOpenRequests) return undefined;
    const isRetryOpen = [...this.#open.values()].some(({ deaths }) => deaths > 0);
    const mayJoin = isRetryOpen ? this.#isAloneLong : this.#retried.length === 0;
    return mayJoin ? this.#waiting.shift() : undefined;
  }

  #send(link: HostLink, request: Request): void {
    if (request.deaths > 0) this.#watchAlone();
    const { id, name, memory, params } = request;
    const isQuarantined = this.#quarantined.get(memory.key) === "next";
    link.send({ kind: "request", id, name, memory, params, isQuarantined });
  }

  #watchAlone(): void {
    this.#isAloneLong = false;
    this.#aloneTimer?.[Symbol.dispose]();
    this.#aloneTimer = this.#options.clock.timer(bounds.aloneMs, () => {
      this.#isAloneLong = true;
      this.#pump();
    });
  }

  async #start(): Promise<void> {
    try {
      await this.#host.connect();
      this.#failedStarts = 0;
    } catch (error) {
      if (this.#isDisposed) return;
      this.#options.log.error("the memory's store host does not start", { reason: messageOf(error) });
      if (++this.#failedStarts >= bounds.maxFailedStarts) this.#giveUp(error);
    }
  }

  async #launch(): Promise<HostLink> {
    const { stateFolder, clock, log } = this.#options;
    // Node allows access only to folders that exist when the process starts.
    await makeFolder(stateFolder);
    const foreignPaths = new Set(this.#foreignPaths);
    const failpoints = failpointsPassedOn("store.");
    const process = await startChildProcess({
      entry: siblingModule(import.meta.url, "../host/host-process"),
      readable: [
        new URL("../../", import.meta.url),
        ...packagePaths(import.meta.url),
        stateFolder,
        ...foreignPaths,
        ...failpoints.paths,
      ],
      writable: [stateFolder, ...failpoints.paths],
      nativeCode: true,
      workers: false,
      environment: failpoints.environment,
      arguments: [stateFolder, String(this.#options.maxLeakedBytes ?? bounds.maxLeakedBytes)],
    });
    const link: HostLink = new HostLink(process, {
      foreignPaths,
      clock,
      log,
      receive: (words, bytes) => this.#receive(words, bytes, link),
    });
    await link.ready;
    return link;
  }

  #receive(words: FromHost, bytes: Uint8Array, link: HostLink): void {
    if (words.kind === "notice") return this.#hear(words.notice);
    if (words.kind === "spent") return this.#replace(link);
    if (words.kind === "post") return void this.#post(words.id, words.request, bytes.slice(), link);
    if (words.kind === "embed") return void this.#embed(words, link);
    if (words.kind === "cancelPost") return link.posts.get(words.id)?.abort();
    const request = this.#open.get(words.id);
    // A host that is ending may fail because of that alone, so the next host is asked.
    if (request === undefined || (link.isEnding && words.kind === "failed")) return;
    this.#open.delete(words.id);
    const { key } = request.memory;
    this.#trusted?.add(key);
    if (this.#quarantined.has(key)) this.#quarantined.set(key, "done");
    if (words.kind === "answer") request.resolve(JSON.parse(new TextDecoder().decode(bytes)));
    else request.reject(new LaresError(words.code, words.message, words.facts));
    if (link.isLeaving && this.#open.size === 0) this.#startAnew(link);
    this.#pump();
  }

  async #post(id: number, request: OutsideRequest, body: Uint8Array, link: HostLink): Promise<void> {
    const aborter = new AbortController();
    link.posts.set(id, aborter);
    try {
      const { post } = this.#options;
      if (post === undefined) throw new OutsideError("Denied", "This kernel sends nothing.");
      const { body: answered, ...answer } = await post(request, body, aborter.signal);
      link.send({ kind: "posted", id, answer }, answered);
    } catch (error) {
      const failure = error instanceof OutsideError ? error.failure : "Network";
      link.send({ kind: "unposted", id, failure, message: messageOf(error) });
    } finally {
      link.posts.delete(id);
    }
  }

  async #embed({ id, model, texts }: Extract<FromHost, { kind: "embed" }>, link: HostLink): Promise<void> {
    const { embedHere } = this.#options;
    if (embedHere === undefined) {
      const answer = { failure: "This kernel runs no models.", isRetryable: false };
      return link.send({ kind: "embedded", id, answer });
    }
    const embedded = await embedHere(model, texts);
    if ("failure" in embedded) return link.send({ kind: "embedded", id, answer: embedded });
    const { vectors, ...answer } = embedded;
    link.send({ kind: "embedded", id, answer }, vectors);
  }

  #hear(notice: StoreNotice): void {
    if (notice.kind === "log") this.#options.log[notice.level](notice.message, notice.fields);
    else this.#options.notice(notice);
  }

  #gone(link: HostLink, how: string): void {
    for (const aborter of link.posts.values()) aborter.abort();
    if (!link.isEnding) {
      this.#trusted = new Set();
      this.#grown.clear();
      this.#options.log.error("the memory's store host is gone", { how, open: this.#open.size });
    }
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const request of open) {
      if (!link.isEnding) request.deaths++;
      if (request.deaths >= bounds.maxDeathsPerRequest) this.#refuse(request);
      else if (request.deaths > 0) this.#retried.push(request);
      else this.#waiting.push(request.memory.key, request);
    }
    this.#pump();
  }

  #refuse({ memory, name, reject }: Request): void {
    const isFirst = !this.#quarantined.has(memory.key);
    if (isFirst) this.#quarantined.set(memory.key, "next");
    reject(
      storageError(
        `The memory's store host ended twice while it answered this (${name}), so it is not tried again. ` +
          (isFirst ? "What is asked next is answered after the projections were built again." : ""),
      ),
    );
  }

  /** Rejects all waiting requests because no host can be started. The next request tries again. */
  #giveUp(error: unknown): void {
    this.#failedStarts = 0;
    const reason = isLaresError(error)
      ? error.message
      : `The memory's store host could not be started: ${messageOf(error)}`;
    for (const request of this.#waiting.drain()) request.reject(storageError(reason, error));
    for (let request = this.#retried.shift(); request !== undefined; request = this.#retried.shift()) {
      request.reject(storageError(reason, error));
    }
  }

  #mayRead(link: HostLink, memory: StoreMemory): boolean {
    if (!this.#isForeign(memory)) return true;
    const { journalFolder } = memory;
    // Keeps the newest paths.
    this.#foreignPaths.delete(journalFolder);
    this.#foreignPaths.add(journalFolder);
    for (const oldest of this.#foreignPaths) {
      if (this.#foreignPaths.size <= bounds.maxForeignPaths) break;
      this.#foreignPaths.delete(oldest);
    }
    return link.foreignPaths.has(journalFolder);
  }

  /**
   * Returns true if the memory's journal lies outside the state folder; the host gets access to it only when
   * it starts.
   */
  #isForeign({ journalFolder }: StoreMemory): boolean {
    return !journalFolder.startsWith(joinPath(this.#options.stateFolder, "/"));
  }

  /** Lets the host answer its open requests for a limited time, then replaces it. */
  #replace(link: HostLink): void {
    link.isLeaving = true;
    if (this.#open.size === 0) return this.#startAnew(link);
    const timer = this.#options.clock.timer(bounds.leavingTimeoutMs, () => this.#startAnew(link));
    void link.ended.then(() => timer[Symbol.dispose]());
  }

  /** Ends the host. The next one starts with the paths it has to read, and gets the open requests. */
  #startAnew(link: HostLink): void {
    if (!link.isEnding) void link.close();
  }

  #sendGrown(): void {
    this.#grownTimer = null;
    const memories = [...this.#grown.values()];
    this.#grown.clear();
    const link = this.#host.child;
    if (link === null || link.isEnding || memories.length === 0) return;
    const readable = memories.filter(
      (memory) => !this.#isForeign(memory) || link.foreignPaths.has(memory.journalFolder),
    );
    if (readable.length > 0) link.send({ kind: "grown", memories: readable });
  }
}

const closed = (): LaresError => storageError("The memory's store is closed: the kernel ends.");

import { neverAborted } from "../../base/abort.ts";
import type { ProviderApi } from "../../base/vocabulary/model-settings.ts";
import type { Clock } from "../../base/clock.ts";
import { LaresError, limitExceeded, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { Child } from "../../platform/children/child.ts";
import { ChildKeeper } from "../../platform/children/child-keeper.ts";
import { packagesAround, startChildProcess } from "../../platform/children/child-process.ts";
import { countFrame } from "../../platform/children/frames.ts";
import { siblingModule } from "../../platform/files/sibling-module.ts";
import { egressBounds as bounds } from "../bounds.ts";
import { type FromHost, frameTypes, type ToHost } from "../messages.ts";
import type { PatternRule } from "../../secret-scan/rules.ts";
import type { EgressAnswer, EgressRequest, EgressTrace } from "./answer.ts";
import { OpenRequest } from "./open-request.ts";

interface EgressOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The host's whole environment; see `egressEnvironment`. */
  environment(): Readonly<Record<string, string>>;
  /** Returns the rules for secrets that the person added. */
  patterns?(): readonly PatternRule[];
  trace(trace: EgressTrace): void;
}

type HostLink = Child<ToHost, FromHost>;

/** Requests to the outside, through one egress host, which is started with the first. No request is sent twice. */
export class EgressClient implements AsyncDisposable {
  readonly #options: EgressOptions;
  readonly #open = new Map<number, OpenRequest>();
  readonly #host: ChildKeeper<HostLink>;
  /** The APIs that the running host was told to load. */
  readonly #prepared = new Set<ProviderApi>();
  #nextId = 1;

  constructor(options: EgressOptions) {
    this.#options = options;
    const { clock, log } = options;
    this.#host = new ChildKeeper({
      clock,
      restarts: bounds,
      start: () => this.#launch(),
      end: (link) => link.kill(),
      gone: (_link, how, deaths) => {
        this.#prepared.clear();
        log.error("the egress host is gone", { how, deaths, open: this.#open.size });
        for (const open of this.#open.values())
          if (open.isSent) open.stop("Network", `The egress host ${how} during the request.`);
      },
      closed: () => new Error("The kernel is shutting down."),
    });
  }

  get pid(): number | null {
    return this.#host.pid;
  }

  /**
   * Starts the host, and has it load what an answer by this API takes. Whoever is about to send a request calls it, so that
   * this happens while they prepare the request.
   */
  prepare(api: ProviderApi): void {
    if (this.#prepared.has(api)) return;
    this.#prepared.add(api);
    this.#host.connect().then(
      (link) => link.send({ kind: "prepare", api }),
      // The request is refused for the same reason.
      () => this.#prepared.delete(api),
    );
  }

  /**
   * Resolves with the head of the answer. Rejects with `EgressError` if there is none, with LaresError "Busy" while too many
   * requests, or bytes of this asker, are open, and with LimitExceeded for a body that is too long.
   */
  async request(request: EgressRequest): Promise<EgressAnswer> {
    const { body = new Uint8Array(), signal = neverAborted } = request;
    if (body.length > bounds.maxRequestBytes)
      throw limitExceeded(
        "maxRequestBytes",
        bounds.maxRequestBytes,
        `A request's body has at most ${bounds.maxRequestBytes} bytes; this one has ${body.length}.`,
      );
    if (this.#open.size >= bounds.maxOpenRequests)
      throw new LaresError("Busy", `${bounds.maxOpenRequests} requests are open already. Try again later.`);
    this.#checkRoomFor(request.who, body.length);
    const id = this.#nextId++;
    const open = new OpenRequest(request, this.#options, () => {
      this.#open.delete(id);
      signal.removeEventListener("abort", cancel);
    });
    const cancel = (): void => open.stop("Cancelled", "The request was cancelled.");
    this.#open.set(id, open);
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    else void this.#send(id, open, body);
    return await open.head;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const open of this.#open.values()) open.stop("Cancelled", "The kernel is shutting down.");
    await this.#host[Symbol.asyncDispose]();
  }

  /** Prevents one agent from filling the memory of the host that it shares with all others. */
  #checkRoomFor(who: string, bytes: number): void {
    if (bytes === 0) return;
    const open = [...this.#open.values()].filter(({ request }) => request.who === who);
    const together = open.reduce((sum, { request }) => sum + (request.body?.length ?? 0), bytes);
    if (together > bounds.maxOpenBytesPerAsker)
      throw new LaresError(
        "Busy",
        `The open requests of ${who} have ${together} bytes, and at most ${bounds.maxOpenBytesPerAsker} may be open. Wait until one is answered.`,
      );
  }

  async #send(id: number, open: OpenRequest, body: Uint8Array): Promise<void> {
    let link: HostLink;
    try {
      link = await this.#host.connect();
    } catch (error) {
      return open.stop("Network", `The egress host could not be started: ${messageOf(error)}`);
    }
    if (open.hasEnded) return;
    const { who: _who, body: _body, signal: _signal, ...request } = open.request;
    const patterns = this.#options.patterns?.() ?? [];
    link.send(
      { kind: "request", id, request: patterns.length === 0 ? request : { ...request, patterns } },
      body,
    );
    open.sent({
      grant: (bytes) => link.write(...countFrame(frameTypes.credit, id, bytes)),
      cancel: () => link.send({ kind: "cancel", id }),
      hung: () => void link.kill(),
    });
  }

  async #launch(): Promise<HostLink> {
    const { clock, log, environment } = this.#options;
    // Only sources import packages; what is installed is bundled.
    const packages = packagesAround("undici", import.meta.url);
    const process = await startChildProcess({
      entry: siblingModule(import.meta.url, "../host/host-process"),
      readable: [new URL("../../", import.meta.url), ...(packages === null ? [] : [packages])],
      workers: false,
      // Half of the threads look up names.
      environment: { ...environment(), UV_THREADPOOL_SIZE: String(2 * bounds.maxLookups) },
    });
    const link: HostLink = new Child(process, {
      name: "egress host",
      log,
      clock,
      maxFrameBytes: bounds.maxFrameBytes,
      receive: (words) => this.#receive(words),
      receiveFrame: (type, id, payload) => {
        if (type !== frameTypes.chunk) throw new RangeError(`A frame of unknown type ${type}.`);
        this.#open.get(id)?.received(payload.slice());
      },
    });
    await link.ready;
    return link;
  }

  #receive(words: FromHost): void {
    const open = this.#open.get(words.id);
    if (words.kind === "head") open?.began(words.head);
    else if (words.kind === "end") open?.finished(words.isTruncated);
    else open?.failed(words.failure);
  }
}

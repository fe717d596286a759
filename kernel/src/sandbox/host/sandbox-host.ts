import type { Clock } from "../../base/clock.ts";
import { isLaresError, LaresError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { CacheFolder } from "../../platform/files/cache-folder.ts";
import { prepareBounds } from "../prepare/bounds.ts";
import { moduleTooLarge, sandboxFault } from "./faults.ts";
import { PreparedCache, type PreparedProgram } from "../prepare/prepared-cache.ts";
import type { ChildKeeper } from "../../platform/children/child-keeper.ts";
import { keepHost } from "./host-keeper.ts";
import { hostGone, type HostLink } from "./host-link.ts";
import type { Guest, KernelGuest } from "./kernel-guest.ts";

/** A program as the host needs it: a WASI command, or JavaScript for the runtime, which is a WASI command. */
export interface GuestProgram {
  readonly kind: "javascript" | "wasm";
  readonly bytes: Uint8Array;
}

interface SandboxHostOptions<Program extends GuestProgram> {
  readonly clock: Clock;
  readonly log: Log;
  /** Keeps prepared modules across restarts of the kernel. */
  readonly cache?: CacheFolder;
  readonly javascript?: {
    /** Returns the WASI command that runs JavaScript; read once. */
    readonly runtime: () => Promise<Uint8Array>;
    /** Returns what is written to the program's stdin first. */
    readonly preamble: (program: Program) => Uint8Array;
  };
}

export interface SandboxHost<Program extends GuestProgram> extends AsyncDisposable {
  /**
   * Resolves when the guest runs. Throws LaresError "AgentError" with `facts.reason`: "program" if the program
   * cannot be prepared (a retry is useless), "sandbox" if it could not be started.
   */
  start(program: Program, options: { readonly agent: string; readonly maxMemoryMb: number }): Promise<Guest>;
  /** Returns a sentence that says why this program can never be started; null if it can be prepared. */
  check(program: GuestProgram, maxMemoryMb?: number): Promise<string | null>;
  /** Keeps a worker ready from now on, and prepares the JavaScript runtime, if there is one, for this memory limit. */
  prewarm(maxMemoryMb?: number): void;
  /** The process id of the host; null if none is running. */
  readonly pid: number | null;
}

const defaultMaxMemoryMb = 256;

/** Runs guests in one child process, which the first guest starts, and after a crash the next one. */
export function createSandboxHost<Program extends GuestProgram>(
  options: SandboxHostOptions<Program>,
): SandboxHost<Program> {
  return new ProcessSandboxHost(options);
}

class ProcessSandboxHost<Program extends GuestProgram> implements SandboxHost<Program> {
  readonly #options: SandboxHostOptions<Program>;
  readonly #prepared: PreparedCache;
  readonly #keeper: ChildKeeper<HostLink>;
  #runtime: Promise<Uint8Array> | null = null;
  #prewarmMemoryMb: number | null = null;
  #warmed: HostLink | null = null;

  constructor(options: SandboxHostOptions<Program>) {
    this.#options = options;
    this.#prepared = new PreparedCache(options.cache, options.log);
    this.#keeper = keepHost(options);
  }

  get pid(): number | null {
    return this.#keeper.pid;
  }

  async start(
    program: Program,
    { agent, maxMemoryMb }: { agent: string; maxMemoryMb: number },
  ): Promise<Guest> {
    const link = await this.#keeper.connect();
    const module = program.kind === "wasm" ? program.bytes : await this.#readRuntime();
    const prepared = await this.#prepare(link, module, maxMemoryMb);
    const guest = await this.#startPrepared(link, prepared);
    if (program.kind === "javascript") {
      const preamble = this.#options.javascript?.preamble(program);
      if (preamble !== undefined) guest.sendBytes(preamble);
    }
    guest.open();
    this.#options.log.debug("a guest was started", { agent, kind: program.kind });
    // A host that was started after the last `prewarm` has no spare worker yet.
    if (this.#prewarmMemoryMb !== null && this.#warmed !== link) this.prewarm(this.#prewarmMemoryMb);
    return guest;
  }

  async check(program: GuestProgram, maxMemoryMb = defaultMaxMemoryMb): Promise<string | null> {
    if (program.kind === "javascript") return null;
    try {
      await this.#prepare(await this.#keeper.connect(), program.bytes, maxMemoryMb);
      return null;
    } catch (error) {
      if (isLaresError(error, "AgentError") && error.facts["reason"] === "program") return error.message;
      throw error;
    }
  }

  prewarm(maxMemoryMb = defaultMaxMemoryMb): void {
    this.#prewarmMemoryMb = maxMemoryMb;
    this.#warm(maxMemoryMb).catch((error: unknown) =>
      this.#options.log.warn("cannot keep a spare worker ready", { error: messageOf(error) }),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#keeper[Symbol.asyncDispose]();
  }

  async #warm(maxMemoryMb: number): Promise<void> {
    const link = await this.#keeper.connect();
    this.#warmed = link;
    link.prewarm();
    if (this.#options.javascript === undefined) return;
    const prepared = await this.#prepare(link, await this.#readRuntime(), maxMemoryMb);
    link.program(prepared.key, prepared.bytes);
  }

  #readRuntime(): Promise<Uint8Array> {
    const runtime = this.#options.javascript?.runtime;
    if (runtime === undefined) throw sandboxFault("This sandbox has no runtime for JavaScript programs.");
    this.#runtime ??= runtime();
    return this.#runtime;
  }

  #prepare(link: HostLink, module: Uint8Array, maxMemoryMb: number): Promise<PreparedProgram> {
    return this.#prepared.get(module, maxMemoryMb, async () => {
      if (module.length > prepareBounds.maxModuleBytes) throw moduleTooLarge(module.length);
      const { refusal, bytes } = await link.prepare(module, maxMemoryMb);
      if (refusal === null) return bytes;
      const reason = refusal.code === hostGone ? "sandbox" : "program";
      throw new LaresError("AgentError", refusal.message, { reason, fault: refusal.code });
    });
  }

  async #startPrepared(link: HostLink, prepared: PreparedProgram): Promise<KernelGuest> {
    let { guest, reply } = await link.start(prepared.key);
    if (reply.kind === "programMissing") {
      link.program(prepared.key, prepared.bytes);
      ({ guest, reply } = await link.start(prepared.key));
    }
    if (reply.kind === "started") return guest;
    const why = reply.kind === "ended" ? reply.reason : "The sandbox host evicted the program.";
    throw sandboxFault(`The program could not be started. ${why}`);
  }
}

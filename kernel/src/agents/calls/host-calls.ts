import { JoinedSignals, neverAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Deadline } from "../../base/deadline.ts";
import { type CpuBudget, unlimitedCpu } from "../../base/cpu-budget.ts";
import { LaresError, messageOf } from "../../base/errors.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import {
  bothForeign,
  type Foreign,
  foreignFrom,
  isForeign,
  sourcesOfAll,
  type ReadTexts,
} from "../../base/vocabulary/foreign.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import {
  commonLineage,
  type Lineage,
  lineageUnder,
  ownAccord,
  type PersonOrProcess,
  withSources,
} from "../../base/vocabulary/principal.ts";
import { decideHostCall, isOrderlyEnd, isReadingCall } from "../../policy/decide.ts";
import { boundingAgents } from "../../policy/principals.ts";
import type { MetricsRecorder } from "../metrics.ts";
import type {
  AgentDefinition,
  AgentSession,
  Blobs,
  Caller,
  CheckedCall,
  GuestHandlers,
  InHand,
  ProcessCallOptions,
  SupervisorPorts,
} from "../ports.ts";
import { onBehalfIn, workOf } from "./attribution.ts";
import type { OpenCalls } from "./open-calls.ts";
import type { Inspector } from "./inspector.ts";
import { RefusalLog } from "./refusal-log.ts";
import type { WriteTrace } from "../trace-writer.ts";

interface HostCallOptions {
  readonly ports: Pick<SupervisorPorts, "readHostCall" | "takeTurn" | "authorityOf" | "stopped">;
  readonly definition: () => AgentDefinition;
  /** The guest's current work. */
  readonly inHand: () => InHand;
  /** The calls that the guest is answering. */
  readonly open: Pick<OpenCalls, "of" | "isOpen" | "ofAll" | "deadlineOfAll" | "read" | "hear">;
  readonly blobs: Blobs;
  /** The running job. */
  readonly guest: () => AgentSession | null;
  readonly clock: Clock;
  readonly metrics: Pick<MetricsRecorder, "refused">;
  readonly trace: WriteTrace;
  readonly inspector?: Inspector;
}

/** How often a read call is repeated because the agent's permissions changed while it ran. */
const maxReadAttempts = 3;

/** A request whose shape was checked, and what led to it. */
interface Asked {
  readonly method: string;
  readonly call: CheckedCall;
  readonly lineage: Lineage;
  readonly inHand: InHand;
  readonly cancelled: AbortSignal;
}

/**
 * The single entry for the requests of an agent, of its guest and of its mind's processes alike: turn, then shape, then
 * permission, then the service. No other code passes such a request to a room.
 */
export class HostCalls implements GuestHandlers, Disposable {
  readonly #options: HostCallOptions;
  readonly #refusals: RefusalLog;

  constructor(options: HostCallOptions) {
    this.#options = options;
    this.#refusals = new RefusalLog(options.clock, (message, fields, context) =>
      options.trace("warn", message, fields, context),
    );
  }

  /**
   * Runs a call on behalf of the guest's current work, with the permissions at the time that its turn comes. A
   * read's answer is also checked against the permissions at the time it is sent. A call that is cancelled before
   * its turn does not start. After that, cancelling ends reads and waits; a write is finished and answered.
   */
  call(method: string, params: unknown, cancelled = neverAborted): Promise<unknown> {
    const { inspector, inHand, open } = this.#options;
    if (inspector?.isOn !== true) return this.#call(method, params, cancelled);
    const work = workOf(open, onBehalfIn(params), inHand());
    return inspector.hostCall(method, params, work, () => this.#call(method, params, cancelled));
  }

  async #call(method: string, params: unknown, cancelled: AbortSignal): Promise<unknown> {
    const { ports, definition, open } = this.#options;
    const inHand = this.#options.inHand();
    const causes = inHand.lineage ?? ownAccord;
    const guest = this.#options.guest();
    const forAll = open.ofAll();
    const isForCalls = inHand.hook === undefined && inHand.job === undefined;
    const lastDeadline = isForCalls ? open.deadlineOfAll() : undefined;
    // The guest may end before its call is finished; what it had read still counts.
    const { read } = open;
    await ports.takeTurn(definition().id);
    cancelled.throwIfAborted();
    const bundleDigest = this.#bundleDigest();
    const asked = ports.readHostCall(method, params);
    const { onBehalf } = asked;
    const answering = onBehalf === undefined || onBehalf === null ? null : open.of(onBehalf);
    const work = workOf(open, onBehalf, inHand);
    const led =
      answering === null
        ? commonLineage([onBehalf === undefined ? forAll : ownAccord, causes])
        : commonLineage([answering.isOpen ? ownAccord : causes, answering.lineage]);
    const texts = answering === null ? read : bothTexts(read, answering.foreign);
    const lineage = withSources(led, sourcesFor(led, texts.foreign));
    const deadline = onBehalf === undefined ? lastDeadline : answering?.deadline;
    const joined = new JoinedSignals(answering?.signal ?? guest?.gone ?? neverAborted, cancelled);
    try {
      return await this.#answer(
        { method, call: asked, lineage, inHand: work, cancelled },
        (authority) =>
          new GuestCaller(
            authority,
            lineage,
            bundleDigest,
            guest,
            this.#options,
            work,
            joined,
            texts,
            deadline,
          ),
      );
    } finally {
      joined[Symbol.dispose]();
    }
  }

  /**
   * Runs a request of a process of the agent's mind, or one that a person repeats in the agent's name. It is decided as a
   * request of the guest is that answers a call of this principal, and has the CPU time of one event.
   */
  async callAs(
    principal: PersonOrProcess,
    method: string,
    params: unknown,
    { signal, progress, hear = () => undefined }: ProcessCallOptions,
  ): Promise<unknown> {
    const { ports, definition, blobs } = this.#options;
    await ports.takeTurn(definition().id);
    signal.throwIfAborted();
    const { id: agent, limits } = definition();
    const bundleDigest = this.#bundleDigest();
    const lineage = lineageUnder(principal);
    const cpu = budgetOf(limits.max_cpu_ms_per_event);
    return await this.#answer(
      { method, call: ports.readHostCall(method, params), lineage, inHand: {}, cancelled: signal },
      (authority) => ({
        agent,
        authority,
        lineage,
        bundleDigest,
        cpu,
        blobs,
        signal,
        ...(principal.kind === "process" ? { process: principal } : {}),
        foreign: foreignFrom(lineage.sources ?? [], "all"),
        // The conversation records for each entry what its process has read.
        hear,
        ...(progress === undefined ? {} : { progress }),
      }),
    );
  }

  #bundleDigest(): Hash {
    const { id, bundleDigest } = this.#options.definition();
    if (bundleDigest === null) throw new LaresError("AgentError", `The agent ${id} cannot run.`);
    return bundleDigest;
  }

  /** Asks policy, then the service; a read again if the permissions changed while it was answered. */
  async #answer(asked: Asked, callerOf: (authority: Authority) => Caller): Promise<unknown> {
    const { method, call, lineage, inHand, cancelled } = asked;
    if (!isOrderlyEnd({ method, params: call.params })) this.#options.ports.stopped?.check(lineage);
    for (let attempt = 1; ; attempt++) {
      const { authority, parts } = this.#authorityFor(lineage);
      this.#decide(authority, method, call.params, inHand, lineage);
      const answer = await call.answer(callerOf(authority));
      if (!isReadingCall(method)) return answer;
      cancelled.throwIfAborted();
      // An answer may come long after the question, so it is computed with the current permissions.
      const now = this.#authorityFor(lineage).parts;
      if (parts.every((part, at) => part === now[at])) return answer;
      if (attempt < maxReadAttempts) continue;
      const { id } = this.#options.definition();
      throw new LaresError("Busy", `What ${id} may do changed again and again; ask again later.`);
    }
  }

  /** Throws what policy refuses, and counts it. */
  #decide(
    authority: Authority,
    method: string,
    params: CheckedCall["params"],
    { hook, traceId }: InHand,
    lineage: Lineage,
  ): void {
    const decision = decideHostCall(authority, { method, params });
    if (decision.allowed) return;
    this.#options.metrics.refused();
    const { message, facts } = decision.error;
    const context = {
      ...(hook === undefined ? {} : { hook }),
      ...(traceId === undefined ? {} : { traceId }),
      ...lineage,
    };
    this.#refusals.refused(message, { method, ...facts }, context);
    throw decision.error;
  }

  /** The agent's authority for these causes, and the permissions that it was computed from. */
  #authorityFor({ onBehalfOf }: Lineage): { authority: Authority; parts: readonly Authority[] } {
    const { ports, definition } = this.#options;
    const own = definition().authority;
    const bounding = boundingAgents(own.extension, onBehalfOf);
    if (bounding.length === 0) return { authority: own, parts: [own] };
    const others = bounding.map((agent) => ports.authorityOf(agent) ?? nothingMayDo(agent));
    return { authority: { ...own, onBehalfOf: others }, parts: [own, ...others] };
  }

  /** Handles notifications, which have no answer: a failure is written to the traces. */
  notify(method: string, params: unknown): void {
    this.call(method, params).catch((error: unknown) =>
      this.#options.trace("warn", `${method}: ${messageOf(error)}`),
    );
  }

  stderr(text: string): void {
    this.#options.trace("warn", text);
  }

  /** Reports the refusals that were not reported yet. */
  [Symbol.dispose](): void {
    this.#refusals[Symbol.dispose]();
  }
}

/** A class, because its signal is made when it is first read, which most calls never do. */
class GuestCaller implements Caller {
  readonly agent: string;
  readonly authority: Authority;
  readonly lineage: Lineage;
  readonly bundleDigest: Hash;
  readonly hook?: string;
  readonly traceId?: string;
  readonly job?: string;
  readonly cpu: CpuBudget;
  readonly blobs: Blobs;
  readonly deadline?: Deadline;
  readonly #joined: JoinedSignals;
  readonly #open: Pick<OpenCalls, "hear">;
  readonly #read: ReadTexts;

  constructor(
    authority: Authority,
    lineage: Lineage,
    bundleDigest: Hash,
    guest: AgentSession | null,
    options: Pick<HostCallOptions, "definition" | "guest" | "blobs" | "open">,
    { hook, traceId, job }: InHand,
    joined: JoinedSignals,
    read: ReadTexts,
    deadline: Deadline | undefined,
  ) {
    this.agent = options.definition().id;
    this.authority = authority;
    this.lineage = lineage;
    this.bundleDigest = bundleDigest;
    this.cpu = guest?.cpu ?? unlimitedCpu;
    this.blobs = options.blobs;
    this.#joined = joined;
    this.#read = read;
    this.#open = options.open;
    if (deadline !== undefined) this.deadline = deadline;
    if (hook !== undefined) this.hook = hook;
    if (traceId !== undefined) this.traceId = traceId;
    // The next guest may already be running the same job.
    if (job !== undefined && guest === options.guest()) this.job = job;
  }

  get signal(): AbortSignal {
    return this.#joined.signal;
  }

  get foreign(): Foreign {
    return bothForeign(this.#read.foreign, foreignFrom(this.lineage.sources ?? [], "all"));
  }

  hear(foreign: Foreign): void {
    this.#open.hear(foreign);
  }
}

/** Returns what counts for work with these causes: a mind's process follows what only minds have to follow, too. */
function sourcesFor({ onBehalfOf }: Lineage, foreign: Foreign): readonly string[] {
  if (!isForeign(foreign)) return noSources;
  const isForMind = onBehalfOf.some(({ kind }) => kind === "process");
  return isForMind ? Object.keys(foreign) : sourcesOfAll(foreign);
}

const noSources: readonly string[] = [];

/** Returns what the guest reads, together with what another one had read before it. */
function bothTexts(read: ReadTexts, earlier: Foreign): ReadTexts {
  return {
    get foreign() {
      return bothForeign(read.foreign, earlier);
    },
  };
}

/** The CPU time of one request. Milliseconds. */
function budgetOf(allowedMs: number): CpuBudget {
  let usedMs = 0;
  return {
    limit: "max_cpu_ms_per_event",
    allowedMs,
    leftMs: () => allowedMs - usedMs,
    charge: (ms) => void (usedMs += ms),
  };
}

const nothings = new Map<string, Authority>();

/** Returns the empty authority of a removed agent; the same object each time, as for a present agent. */
function nothingMayDo(extension: string): Authority {
  const known = nothings.get(extension);
  if (known !== undefined) return known;
  const nothing: Authority = {
    extension,
    requested: {},
    effective: {},
    denied: [],
    locations: [],
    protectedPaths: [],
    forbiddenPaths: [],
    memory: false,
    namespaces: {},
  };
  nothings.set(extension, nothing);
  return nothing;
}

import { joinSignals, neverAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { unlimitedCpu } from "../../base/cpu-budget.ts";
import { LaresError, messageOf } from "../../base/errors.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import { causedBy, commonLineage, type Lineage } from "../../base/vocabulary/principal.ts";
import { decideHostCall, isReadingCall } from "../../policy/decide.ts";
import { boundingAgents } from "../../policy/principals.ts";
import type { InHand } from "../ports.ts";
import type { MetricsRecorder } from "../metrics.ts";
import type { AgentDefinition, GuestHandlers, AgentSession, SupervisorPorts } from "../ports.ts";
import type { OpenCalls } from "./open-calls.ts";
import { RefusalLog } from "./refusal-log.ts";
import type { WriteTrace } from "../trace-writer.ts";

interface HostCallOptions {
  readonly ports: Pick<SupervisorPorts, "readHostCall" | "takeTurn" | "authorityOf">;
  readonly definition: () => AgentDefinition;
  /** What the guest is working on. */
  readonly inHand: () => InHand;
  /** What the guest was called for. */
  readonly open: Pick<OpenCalls, "of" | "ofAll">;
  /** The one that runs. */
  readonly guest: () => AgentSession | null;
  readonly clock: Clock;
  readonly metrics: Pick<MetricsRecorder, "refused">;
  readonly trace: WriteTrace;
}

/** How often a call that reads is made again because the agent's permissions changed meanwhile. */
const maxReadAttempts = 3;

/**
 * The one door between a guest and the kernel: its turn, then shape, then permission, then the service. Nothing else
 * hands a guest's request to a room.
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
   * In the name of what the guest is doing when it asks, and with what it may do when its turn has come. What only reads
   * is answered with what the agent may do when the answer goes out. A call that is cancelled before its turn is not
   * begun; after that, what reads or waits ends, and what changes something is finished and answered.
   */
  async call(method: string, params: unknown, cancelled = neverAborted): Promise<unknown> {
    const { ports, definition, metrics, open } = this.#options;
    const { job, cause, ...inHand } = this.#options.inHand();
    const causes = causedBy(cause);
    const guest = this.#options.guest();
    const forAll = open.ofAll();
    await ports.takeTurn(definition().id);
    cancelled.throwIfAborted();
    const { id: agent, bundleDigest } = definition();
    if (bundleDigest === null) throw new LaresError("AgentError", `The agent ${agent} cannot run.`);
    const asked = ports.readHostCall(method, params);
    const { onBehalf } = asked;
    const answering = onBehalf === undefined || onBehalf === null ? null : open.of(onBehalf);
    const lineage = answering?.lineage ?? (onBehalf === undefined ? commonLineage([forAll, causes]) : causes);
    using joined = joinSignals(answering?.signal ?? guest?.gone ?? neverAborted, cancelled);
    const { signal } = joined;
    for (let attempt = 1; ; attempt++) {
      const { authority, parts } = this.#authorityFor(lineage);
      const decision = decideHostCall(authority, { method, params: asked.params });
      if (!decision.allowed) {
        metrics.refused();
        const { message, facts } = decision.error;
        this.#refusals.refused(message, { method, ...facts }, { ...inHand, ...lineage });
        throw decision.error;
      }
      // Where the next guest has taken its place, the job it ran may be running there anew.
      const isItsJob = job !== undefined && guest === this.#options.guest();
      const cpu = guest?.cpu ?? unlimitedCpu;
      const caller = {
        agent,
        authority,
        lineage,
        bundleDigest,
        cpu,
        signal,
        ...inHand,
        ...(isItsJob ? { job } : {}),
      };
      const answer = await asked.answer(caller);
      if (isReadingCall(method)) cancelled.throwIfAborted();
      // An answer may come long after the question. It is made of what the agent may do now.
      const now = this.#authorityFor(lineage).parts;
      if (!isReadingCall(method) || parts.every((part, at) => part === now[at])) return answer;
      if (attempt === maxReadAttempts)
        throw new LaresError("Busy", `What ${agent} may do changed again and again; ask again later.`);
    }
  }

  /** What the agent may do for these, and of what that is made. */
  #authorityFor({ onBehalfOf }: Lineage): { authority: Authority; parts: readonly Authority[] } {
    const { ports, definition } = this.#options;
    const own = definition().authority;
    const bounding = boundingAgents(own.extension, onBehalfOf);
    if (bounding.length === 0) return { authority: own, parts: [own] };
    const others = bounding.map((agent) => ports.authorityOf(agent) ?? nothingMayDo(agent));
    return { authority: { ...own, onBehalfOf: others }, parts: [own, ...others] };
  }

  /** What it asks without waiting for an answer: where that fails, its traces say so. */
  notify(method: string, params: unknown): void {
    this.call(method, params).catch((error: unknown) =>
      this.#options.trace("warn", `${method}: ${messageOf(error)}`),
    );
  }

  stderr(text: string): void {
    this.#options.trace("warn", text);
  }

  /** Tells of the refusals that were not told yet. */
  [Symbol.dispose](): void {
    this.#refusals[Symbol.dispose]();
  }
}

const nothings = new Map<string, Authority>();

/** Of an agent that is gone: the same each time, as that of one that is there. */
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

import { isJsonObject } from "../base/json.ts";
import { guestRequests } from "../protocol/guest/v1/lifecycle.ts";
import { validate } from "../protocol/validate.ts";
import { Observed } from "./observed.ts";
import { type Answer, Peer } from "./peer.ts";
import type { ConformancePorts, Subject } from "./ports.ts";
import { type Verdict, Violation } from "./results.ts";

/** One rule and how it is tried. */
export interface Scenario {
  readonly rule: string;
  /** What the contract demands, as a sentence. */
  readonly title: string;
  /** Rules without which this one cannot be tried. */
  readonly needs: readonly string[];
  /** Throws Violation if the guest violates the rule. */
  try(attempt: Attempt): Promise<Verdict>;
}

/** The abilities that a guest announced. */
export interface Abilities {
  readonly handlers: readonly string[];
  readonly tools: readonly string[];
  readonly jobs: readonly string[];
  readonly actions: readonly string[];
  readonly tasks: readonly string[];
  /** Types whose values it brings into their newest form. */
  readonly migrations: readonly string[];
  readonly cancelsTools: boolean;
  readonly maxOpenHooks: number;
}

/** A guest that has answered `initialize`. */
export interface ReadyGuest {
  readonly peer: Peer;
  readonly abilities: Abilities;
}

/** How far a guest is: nothing was sent to it, or it has answered `initialize`, or `startup` too. */
type Stage = "fresh" | "initialized" | "open";
type StagedGuest =
  | { readonly peer: Peer; stage: "fresh"; abilities: null }
  | { readonly peer: Peer; stage: "initialized" | "open"; abilities: Abilities };

/** The state that the rules of one run share. */
export class Run implements AsyncDisposable {
  readonly subject: Subject;
  readonly ports: ConformancePorts;
  readonly observed = new Observed();
  /** A reusable guest from an earlier rule, because starting one takes longer than trying a rule. */
  idle: StagedGuest | null = null;
  #ids = 0;

  constructor(subject: Subject, ports: ConformancePorts) {
    this.subject = subject;
    this.ports = ports;
  }

  /** Returns a new id in the form of the kernel's own. */
  id(): string {
    return `0197a000-0000-7000-8000-${(++this.#ids).toString(16).padStart(12, "0")}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.idle?.peer[Symbol.asyncDispose]();
  }
}

/** The guests of one scenario, which end with it. */
export class Attempt implements AsyncDisposable {
  readonly subject: Subject;
  readonly ports: ConformancePorts;
  /** True if the scenario found nothing wrong. */
  isClean = false;
  readonly #run: Run;
  readonly #guests: StagedGuest[] = [];
  #isOver = false;

  constructor(run: Run) {
    this.subject = run.subject;
    this.ports = run.ports;
    this.#run = run;
  }

  id(): string {
    return this.#run.id();
  }

  /** Returns a guest to which nothing has been sent. */
  async start(): Promise<Peer> {
    return (this.#take("fresh") ?? (await this.#begin())).peer;
  }

  /** Returns a guest that has answered `initialize`, and nothing else. */
  async initialized(): Promise<ReadyGuest> {
    const known = this.#take("initialized");
    if (known?.abilities) return { peer: known.peer, abilities: known.abilities };
    const peer = await this.start();
    return { peer, abilities: await this.initialize(peer) };
  }

  /** Returns a guest that has answered `initialize` and `startup`. */
  async open(): Promise<ReadyGuest> {
    const known = this.#take("open");
    if (known?.abilities) return { peer: known.peer, abilities: known.abilities };
    const ready = await this.initialized();
    await this.startup(ready.peer);
    return ready;
  }

  async startup(peer: Peer): Promise<Answer> {
    const answer = await peer.ask("startup", {});
    const guest = this.#guests.find((each) => each.peer === peer);
    if (guest?.abilities) guest.stage = "open";
    return answer;
  }

  #take(stage: Stage): StagedGuest | null {
    const { idle } = this.#run;
    if (idle?.stage !== stage) return null;
    this.#run.idle = null;
    this.#guests.push(idle);
    return idle;
  }

  async #begin(): Promise<StagedGuest> {
    const { clock, patience } = this.ports;
    const peer = new Peer(await this.subject.start(), { clock, patience, observed: this.#run.observed });
    const guest: StagedGuest = { peer, stage: "fresh", abilities: null };
    if (this.#isOver) await peer[Symbol.asyncDispose]();
    else this.#guests.push(guest);
    return guest;
  }

  /** Throws Violation if the answer is an error or has another form. */
  async initialize(peer: Peer, more: object = {}): Promise<Abilities> {
    const sent = peer.send("initialize", { ...this.#initializeParams(), ...more });
    const answer = await peer.answerTo(sent, this.ports.patience.initializeMs);
    const said = resultOf("initialize", answer);
    const fault = validate(guestRequests.initialize.result, said, "The answer to initialize");
    if (fault !== null) throw new Violation(fault.message);
    const fields = said as Record<string, unknown>;
    const abilities = {
      handlers: fields["handlers"] as string[],
      tools: fields["tools"] as string[],
      jobs: fields["jobs"] as string[],
      actions: (fields["actions"] ?? []) as string[],
      tasks: (fields["tasks"] ?? []) as string[],
      migrations: (fields["migrations"] ?? []) as string[],
      cancelsTools: fields["cancels_tools"] === true,
      maxOpenHooks: typeof fields["max_open_hooks"] === "number" ? fields["max_open_hooks"] : 1,
    };
    const guest = this.#guests.find((each) => each.peer === peer);
    if (guest !== undefined) Object.assign(guest, { stage: "initialized", abilities });
    return abilities;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    const isFree = this.isClean && this.#run.idle === null;
    const kept = isFree ? this.#guests.find(({ peer }) => peer.reset()) : undefined;
    if (kept !== undefined) this.#run.idle = kept;
    const others = this.#guests.filter((guest) => guest !== kept);
    await Promise.all(others.map(({ peer }) => peer[Symbol.asyncDispose]()));
  }

  #initializeParams(): Record<string, unknown> {
    const { extension, permissions, limits } = this.subject;
    return { abi: 1, extension, config: {}, permissions, locations: ["."], models: [], limits };
  }
}

/** Returns the result of an answer that may not be an error. */
export function resultOf(method: string, answer: Answer): unknown {
  if (answer.kind === "result") return answer.result;
  throw new Violation(`It answered ${method} with an error: ${answer.error.message}`);
}

/** Returns what is wrong with an answer to `ping`; null if nothing is. */
export function pingFault(result: unknown): string | null {
  if (!isJsonObject(result)) return "The answer to ping is not an object.";
  return validate(guestRequests.ping.result, result, "The answer to ping")?.message ?? null;
}

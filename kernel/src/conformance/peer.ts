import { unlessAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { isJsonObject } from "../base/json.ts";
import { wireCodes } from "../protocol/errors.ts";
import { type GuestMessage, readMessage, shown, type WireError } from "../sandbox/abi/v1/messages.ts";
import { type CallFault, callFault, notificationFault, resultFor } from "./calls.ts";
import type { Observed, ObservedRule } from "./observed.ts";
import { endedByItself, lineTooLong } from "../sandbox/host/ends.ts";
import { abiBounds } from "../sandbox/abi/v1/bounds.ts";
import { bounds, type GuestPipe, type Patience } from "./ports.ts";
import { OtherViolation, Violation } from "./results.ts";

/** A guest's answer to one request. */
export type Answer =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly error: WireError };

/** A request that was sent. */
export interface Sent {
  readonly id: number;
  readonly method: string;
  readonly answer: Promise<Answer>;
  /** The place of its answer among all answers of the guest; null until it is there. */
  place: number | null;
}

/** How the guest's host calls end: answered, refused with PermissionDenied, or open until they are released. */
type CallMode = "answer" | "refuse" | "hold";

interface HeldCall {
  readonly id: string | number;
  readonly method: string;
  readonly params: unknown;
}

interface OpenRequest {
  readonly sent: Sent;
  readonly resolve: (answer: Answer) => void;
}

const refusal = {
  code: wireCodes.PermissionDenied,
  message: "The agent may not do this: conformance refuses every call of this guest.",
  data: { code: "PermissionDenied" },
};
const cancelled = {
  code: wireCodes.RequestCancelled,
  message: "The agent cancelled this call.",
  data: { code: "RequestCancelled" },
};
const tooMany = {
  code: wireCodes.LimitExceeded,
  message: `${abiBounds.maxOpenCalls} calls are already open. Wait until one is answered.`,
  data: { code: "LimitExceeded", limit: "maxOpenCalls", value: abiBounds.maxOpenCalls },
};
const encoder = new TextEncoder();

/** The kernel's end of ABI v1 for one guest, which answers plainly, notes every violation, and can misbehave itself. */
export class Peer implements AsyncDisposable {
  readonly #guest: GuestPipe;
  readonly #clock: Clock;
  readonly #patience: Patience;
  readonly #observed: Observed;
  readonly #open = new Map<unknown, OpenRequest>();
  /** Ids of the guest's calls that are not answered. */
  readonly #calls = new Set<string | number>();
  #held: HeldCall[] = [];
  readonly #listening: Disposable;
  readonly #ended = new AbortController();
  #mode: CallMode = "answer";
  #nextId = 1;
  #places = 0;
  #endReason: string | null = null;
  /** The rule that the guest violated while it was asked for something else. */
  #blamed: ObservedRule | null = null;
  #watchers: (() => void)[] = [];
  /** Invalid lines, while a scenario provokes them. */
  #provoked: string[] | null = null;
  #seenCharacters = 0;
  /** Calls of this guest in order. */
  readonly seen: { readonly method: string; readonly params: unknown }[] = [];

  constructor(guest: GuestPipe, options: { clock: Clock; patience: Patience; observed: Observed }) {
    this.#guest = guest;
    this.#clock = options.clock;
    this.#patience = options.patience;
    this.#observed = options.observed;
    this.#listening = guest.lines.on((line) => this.#receive(line));
    void guest.exited.then(({ reason }) => this.#end(reason));
  }

  get mode(): CallMode {
    return this.#mode;
  }

  /** Applies to calls from now on; those that are held stay so until `release`. */
  set mode(mode: CallMode) {
    this.#mode = mode;
  }

  /** True if the guest returned or exited by itself. */
  get hasExited(): boolean {
    return this.#endReason?.startsWith(endedByItself) === true;
  }

  /** Sends a request and returns at once. `more` becomes fields of the message, beside `params`. */
  send(method: string, params: unknown, more: object = {}): Sent {
    const sent = this.register(method);
    this.raw(JSON.stringify({ jsonrpc: "2.0", id: sent.id, method, params, ...more }));
    return sent;
  }

  /** Returns a request with a new id that the caller writes itself. */
  register(method: string): Sent {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const sent: Sent = { id: this.#nextId++, method, answer: promise, place: null };
    this.#open.set(sent.id, { sent, resolve });
    return sent;
  }

  raw(line: string): void {
    this.#guest.send(line);
  }

  bytes(text: string): void {
    this.#guest.sendBytes(encoder.encode(text));
  }

  /** Sends a request and returns its answer. Throws Violation if there is none in time. */
  ask(method: string, params: unknown, withinMs = this.#patience.answerMs): Promise<Answer> {
    return this.answerTo(this.send(method, params), withinMs);
  }

  /** Returns the answer to a request. Throws Violation if the guest does not give it in time, or ends before. */
  async answerTo(sent: Sent, withinMs = this.#patience.answerMs): Promise<Answer> {
    const late = this.#after(withinMs);
    try {
      const answer = await unlessAborted(Promise.race([sent.answer, late.promise]), this.#ended.signal);
      if (answer !== "late") return answer;
    } finally {
      late[Symbol.dispose]();
    }
    throw this.#blame(`It did not answer ${sent.method} within ${withinMs} ms.`);
  }

  /** Asks for a `ping` and so makes sure that the guest still reads and answers. */
  async probe(after: string, withinMs = this.#patience.answerMs): Promise<void> {
    const sent = this.send("ping", {});
    try {
      await this.answerTo(sent, withinMs);
    } catch (error) {
      if (error instanceof Violation) throw new Violation(`After ${after}: ${error.message}`);
      throw error;
    }
  }

  /** Resolves true when a host call is held, false when `until` settles first. */
  async untilHeld(until: Promise<unknown>): Promise<boolean> {
    const settled = until.then(
      () => "settled" as const,
      () => "settled" as const,
    );
    for (;;) {
      if (this.#held.length > 0) return true;
      const { promise, resolve } = Promise.withResolvers<"changed">();
      this.#watchers.push(() => resolve("changed"));
      if ((await Promise.race([promise, settled])) === "settled") return this.#held.length > 0;
    }
  }

  /** Answers held calls, the latest first, and all further ones in the same way. */
  release(mode: Exclude<CallMode, "hold"> = "answer"): void {
    this.#mode = mode;
    for (const { id, method } of this.#held.splice(0).toReversed()) this.#reply(id, method, mode);
  }

  /** Returns the task that the latest held call asks for; null if it asks for something else. */
  heldTask(): { readonly name: string; readonly input: unknown } | null {
    const call = this.#held.at(-1);
    if (call?.method !== "jobs/task" || !isJsonObject(call.params)) return null;
    const { name, input } = call.params;
    return typeof name === "string" ? { name, input } : null;
  }

  /** Answers the latest held call. */
  releaseOne(): void {
    const call = this.#held.pop();
    if (call !== undefined) this.#reply(call.id, call.method, "answer");
  }

  /** Answers the held calls as cancelled, as the kernel does after a person cancelled the work. */
  cancelHeld(): void {
    this.#mode = "answer";
    for (const { id } of this.#held.splice(0)) this.#refuse(id, cancelled);
  }

  /** Resolves with the reason of the guest's end. Throws Violation if it still runs after that time. */
  async untilEnded(withinMs: number): Promise<string> {
    const late = this.#after(withinMs);
    try {
      const first = await Promise.race([this.#guest.exited, late.promise]);
      if (first !== "late") return first.reason;
    } finally {
      late[Symbol.dispose]();
    }
    throw this.#blame(`It answered shutdown and was still running ${withinMs} ms later.`);
  }

  /** Collects invalid lines and stray answers from now on, and blames the guest for none of them. */
  collectFaults(): readonly string[] {
    this.#provoked ??= [];
    return this.#provoked;
  }

  /** Makes the guest ready for another rule. Returns false if it ended, owes an answer, or violated a rule. */
  reset(): boolean {
    this.#mode = "answer";
    this.#provoked = null;
    this.seen.length = 0;
    this.#seenCharacters = 0;
    return (
      this.#endReason === null && this.#blamed === null && this.#open.size === 0 && this.#held.length === 0
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listening[Symbol.dispose]();
    await this.#guest.kill("The rule was tried.");
  }

  #after(ms: number): { readonly promise: Promise<"late"> } & Disposable {
    const { promise, resolve } = Promise.withResolvers<"late">();
    const timer = this.#clock.timer(ms, () => resolve("late"));
    return { promise, [Symbol.dispose]: () => timer[Symbol.dispose]() };
  }

  #end(reason: string): void {
    this.#endReason = reason;
    if (reason === lineTooLong) this.#violates("line-length", reason);
    const error = this.#blame(`It ended: ${reason}`);
    this.#ended.abort(error);
    this.#wake();
  }

  #blame(sentence: string): Violation | OtherViolation {
    return this.#blamed === null
      ? new Violation(sentence)
      : new OtherViolation(`${sentence} It violates ${this.#blamed}.`);
  }

  #violates(rule: ObservedRule, detail: string): void {
    this.#observed.add(rule, detail);
    this.#blamed ??= rule;
  }

  #receive(line: string): void {
    if (this.#endReason !== null) return;
    this.#observed.lines++;
    const message = readMessage(line);
    switch (message.kind) {
      case "fault":
        if (this.#provoked === null)
          this.#violates("stdout-messages", `A line ${message.fault}: ${shown(line)}.`);
        else this.#provoke(this.#provoked, line);
        return;
      case "notification":
        return this.#receiveNotification(message);
      case "call":
        return this.#receiveCall(message, line.length);
      case "result":
        return this.#settle(message.id, { kind: "result", result: message.result });
      case "error":
        return this.#settle(message.id, { kind: "error", error: message.error });
    }
  }

  #settle(id: string | number, answer: Answer): void {
    const request = this.#open.get(id);
    if (request === undefined) {
      const known = typeof id === "number" && id > 0 && id < this.#nextId;
      const detail = known
        ? `It answered ${id} twice.`
        : `It answered ${shown(String(id))}, which was never asked.`;
      if (this.#provoked === null) this.#violates("answer-ids", detail);
      else this.#provoke(this.#provoked, detail);
      return;
    }
    this.#observed.answers++;
    this.#open.delete(id);
    request.sent.place = this.#places++;
    request.resolve(answer);
  }

  #receiveNotification({ method, params }: GuestMessage & { kind: "notification" }): void {
    this.#observed.notifications++;
    const fault = notificationFault(method, params);
    if (fault !== null) this.#observed.add("guest-notifications", fault);
    if (method !== "cancel" || !isJsonObject(params)) return;
    const held = this.#held.find(({ id }) => id === params["id"]);
    if (held === undefined) return;
    this.#held = this.#held.filter((call) => call !== held);
    this.#refuse(held.id, cancelled);
  }

  /** A guest that never stops must not fill the memory. */
  #provoke(kept: string[], line: string): void {
    const { maxProvoked, maxProvokedCharacters } = bounds;
    if (kept.length < maxProvoked) kept.push(line.slice(0, maxProvokedCharacters));
    else if (kept.length === maxProvoked) kept.push(`more than ${maxProvoked} lines`);
  }

  #receiveCall({ id, method, params }: GuestMessage & { kind: "call" }, characters: number): void {
    this.#observed.calls++;
    this.#seenCharacters += characters;
    if (this.seen.length < bounds.maxSeenCalls && this.#seenCharacters <= bounds.maxSeenCharacters)
      this.seen.push({ method, params });
    const fault = callFault(method, params);
    if (fault !== null) this.#observed.add("host-calls", fault.sentence);
    if (this.#calls.has(id)) {
      // One of the two will get the answer of the other.
      this.#violates(
        "call-ids",
        `It called ${shown(method)} with the id ${shown(String(id))} of an open call.`,
      );
      return;
    }
    if (this.#calls.size >= abiBounds.maxOpenCalls) {
      this.#violates("open-calls", `It had more than ${abiBounds.maxOpenCalls} host calls open.`);
      this.#refuse(id, tooMany);
      return;
    }
    this.#calls.add(id);
    // As in the kernel, an answer is made after the lines that arrived together were read.
    queueMicrotask(() => this.#handleCall({ id, method, params }, fault));
  }

  #handleCall(call: HeldCall, fault: CallFault | null): void {
    const { id, method } = call;
    if (fault !== null) return this.#refuse(id, fault.error);
    if (this.#mode === "hold") {
      this.#held.push(call);
      this.#wake();
    } else this.#reply(id, method, this.#mode);
  }

  #reply(id: string | number, method: string, mode: "answer" | "refuse"): void {
    if (mode === "refuse") return this.#refuse(id, refusal);
    this.#calls.delete(id);
    this.raw(JSON.stringify({ jsonrpc: "2.0", id, result: resultFor(method) }));
  }

  #refuse(id: string | number, error: WireError): void {
    this.#calls.delete(id);
    this.raw(JSON.stringify({ jsonrpc: "2.0", id, error }));
  }

  #wake(): void {
    for (const watcher of this.#watchers.splice(0)) watcher();
  }
}

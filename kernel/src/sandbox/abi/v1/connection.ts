import type { Clock } from "../../../base/clock.ts";
import { Emitter } from "../../../base/emitter.ts";
import { textNestsDeeperThan } from "../../../base/json-depth.ts";
import {
  isLaresError,
  LaresError,
  limitExceeded,
  messageOf,
  requestCancelled,
} from "../../../base/errors.ts";
import { isJsonObject } from "../../../base/json.ts";
import { abiBounds as bounds } from "./bounds.ts";
import { FloodGate, type Spent } from "./flood-gate.ts";
import { type CallId, type GuestMessage, isCallId, readMessage, shown } from "./messages.ts";
import { NotificationMeter } from "./notification-meter.ts";
import { type ErrorNumbers, fromWireError, toWireError } from "./wire-errors.ts";

/** The part of a guest that the connection needs. */
export interface GuestPipe {
  send(line: string): void;
  readonly lines: Emitter<string>;
  readonly exited: Promise<{ readonly reason: string; readonly isSandboxFault?: boolean }>;
  kill(reason?: string): Promise<void>;
}

export interface ConnectionPorts {
  readonly clock: Clock;
  readonly errors: ErrorNumbers;
  /**
   * Answers a guest's call. A LaresError that it throws is sent to the guest unchanged. The signal is aborted when the
   * guest cancels the call.
   */
  call(method: string, params: unknown, cancelled: AbortSignal): Promise<unknown>;
  /**
   * Receives `trace` and `notify` without an id, not more often than the bounds allow. Their params are not checked
   * yet.
   */
  notify(method: string, params: unknown): void;
  /** Reports a violation of the ABI or dropped messages, as a sentence; bounded in number. */
  fault(sentence: string): void;
}

/** A request to the guest was sent or answered. */
export interface RequestChange {
  readonly kind: "sent" | "answered";
  readonly id: number;
  readonly method: string;
  /** The `call_id` of its params, if they have one. */
  readonly call?: string;
}

export interface GuestConnection extends Disposable {
  /**
   * Sends a request; beyond the bound of open ones it waits for its turn. Rejects with the guest's own error, with
   * "AgentError" if the guest ends first, and with "LimitExceeded" if the message is too long or too many wait.
   */
  request(method: string, params: unknown): Promise<unknown>;
  readonly requests: Emitter<RequestChange>;
  /** Stops waiting for an answer: the request rejects with this error, and a later answer counts as stray. */
  abandon(id: number, error: LaresError): void;
  /** The number of the guest's calls that are not answered yet. */
  readonly openCalls: number;
  /** The number of answers without an open request: never sent, or answered before. */
  readonly strayAnswers: number;
}

const encoder = new TextEncoder();

interface OpenRequest {
  readonly method: string;
  readonly call?: string;
  readonly reply: PromiseWithResolvers<unknown>;
}

/** Opens a JSON-RPC 2.0 connection, one message per line, with a guest that may be hostile. */
export function connectGuest(guest: GuestPipe, ports: ConnectionPorts): GuestConnection {
  return new Connection(guest, ports);
}

class Connection implements GuestConnection {
  readonly requests = new Emitter<RequestChange>();
  readonly #guest: GuestPipe;
  readonly #ports: ConnectionPorts;
  readonly #open = new Map<CallId, OpenRequest>();
  readonly #waiting: { readonly line: string; readonly id: number; readonly request: OpenRequest }[] = [];
  /** The guest's calls that are not answered yet; aborted where the guest has cancelled one. */
  readonly #calls = new Map<CallId, AbortController>();
  readonly #meters: Readonly<Record<string, NotificationMeter>>;
  /** Counts stray answers. None is passed on; they are reported together. */
  readonly #strayMeter: NotificationMeter;
  readonly #gate: FloodGate;
  readonly #listening: Disposable;
  #nextId = 1;
  #faults = 0;
  #strayAnswers = 0;
  #endReason: string | null = null;
  /** The length of the current line, in characters. */
  #lineLength = 0;

  constructor(guest: GuestPipe, ports: ConnectionPorts) {
    this.#guest = guest;
    this.#ports = ports;
    const meter = (method: string, perSecond: number): NotificationMeter =>
      new NotificationMeter(ports.clock, perSecond, (count) =>
        ports.fault(
          `"${method}" was dropped or refused ${times(count)}: more than ${perSecond} came within a second.`,
        ),
      );
    this.#strayMeter = new NotificationMeter(ports.clock, 0, (count) =>
      ports.fault(`It answered ${times(count)} without an open request.`),
    );
    this.#gate = new FloodGate(ports.clock);
    this.#meters = {
      trace: meter("trace", bounds.maxTracesPerSecond),
      notify: meter("notify", bounds.maxNotifiesPerSecond),
    };
    this.#listening = guest.lines.on((line) => this.#receive(line));
    void guest.exited.then(({ reason }) => this.#end(reason));
  }

  get openCalls(): number {
    return this.#calls.size;
  }

  get strayAnswers(): number {
    return this.#strayAnswers;
  }

  request(method: string, params: unknown): Promise<unknown> {
    if (this.#endReason !== null) return Promise.reject(agentEnded(this.#endReason));
    const id = this.#nextId++;
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    if (isTooLong(line)) {
      return Promise.reject(
        limitExceeded(
          "maxLineBytes",
          line.length,
          `The params of ${method} are over ${bounds.maxLineBytes} bytes.`,
        ),
      );
    }
    const call = isJsonObject(params) ? params["call_id"] : undefined;
    const request = {
      method,
      ...(typeof call === "string" ? { call } : {}),
      reply: Promise.withResolvers<unknown>(),
    };
    if (this.#open.size < bounds.maxOpenCalls) this.#send(id, line, request);
    else if (this.#waiting.length < bounds.maxWaitingRequests) this.#waiting.push({ id, line, request });
    else {
      const message = `${bounds.maxWaitingRequests} requests are already waiting for this agent.`;
      return Promise.reject(limitExceeded("maxWaitingRequests", bounds.maxWaitingRequests, message));
    }
    return request.reply.promise;
  }

  abandon(id: number, error: LaresError): void {
    if (this.#open.has(id)) this.#settle(id, (reply) => reply.reject(error));
  }

  [Symbol.dispose](): void {
    this.#end("The connection to the agent was closed.");
  }

  #send(id: number, line: string, request: OpenRequest): void {
    this.#open.set(id, request);
    const { method, call } = request;
    this.requests.emit({ kind: "sent", id, method, ...(call === undefined ? {} : { call }) });
    this.#guest.send(line);
  }

  #receive(line: string): void {
    if (this.#endReason !== null) return;
    const message = readMessage(line);
    this.#lineLength = line.length;
    if (message.kind !== "fault" && textNestsDeeperThan(line, bounds.maxDepth)) {
      this.#refuseDeep(message, line);
      return;
    }
    switch (message.kind) {
      case "call":
        return this.#receiveCall(message);
      case "notification":
        return this.#receiveNotification(message.method, message.params);
      case "result":
        return this.#settle(message.id, (reply) => reply.resolve(message.result));
      case "error":
        return this.#settle(message.id, (reply) =>
          reply.reject(fromWireError(message.error, this.#ports.errors)),
        );
      case "fault":
        return this.#fault(`A line of its stdout ${message.fault}: ${shown(line)}.`);
    }
  }

  /** The receiver of a message that is nested deeper might not be able to serialize it again. */
  #refuseDeep(message: Exclude<GuestMessage, { kind: "fault" }>, line: string): void {
    const tooDeep = (what: string): LaresError =>
      limitExceeded("maxDepth", bounds.maxDepth, `${what} nests deeper than ${bounds.maxDepth} levels.`);
    switch (message.kind) {
      case "call":
        // If a call with this id is open, only its own answer may use the id.
        if (!this.#calls.has(message.id)) {
          this.#waste("refused");
          this.#answerError(message.id, tooDeep(`The call ${shown(message.method)}`));
          return;
        }
        break;
      case "result":
      case "error":
        return this.#settle(message.id, (reply) => reply.reject(tooDeep("The agent's answer")));
      case "notification":
        break;
    }
    this.#fault(`A line of its stdout nests deeper than ${bounds.maxDepth} levels: ${shown(line)}.`);
  }

  #receiveCall({ id, method, params }: GuestMessage & { kind: "call" }): void {
    if (this.#calls.has(id)) {
      this.#fault(
        `It called ${shown(method)} with the id ${shown(String(id))}, which an open call already uses.`,
      );
      return;
    }
    if (this.#calls.size >= bounds.maxOpenCalls) {
      this.#waste("refused");
      const message = `${bounds.maxOpenCalls} calls are already open. Wait until one is answered.`;
      this.#answerError(id, limitExceeded("maxOpenCalls", bounds.maxOpenCalls, message));
      return;
    }
    if (method === "trace") {
      this.#waste("refused");
      const message = '"trace" is a notification: send it without an id. It has no answer.';
      this.#answerError(id, new LaresError("MethodNotFound", message, { method }));
      return;
    }
    const meter = this.#meterOf(method);
    if (meter !== undefined && !meter.admits()) {
      this.#waste("refused");
      const message = `More than ${meter.perSecond} calls of ${method} within a second.`;
      this.#answerError(id, limitExceeded("perSecond", meter.perSecond, message));
      return;
    }
    const cancelled = new AbortController();
    this.#calls.set(id, cancelled);
    // Called asynchronously, so that an error thrown at once is answered like a rejection.
    Promise.resolve()
      .then(() => this.#ports.call(method, params, cancelled.signal))
      .then(
        (result) => this.#answer(id, method, result),
        (error: unknown) => this.#refuse(id, method, error),
      );
  }

  #answer(id: CallId, method: string, result: unknown): void {
    this.#calls.delete(id);
    let line: string;
    try {
      line = JSON.stringify({ jsonrpc: "2.0", id, result: result ?? null });
    } catch (error) {
      this.#refuse(id, method, error);
      return;
    }
    if (isTooLong(line)) {
      const message = `The answer to ${method} is over ${bounds.maxLineBytes} bytes. Request less at a time.`;
      this.#answerError(id, limitExceeded("maxLineBytes", line.length, message));
    } else if (this.#endReason === null) {
      this.#guest.send(line);
    }
  }

  #refuse(id: CallId, method: string, error: unknown): void {
    this.#calls.delete(id);
    if (!isLaresError(error))
      this.#ports.fault(`Its call ${shown(method)} failed in the kernel: ${messageOf(error)}`);
    this.#answerError(id, error);
  }

  #answerError(id: CallId, error: unknown): void {
    if (this.#endReason !== null) return;
    this.#guest.send(JSON.stringify({ jsonrpc: "2.0", id, error: toWireError(error, this.#ports.errors) }));
  }

  #receiveNotification(method: string, params: unknown): void {
    if (method === "cancel") return this.#cancel(params);
    const meter = this.#meterOf(method);
    if (meter === undefined) {
      this.#fault(`It sent the unknown notification ${shown(method)}.`);
      return;
    }
    const isAdmitted = meter.admits();
    this.#waste(isAdmitted ? "used" : "wasted");
    if (isAdmitted) this.#ports.notify(method, params);
  }

  /** An id that is not open is not a fault: the answer may be on its way. It counts as a dropped message. */
  #cancel(params: unknown): void {
    const id = isJsonObject(params) ? params["id"] : undefined;
    if (!isCallId(id)) {
      this.#fault("It cancelled a call by an id that is neither a text nor a number.");
      return;
    }
    const call = this.#calls.get(id);
    const isOpen = call !== undefined && !call.signal.aborted;
    this.#waste(isOpen ? "used" : "wasted");
    if (isOpen) call.abort(requestCancelled("The agent cancelled this call."));
  }

  #meterOf(method: string): NotificationMeter | undefined {
    return Object.hasOwn(this.#meters, method) ? this.#meters[method] : undefined;
  }

  #settle(id: CallId, settle: (reply: PromiseWithResolvers<unknown>) => void): void {
    const request = this.#open.get(id);
    if (request === undefined || typeof id !== "number") {
      this.#strayAnswers++;
      this.#strayMeter.admits();
      this.#waste("wasted");
      return;
    }
    this.#open.delete(id);
    const next = this.#waiting.shift();
    if (next !== undefined) this.#send(next.id, next.line, next.request);
    this.requests.emit({ kind: "answered", id, method: request.method });
    settle(request.reply);
  }

  #fault(sentence: string): void {
    this.#faults++;
    if (this.#faults <= bounds.maxFaults) {
      this.#ports.fault(sentence);
      return;
    }
    this.#throwOut(`It violated the ABI ${this.#faults} times. The last violation: ${sentence}`);
  }

  /** Counts the current line. */
  #waste(what: Spent): void {
    const reason = this.#gate.take(what, this.#lineLength);
    if (reason !== null) this.#throwOut(reason);
  }

  #throwOut(reason: string): void {
    void this.#guest.kill(reason);
    this.#end(reason);
  }

  #end(reason: string): void {
    if (this.#endReason !== null) return;
    this.#endReason = reason;
    this.#listening[Symbol.dispose]();
    for (const meter of [...Object.values(this.#meters), this.#strayMeter]) meter[Symbol.dispose]();
    const unanswered = [...this.#open.values(), ...this.#waiting.splice(0).map(({ request }) => request)];
    this.#open.clear();
    for (const { reply } of unanswered) reply.reject(agentEnded(reason));
  }
}

const ends = new WeakSet<object>();

/** Returns true for the kernel's own error that the guest ended, and false for a guest's answer that looks like it. */
export function isAgentEnd(error: unknown): boolean {
  return typeof error === "object" && error !== null && ends.has(error);
}

function agentEnded(reason: string): LaresError {
  const error = new LaresError("AgentError", `The agent ended before it answered. ${reason}`, { reason });
  ends.add(error);
  return error;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

/** A UTF-16 unit takes at most three bytes, so only lines near the limit need to be encoded to be measured. */
function isTooLong(line: string): boolean {
  if (line.length > bounds.maxLineBytes) return true;
  if (line.length * 3 <= bounds.maxLineBytes) return false;
  return encoder.encode(line).length > bounds.maxLineBytes;
}

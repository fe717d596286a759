import type { Disposable } from "vscode";
import type { ConnectionState } from "../kernel/connection.ts";
import type { KernelState } from "../kernel/kernel.ts";
import type {
  ClientRequest,
  NotificationParamsOf,
  ParamsOf,
  ResultOf,
  ServerNotification,
} from "../protocol.ts";
import { EventEmitter } from "./vscode.ts";

interface Asked {
  readonly method: ClientRequest;
  readonly params: unknown;
  answer(result: unknown): void;
  refuse(error: Error): void;
}

/** The kernel's side of a connection, played by a test: it sees what is asked, and answers when it likes. */
export class FakeWire<State extends ConnectionState | KernelState> {
  readonly #stateChanged = new EventEmitter<State>();
  readonly #emitters = new Map<string, EventEmitter<unknown>>();
  /** Requests that are open, oldest first. */
  readonly asked: Asked[] = [];
  state: State;

  constructor(state: State) {
    this.state = state;
  }

  readonly onDidChangeState = (listener: (state: State) => unknown): Disposable =>
    this.#stateChanged.event(listener);

  become(state: State): void {
    this.state = state;
    this.#stateChanged.fire(state);
  }

  request<Method extends ClientRequest>(method: Method, params: ParamsOf<Method>): Promise<ResultOf<Method>> {
    return new Promise((resolve, reject) => {
      const asked: Asked = {
        method,
        params,
        answer: (result) => {
          this.#forget(asked);
          resolve(result as ResultOf<Method>);
        },
        refuse: (error) => {
          this.#forget(asked);
          reject(error);
        },
      };
      this.asked.push(asked);
    });
  }

  on<Method extends ServerNotification>(
    method: Method,
    listener: (params: NotificationParamsOf<Method>) => void,
  ): Disposable {
    return this.#emitter(method).event((params) => listener(params as NotificationParamsOf<Method>));
  }

  tell<Method extends ServerNotification>(method: Method, params: NotificationParamsOf<Method>): void {
    this.#emitter(method).fire(params);
  }

  /** Answers the oldest open request of this method, and lets its waiting callers continue. */
  async answer<Method extends ClientRequest>(method: Method, result: ResultOf<Method>): Promise<void> {
    this.#oldest(method).answer(result);
    await settled();
  }

  /** `code`: of the kernel's own refusals the name, of others the number. */
  async refuse(method: ClientRequest, message: string, code?: string | number): Promise<void> {
    const facts = typeof code === "number" ? { code } : { code: -33000, data: code && { code } };
    this.#oldest(method).refuse(Object.assign(new Error(message), facts));
    await settled();
  }

  isAsked(method: ClientRequest): boolean {
    return this.asked.some((asked) => asked.method === method);
  }

  #oldest(method: ClientRequest): Asked {
    const asked = this.asked.find((candidate) => candidate.method === method);
    if (asked === undefined)
      throw new Error(`${method} is not asked; open: ${this.asked.map((one) => one.method).join(", ")}`);
    return asked;
  }

  #forget(asked: Asked): void {
    this.asked.splice(this.asked.indexOf(asked), 1);
  }

  #emitter(method: string): EventEmitter<unknown> {
    const emitter = this.#emitters.get(method) ?? new EventEmitter<unknown>();
    this.#emitters.set(method, emitter);
    return emitter;
  }
}

/** Everything that waits for a promise already answered has gone on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

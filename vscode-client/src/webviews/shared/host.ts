import {
  isWithin,
  readAs,
  Told,
  toldBounds,
  type Ask,
  type Contract,
  type Failure,
  type Params,
  type Push,
  type PushName,
  type RequestName,
  type Result,
} from "./channel.ts";

/** The number of open requests of a view; more would mean that the view sends requests in a loop. */
const maxOpenAsks = 64;

/** The extension, as seen from a view. */
export interface Host<C extends Contract> {
  /** Rejects with `AskFailed`. */
  ask<Name extends RequestName<C>>(name: Name, params: Params<C, Name>): Promise<Result<C, Name>>;
  /** Returns a function that removes the listener. */
  on<Name extends PushName<C>>(name: Name, listener: (params: Push<C, Name>) => void): () => void;
}

/** The page's end of the channel; in a webview, the editor's. */
export interface Port {
  postMessage(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
}

export class AskFailed extends Error {
  override readonly name = "AskFailed";
  readonly code: string | undefined;
  constructor({ message, code }: Failure) {
    super(message);
    this.code = code;
  }
}

interface OpenAsk {
  readonly name: string;
  resolve(result: unknown): void;
  reject(error: AskFailed): void;
}

export function connect<C extends Contract>(contract: C, port: Port): Host<C> {
  const open = new Map<number, OpenAsk>();
  const listeners = new Map<string, Set<(params: never) => void>>();
  let lastId = 0;

  const settle = (id: number, act: (asked: OpenAsk) => void): void => {
    const asked = open.get(id);
    if (asked === undefined) return;
    open.delete(id);
    act(asked);
  };

  port.onMessage((message) => {
    const received = isWithin(message, toldBounds) ? readAs(Told, message)?.value : undefined;
    if (received === undefined) {
      rejectUnreadable(message, settle);
    } else if ("push" in received) {
      const schema = Object.hasOwn(contract.pushes, received.push)
        ? contract.pushes[received.push]
        : undefined;
      const params = schema === undefined ? undefined : readAs(schema, received.params);
      if (params === undefined) return;
      for (const listener of listeners.get(received.push) ?? []) listener(params.value as never);
    } else if ("failure" in received) {
      const { message, code } = received.failure;
      settle(received.answer, ({ reject }) =>
        reject(new AskFailed(code === undefined ? { message } : { message, code })),
      );
    } else {
      settle(received.answer, ({ name, resolve, reject }) => {
        const schema = contract.requests[name]?.result;
        const result = schema === undefined ? undefined : readAs(schema, received.result);
        if (result === undefined) reject(unreadable());
        else resolve(result.value);
      });
    }
  });

  return {
    ask: (name, params) =>
      new Promise((resolve, reject) => {
        if (open.size >= maxOpenAsks) {
          reject(new AskFailed({ message: "Too much was asked at once; try again." }));
          return;
        }
        const id = ++lastId;
        open.set(id, { name, resolve, reject });
        port.postMessage({ id, ask: name, params } satisfies Ask);
      }),
    on: (name, listener) => {
      const others = listeners.get(name) ?? new Set();
      listeners.set(name, others.add(listener));
      return () => void others.delete(listener);
    },
  };
}

const unreadable = (): AskFailed =>
  new AskFailed({ message: "The answer was too large to be shown. Narrow what you look for." });

/** An answer beyond the bounds still ends its request, which would otherwise stay open for ever. */
function rejectUnreadable(
  message: unknown,
  settle: (id: number, act: (asked: OpenAsk) => void) => void,
): void {
  if (typeof message !== "object" || message === null || !("answer" in message)) return;
  if (typeof message.answer === "number") settle(message.answer, ({ reject }) => reject(unreadable()));
}

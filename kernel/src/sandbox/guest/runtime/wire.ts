import { factsOf } from "./errors.ts";
import { dictionary, NativePromise, own, stringOf, toJson, whenSettled } from "./intrinsics.ts";
import { maxLineBytes, maxOpenCalls, type Native } from "./native.ts";

/** The methods that the program answers, by name. */
export type Methods = Record<string, (params: unknown) => unknown>;

/** The JSON-RPC and kernel error numbers that the runtime itself uses. */
const codes = {
  methodNotFound: -32601,
  requestCancelled: -32800,
  limitExceeded: -33007,
  agentError: -33013,
};

/** The kernel's refusal of a call: `code` is JSON-RPC's number, `data.code` the protocol's name. */
interface RemoteError extends Error {
  code: number;
  data: unknown;
}

interface Call {
  readonly method: string;
  readonly text: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** 0 until it is sent. */
  id: number;
  isCancelled: boolean;
  next: Call | undefined;
}

/**
 * The guest's end of ABI v1: JSON-RPC 2.0, one message per line. Envelopes are built as text, so that nothing that a
 * program adds to `Object.prototype` (a `toJSON`, an `id`) can affect them.
 */
export class Wire {
  readonly #native: Native;
  readonly #parse: typeof JSON.parse;
  /** Methods that the runtime answers itself, at once; they take precedence over the program's. */
  readonly #own: Methods;
  #methods: Methods = dictionary() as Methods;
  #loading: Promise<unknown> | undefined;
  #lastId = 0;
  #open = 0;
  readonly #pending = dictionary<Call>();
  #firstWaiting: Call | undefined;
  #lastWaiting: Call | undefined;

  constructor(native: Native, parse: typeof JSON.parse, own: Methods) {
    this.#native = native;
    this.#parse = parse;
    this.#own = own;
  }

  serve(methods: Methods): void {
    const table = dictionary() as Methods;
    for (const name in methods) {
      const method = own(methods, name);
      if (typeof method === "function") table[name] = method as Methods[string];
    }
    this.#methods = table;
  }

  /** Sets the promise of the program's evaluation. Requests wait for it, and fail with its error. */
  loading(program: Promise<unknown>): void {
    this.#loading = program;
    whenSettled(
      program,
      () => (this.#loading = undefined),
      () => undefined, // every request reports the error, beginning with `initialize`
    );
  }

  notify(method: string, params: unknown): boolean {
    return (
      this.#write(`{"jsonrpc":"2.0","method":${toJson(method)},"params":${toJson(params) ?? "{}"}}\n`) === 0
    );
  }

  /** `cancellable` is given a function that takes the call back; it may be called at any time. */
  call(method: string, params: unknown, cancellable?: (cancel: () => void) => void): Promise<unknown> {
    return new NativePromise((resolve, reject) => {
      const text = `"method":${toJson(stringOf(method))},"params":${toJson(params) ?? "{}"}}\n`;
      const call: Call = { method, text, resolve, reject, id: 0, isCancelled: false, next: undefined };
      if (this.#open < maxOpenCalls) this.#send(call);
      else {
        if (this.#lastWaiting === undefined) this.#firstWaiting = call;
        else this.#lastWaiting.next = call;
        this.#lastWaiting = call;
      }
      cancellable?.(() => this.#cancel(call));
    });
  }

  /** The kernel answers a call that is cancelled, too; one that was not sent yet is not sent. */
  #cancel(call: Call): void {
    if (call.isCancelled) return;
    call.isCancelled = true;
    if (call.id === 0) {
      call.reject(
        remoteError(codes.requestCancelled, "The agent cancelled this call.", { code: "RequestCancelled" }),
      );
    } else if (this.#pending[call.id] === call)
      this.#write(`{"jsonrpc":"2.0","method":"cancel","params":{"id":${call.id}}}\n`);
  }

  #send(call: Call): void {
    const id = ++this.#lastId;
    call.id = id;
    const size = this.#write(`{"jsonrpc":"2.0","id":${id},${call.text}`);
    if (size !== 0) {
      call.reject(
        remoteError(codes.limitExceeded, tooLong(`The call ${call.method}`, size), {
          code: "LimitExceeded",
          limit: "line_bytes",
          value: size,
        }),
      );
      return;
    }
    this.#pending[id] = call;
    this.#open++;
  }

  receive(line: string): void {
    const message = this.#parse(line) as object;
    const method = own(message, "method");
    const id = own(message, "id");
    if (typeof method === "string") this.#handle(id, method, own(message, "params"));
    else if (typeof id === "number") this.#settle(id, message);
  }

  #settle(id: number, message: object): void {
    const call = this.#pending[id];
    if (call === undefined) return;
    delete this.#pending[id];
    this.#open--;
    const error = own(message, "error");
    if (typeof error === "object" && error !== null) {
      const code = own(error, "code");
      call.reject(
        remoteError(typeof code === "number" ? code : 0, stringOf(own(error, "message")), own(error, "data")),
      );
    } else call.resolve(own(message, "result"));
    while (this.#open < maxOpenCalls && this.#firstWaiting !== undefined) {
      const waiting = this.#firstWaiting;
      this.#firstWaiting = waiting.next;
      if (this.#firstWaiting === undefined) this.#lastWaiting = undefined;
      if (!waiting.isCancelled) this.#send(waiting);
    }
  }

  #handle(id: unknown, method: string, params: unknown): void {
    const built = own(this.#own, method) as Methods[string] | undefined;
    if (built !== undefined) return this.#answer(id, built(params));
    const run = (): void => {
      const handler = this.#methods[method];
      if (handler === undefined && method !== "shutdown") {
        return this.#fail(id, codes.methodNotFound, `This guest has no method "${method}".`, {});
      }
      const answer = (result: unknown): void => this.#ended(method, () => this.#answer(id, result));
      const fail = (error: unknown): void => this.#ended(method, () => this.#failed(id, error));
      try {
        const result = handler?.(params);
        if (result instanceof NativePromise) whenSettled(result, answer, fail);
        else answer(result);
      } catch (error) {
        fail(error);
      }
    };
    if (this.#loading === undefined) run();
    else whenSettled(this.#loading, run, (error) => this.#ended(method, () => this.#failed(id, error)));
  }

  /** After the answer to `shutdown` the guest exits. */
  #ended(method: string, answer: () => void): void {
    answer();
    if (method === "shutdown") this.#native.exit(0);
  }

  #answer(id: unknown, result: unknown): void {
    if (id === undefined) return;
    let text: string | undefined;
    try {
      text = toJson(result);
    } catch (error) {
      return this.#failed(id, error);
    }
    const size = this.#write(`{"jsonrpc":"2.0","id":${toJson(id)},"result":${text ?? "null"}}\n`);
    if (size === 0) return;
    this.#fail(id, codes.limitExceeded, tooLong("The answer", size), {
      code: "LimitExceeded",
      limit: "line_bytes",
      value: size,
    });
  }

  #failed(id: unknown, error: unknown): void {
    const { message, stack, code } = factsOf(error);
    this.#fail(id, codes.agentError, message, code === undefined ? { stack } : { code, stack });
  }

  #fail(id: unknown, code: number, message: string, data: object): void {
    if (id === undefined) return;
    const line = (text: string, facts: string): string =>
      `{"jsonrpc":"2.0","id":${toJson(id)},"error":{"code":${code},"message":${toJson(text)},"data":${facts}}}\n`;
    if (this.#write(line(message, ownJson(data))) === 0) return;
    this.#write(line("The agent threw an error too long to be sent.", "{}"));
  }

  /** Returns 0, or the size in bytes of a line that is too long and was not written. */
  #write(line: string): number {
    return this.#native.write(1, line, maxLineBytes + 1);
  }
}

/** Serializes the runtime's own flat objects, even if `Object.prototype.toJSON` was patched. */
function ownJson(facts: object): string {
  let text = "";
  for (const key in facts) {
    const value = own(facts, key);
    if (value === undefined) continue;
    text += `${text === "" ? "" : ","}${toJson(key)}:${toJson(value)}`;
  }
  return `{${text}}`;
}

function remoteError(code: number, message: string, data: unknown): RemoteError {
  const error = new Error(message) as RemoteError;
  error.code = code;
  error.data = data;
  return error;
}

const tooLong = (what: string, size: number): string =>
  `${what} is a line of ${size} bytes; at most ${maxLineBytes} can be sent. Send it in pieces.`;

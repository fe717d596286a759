import type { Disposable } from "vscode";
import {
  Ask,
  askBounds,
  isWithin,
  maxFailureCharacters,
  readAs,
  type Contract,
  type Failure,
  type Params,
  type Push,
  type PushName,
  type RequestName,
  type Result,
  type Told,
} from "../webviews/shared/channel.ts";

/** The part of the editor's `Webview` for messages. */
interface MessagePort {
  postMessage(message: Told): Thenable<boolean>;
  onDidReceiveMessage(listener: (message: unknown) => void): Disposable;
}

/** The handlers of a view's requests, according to the contract. */
export type Answers<C extends Contract> = {
  readonly [Name in RequestName<C>]: (params: Params<C, Name>) => Promise<Result<C, Name>>;
};

/** The extension's end of the channel to a view. Messages that are not in the contract are ignored. */
export class PageChannel<C extends Contract> implements Disposable {
  readonly #port: MessagePort;
  readonly #listening: Disposable;

  constructor(port: MessagePort, contract: C, answers: Answers<C>) {
    this.#port = port;
    this.#listening = port.onDidReceiveMessage((message) => {
      const asked = isWithin(message, askBounds) ? readAs(Ask, message)?.value : undefined;
      if (asked !== undefined) void this.#answer(contract, answers, asked);
    });
  }

  push<Name extends PushName<C>>(name: Name, params: Push<C, Name>): void {
    void this.#port.postMessage({ push: name, params });
  }

  dispose(): void {
    this.#listening.dispose();
  }

  async #answer(contract: C, answers: Answers<C>, { id, ask, params }: Ask): Promise<void> {
    const shape = Object.hasOwn(contract.requests, ask) ? contract.requests[ask] : undefined;
    const read = shape === undefined ? undefined : readAs(shape.params, params);
    if (read === undefined) {
      await this.#port.postMessage({ answer: id, failure: { message: `The view asked "${ask}" wrongly.` } });
      return;
    }
    try {
      const result = await answers[ask as RequestName<C>](read.value);
      await this.#port.postMessage({ answer: id, result });
    } catch (error) {
      await this.#port.postMessage({ answer: id, failure: failureOf(error) });
    }
  }
}

/** Returns a kernel's refusal, or any other error, in the form that views show. */
function failureOf(error: unknown): Failure {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, maxFailureCharacters);
  const data: unknown = error instanceof Error && "data" in error ? error.data : undefined;
  const code = typeof data === "object" && data !== null && "code" in data ? data.code : undefined;
  return typeof code === "string" ? { message, code: code.slice(0, 64) } : { message };
}

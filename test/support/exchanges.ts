/** Requests whose exchanges become examples of the protocol. */
import { expect } from "vitest";
import type { Exchange } from "../../kernel/build/reference/examples.ts";
import { validate } from "../../kernel/src/protocol/validate.ts";
import { serverNotifications } from "../../kernel/src/protocol/v1/notifications.ts";
import { clientRequests, type ClientRequest } from "../../kernel/src/protocol/v1/requests.ts";
import type { Client } from "./client.ts";
import type { Recorder } from "./recorded.ts";

/** One client's exchanges. Each answer is checked against the protocol's schemas. */
export class Exchanges {
  readonly client: Client;
  readonly recorder: Recorder;

  constructor(client: Client, recorder: Recorder) {
    this.client = client;
    this.recorder = recorder;
  }

  /** Sends a request, records the exchange, and returns the result. */
  async ask<Result>(method: ClientRequest, params: object = {}): Promise<Result> {
    const { result, error } = await this.#exchange(method, params);
    expect(error, `${method} ${JSON.stringify(params)}`).toBeUndefined();
    expect(validate(clientRequests[method].result, result, "result")).toBeNull();
    return result as Result;
  }

  /** The error has to be one that the method declares, or one that any request may answer with. */
  async refused(method: ClientRequest, code: string, params: object): Promise<void> {
    const { error } = await this.#exchange(method, params);
    expect(error?.data, `${method} ${JSON.stringify(params)}`).toMatchObject({ code });
  }

  /** Waits for a notification, past or future, records it, and returns its params. */
  async told<Params>(
    method: keyof typeof serverNotifications,
    matches: (params: Params) => boolean = () => true,
  ): Promise<Params> {
    const params = await this.client.notification<Params>(method, matches);
    expect(validate(serverNotifications[method].params, params, method)).toBeNull();
    this.recorder.notification(method, params);
    return params;
  }

  async #exchange(method: ClientRequest, params: object): Promise<Exchange> {
    const answer = await this.client.raw(method, params);
    const exchange =
      answer["error"] === undefined
        ? { params, result: answer["result"] }
        : { params, error: answer["error"] as NonNullable<Exchange["error"]> };
    this.recorder.exchange(method, exchange);
    return exchange;
  }
}

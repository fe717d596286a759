import { isJsonObject } from "../../base/json.ts";
import type { Endpoint } from "../../protocol/v1/endpoint.ts";
import { SessionOptions } from "../../protocol/v1/session.ts";
import { checkParams } from "../../protocol/validate.ts";
import type { PositionEncoding } from "../../base/text-positions.ts";
import { positionEncodingOf } from "../../protocol/v1/capabilities.ts";
import type { Client } from "../../services/clients.ts";
import { OpenDocuments } from "./open-documents.ts";

/** The state of one connected client. */
export class Session {
  readonly endpoint: Endpoint;
  /** The services that the client may use. */
  readonly client: Client;
  /** The unit of characters in the client's positions; `position-encoding.ts` converts. */
  readonly positionEncoding: PositionEncoding;
  readonly documents: OpenDocuments;
  /** Listeners that end with the session. */
  readonly listening: Disposable[] = [];
  /** The client's subscriptions, by id. */
  readonly subscriptions = new Map<string, Disposable>();
  readonly options: SessionOptions;
  /** The client's `ClientCapabilities`, unvalidated; `params.ts` reads them. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly supportsProgress: boolean;

  /** `initializeParams`: unvalidated. Throws InvalidParams if the client's options are invalid. */
  constructor(endpoint: Endpoint, client: Client, initializeParams: unknown) {
    const params = isJsonObject(initializeParams) ? initializeParams : {};
    const initializationOptions = isJsonObject(params["initializationOptions"])
      ? params["initializationOptions"]
      : {};
    const options = initializationOptions["lares"] ?? {};
    checkParams("initialize", SessionOptions, options);
    const capabilities = isJsonObject(params["capabilities"]) ? params["capabilities"] : {};
    const window = isJsonObject(capabilities["window"]) ? capabilities["window"] : {};
    this.endpoint = endpoint;
    this.client = client;
    this.positionEncoding = positionEncodingOf(params);
    this.documents = new OpenDocuments(this.positionEncoding);
    this.options = options;
    this.capabilities = capabilities;
    this.supportsProgress = window["workDoneProgress"] === true;
  }
  get trusted(): boolean {
    return this.client.trusted;
  }
}

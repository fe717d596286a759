import { newId } from "../base/ids.ts";
import { OpenDocuments } from "./open-documents.ts";

/** The connection of one client, as the features see it. */
export interface ClientConnection {
  /** `droppable`: may be left out, and counted, while the client does not read. */
  notify(method: string, params: unknown): void;
  request(method: string, params: unknown): Promise<unknown>;
}

export type ApprovalStyle = "client" | "showMessageRequest" | "none";

/** What the kernel knows of one connected client. */
export class Session {
  readonly id = newId();
  readonly connection: ClientConnection;
  readonly documents = new OpenDocuments();
  /** Trace subscriptions by id. */
  readonly subscriptions = new Map<string, Disposable>();
  /** What was said in `initialize` or by `lares/trust`; null: nothing, an earlier acceptance decides. */
  trusted = false;
  approvals: ApprovalStyle = "client";
  supportsProgress = false;
  supportsShowDocument = false;
  /** `initialized` came. */
  ready = false;

  constructor(connection: ClientConnection) {
    this.connection = connection;
  }
}

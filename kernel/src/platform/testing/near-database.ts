import { EventEmitter } from "node:events";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import {
  openDatabase,
  type Database,
  type DatabaseOptions,
  type DatabaseThread,
} from "../database/database.ts";
import type { DatabaseReply, DatabaseRequest, DatabaseWorkerData } from "../database/database-messages.ts";
import { serveDatabase } from "../database/database-service.ts";

/** Runs in the calling thread instead of a worker; the same messages, copied and in the same order. */
class NearThread extends EventEmitter implements DatabaseThread {
  readonly #port: MessagePort;

  constructor(data: DatabaseWorkerData) {
    super();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on("message", (reply: DatabaseReply) => this.emit("message", reply));
    port1.once("close", () => this.emit("exit", 0));
    serveDatabase(port2, data);
  }

  postMessage(request: DatabaseRequest): void {
    this.#port.postMessage(request);
  }

  ref(): void {
    this.#port.ref();
  }

  unref(): void {
    this.#port.unref();
  }

  async terminate(): Promise<void> {
    this.#port.close();
  }
}

/**
 * Opens a real database in this thread, because starting a worker takes ten times as long as a test of a few calls.
 * Not for tests of the thread itself or of a process that dies.
 */
export function openNearDatabase(options: DatabaseOptions): Promise<Database> {
  return openDatabase(options, (data) => new NearThread(data));
}

import type { MessagePort } from "node:worker_threads";
import { DatabaseEngine } from "./database-engine.ts";
import { databaseError, failureOf } from "./database-errors.ts";
import type { DatabaseReply, DatabaseRequest, DatabaseWorkerData } from "./database-messages.ts";

/** Opens the database and serves the port: one group in, its outcomes out. Closes the port on request. */
export function serveDatabase(port: MessagePort, { path, migrations }: DatabaseWorkerData): void {
  const reply = (message: DatabaseReply): void => port.postMessage(message);
  let engine: DatabaseEngine;
  try {
    engine = new DatabaseEngine(path, migrations);
  } catch (error) {
    reply({ kind: "openFailed", failure: failureOf(databaseError(error, path)) });
    return;
  }
  port.on("message", (request: DatabaseRequest) => {
    if (request.kind === "group") return reply({ kind: "group", outcomes: engine.run(request.jobs) });
    try {
      engine[Symbol.dispose]();
    } finally {
      port.close();
    }
  });
  reply({ kind: "opened", checkedAfterCrash: engine.checkedAfterCrash });
}

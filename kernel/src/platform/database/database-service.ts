import type { MessagePort } from "node:worker_threads";
import { DatabaseEngine } from "./database-engine.ts";
import { databaseError, failureOf } from "./database-errors.ts";
import { SharedOwnership } from "./database-files.ts";
import type { DatabaseReply, DatabaseRequest, DatabaseWorkerData } from "./database-messages.ts";

/** Opens the database and answers at the port: one group in, its outcomes out. Closes the port when asked to end. */
export function serveDatabase(port: MessagePort, { path, migrations, sharedLock }: DatabaseWorkerData): void {
  const reply = (message: DatabaseReply): void => port.postMessage(message);
  let engine: DatabaseEngine;
  try {
    engine = new DatabaseEngine(
      path,
      migrations,
      sharedLock === undefined ? undefined : new SharedOwnership(path, sharedLock),
    );
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

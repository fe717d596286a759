/** Entry file of the database's worker thread: one group in, its outcomes out. */
import { parentPort, workerData } from "node:worker_threads";
import { DatabaseEngine } from "./database-engine.ts";
import { databaseError, failureOf } from "./database-errors.ts";
import type { DatabaseReply, DatabaseRequest, DatabaseWorkerData } from "./database-messages.ts";

function serve(port: NonNullable<typeof parentPort>, { path, migrations }: DatabaseWorkerData): void {
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

if (parentPort === null)
  throw new Error("This file runs as a worker thread; open a database with openDatabase().");
// Handed over by openDatabase() in this very shape.
serve(parentPort, workerData as DatabaseWorkerData);

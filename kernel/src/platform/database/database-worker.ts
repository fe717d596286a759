/** Entry file of the database's worker thread. */
import { parentPort, workerData } from "node:worker_threads";
import type { DatabaseWorkerData } from "./database-messages.ts";
import { serveDatabase } from "./database-service.ts";

if (parentPort === null)
  throw new Error("This file runs as a worker thread; open a database with openDatabase().");
// openDatabase() passes data of this type.
serveDatabase(parentPort, workerData as DatabaseWorkerData);

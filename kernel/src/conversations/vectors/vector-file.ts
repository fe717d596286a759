import { isLaresError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { type Database, openDatabase } from "../../platform/database/database.ts";
import { fileSize, joinPath, removeFile } from "../../platform/files/data-files.ts";
import type { MessageVectorOptions } from "./message-vectors.ts";
import { vectorMigrations } from "./vector-rows.ts";

/** The database of the vectors, in the workspace's state folder. Whatever is in it is made from the ledger. */
export function vectorFile(
  stateFolder: string,
  log: Log,
  openAt: typeof openDatabase = openDatabase,
): Pick<MessageVectorOptions, "open" | "exists"> {
  const path = joinPath(stateFolder, "message-vectors.sqlite");
  const open = (): Promise<Database> => openAt({ path, migrations: vectorMigrations, log });
  return {
    exists: async () => (await fileSize(path)) !== null,
    open: async () => {
      try {
        return await open();
      } catch (error) {
        if (!isLaresError(error, "StorageError")) throw error;
        log.warn(`The vectors of messages are made again: ${messageOf(error)}`);
        for (const suffix of ["", "-wal", "-shm", ".sum"]) await removeFile(`${path}${suffix}`);
        return await open();
      }
    },
  };
}

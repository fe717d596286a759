import { v7 } from "uuid";

/** UUIDv7: sorts by the time it was made, unique between processes. */
export function newId(): string {
  return v7();
}

import { rmSync, writeFileSync } from "node:fs";
import { messageOf, storageError } from "../../base/errors.ts";
import type { Graph } from "./graph.ts";

/**
 * Writes the graph to `path`. The native libraries say that they failed, not why. So where one fails, as many bytes are
 * written to the same path by Node, which throws the system's own error. If that succeeds, a StorageError says that the
 * cause is unknown. `mostBytes` is the largest size that the file can have.
 */
export function writeGraph(graph: Pick<Graph, "write">, path: string, mostBytes: number): void {
  try {
    graph.write(path);
  } catch (error) {
    // Not over the library's file: where that already takes its place on the disk, nothing more would be needed.
    rmSync(path, { force: true });
    writeFileSync(path, new Uint8Array(mostBytes), { flush: true });
    throw storageError(
      `The library that makes the vector graph failed to write "${path}" and gives no cause (${messageOf(error)}). The disk may have been full or failing at that moment. Check its free space, then try again.`,
      error,
    );
  }
}

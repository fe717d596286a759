import { rmSync, writeFileSync } from "node:fs";
import { messageOf, storageError } from "../../base/errors.ts";
import type { Graph } from "./graph.ts";

/**
 * Writes the graph to `path`. The native libraries report that they failed, but not why. So after a failure, Node
 * writes as many bytes to the same path, which throws the system's own error. If that succeeds, a StorageError says
 * that the cause is unknown. `mostBytes` is the maximum size of the file.
 */
export function writeGraph(graph: Pick<Graph, "write">, path: string, mostBytes: number): void {
  try {
    graph.write(path);
  } catch (error) {
    // Not over the library's file: it may already occupy its space on the disk, and then nothing more would be needed.
    rmSync(path, { force: true });
    writeFileSync(path, new Uint8Array(mostBytes), { flush: true });
    throw storageError(
      `The library that makes the vector graph failed to write "${path}" and gives no cause (${messageOf(error)}). The disk may have been full or failing at that moment. Check its free space, then try again.`,
      error,
    );
  }
}

/**
 * Entry of the store host, the one process in which native code reads a memory's files. It ends with the
 * kernel. The next kernel's host waits for the files, which survive a sudden end.
 */
import process from "node:process";
import { messageOf } from "../../base/errors.ts";
import { unreachable } from "../../base/exhaustive.ts";
import { serveParent } from "../../platform/children/parent.ts";
import { storeBounds as bounds } from "../bounds.ts";
import { failureOf } from "./failure.ts";
import { Outside } from "./outside.ts";
import { StoreHost } from "./host.ts";
import type { FromHost, ToHost } from "../messages.ts";
import { leakedBytes } from "../vectors/faiss.ts";

// A memory's contents belong to its owner alone; DuckDB and SQLite create files according to the mask.
process.umask(0o077);
const [stateFolder = "", maxLeakedBytes = ""] = process.argv.slice(2);
const encoder = new TextEncoder();
let isSpent = false;
/** Abort controllers of the open requests, by id. */
const aborters = new Map<number, AbortController>();
const { send, ready, fail } = serveParent<FromHost, ToHost>({
  maxFrameBytes: bounds.maxFrameBytes,
  receive: obey,
});

const outside = new Outside(send);
const opening = StoreHost.open({
  stateFolder,
  outside,
  notice: (notice) => send({ kind: "notice", notice }),
  failed: fail,
});
opening.then(ready, fail);

async function obey(words: ToHost, bytes: Uint8Array): Promise<void> {
  if (words.kind === "posted" || words.kind === "unposted" || words.kind === "embedded")
    return outside.answered(words, bytes);
  const host = await opening;
  switch (words.kind) {
    case "request": {
      const aborter = new AbortController();
      aborters.set(words.id, aborter);
      try {
        const result = await host.answer(words, aborter.signal);
        // The answer is JSON already; it is not serialized a second time, because it can be large.
        send({ kind: "answer", id: words.id }, encoder.encode(result));
        if (!isSpent && leakedBytes() > Number(maxLeakedBytes)) {
          isSpent = true;
          send({ kind: "spent" });
        }
      } catch (error) {
        const failure = failureOf(error);
        const { code, facts } = failure ?? { code: "InternalError" as const, facts: {} };
        send({ kind: "failed", id: words.id, code, message: messageOf(failure ?? error), facts });
      } finally {
        aborters.delete(words.id);
      }
      return;
    }
    case "cancel":
      aborters.get(words.id)?.abort();
      return;
    case "grown":
      for (const memory of words.memories) host.grown(memory);
      return;
    case "end":
      await host[Symbol.asyncDispose]();
      process.exit(0);
    // The process has ended, so nothing falls through.
    default:
      unreachable(words);
  }
}

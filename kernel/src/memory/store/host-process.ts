/**
 * Entry of the store host: the one process in which native code over a memory's files runs. What it is told comes from
 * the kernel, a JSON line each; it ends with the kernel.
 */
import process from "node:process";
import { messageOf } from "../../base/errors.ts";
import { unreachable } from "../../base/exhaustive.ts";
import { openParentChannel } from "../../platform/child-process.ts";
import { receiveJsonLines, sendJsonLine } from "../../platform/json-lines.ts";
import { failureOf } from "./failure.ts";
import { StoreHost } from "./host.ts";
import type { FromHost, ToHost } from "./messages.ts";
import { leakedBytes } from "./vectors/faiss.ts";

// What a memory holds is its owner's alone; DuckDB and SQLite make files as the mask says.
process.umask(0o077);
const channel = openParentChannel();
const [stateFolder = "", maxLeakedBytes = ""] = process.argv.slice(2);
const encoder = new TextEncoder();
let isSpent = false;
const send = (words: FromHost): void => sendJsonLine(channel, words);

// Without a kernel nobody is answered, and the next one's host waits for these files: they stand a sudden end.
void channel.closed.then(() => process.exit(0));

const opening = StoreHost.open({
  stateFolder,
  notice: (notice) => send({ kind: "notice", notice }),
  failed: fail,
});
receiveJsonLines(channel, (words) => void obey(words as ToHost).catch(fail));
opening.then(() => send({ kind: "ready" }), fail);

async function obey(words: ToHost): Promise<void> {
  const host = await opening;
  switch (words.kind) {
    case "request":
      try {
        const result = await host.answer(words);
        // An answer is JSON already: large ones are not written down twice.
        channel.write(encoder.encode(`{"kind":"answer","id":${words.id},"result":${result}}\n`));
        if (!isSpent && leakedBytes() > Number(maxLeakedBytes)) {
          isSpent = true;
          send({ kind: "spent" });
        }
      } catch (error) {
        const failure = failureOf(error);
        const { code, facts } = failure ?? { code: "InternalError" as const, facts: {} };
        send({ kind: "failed", id: words.id, code, message: messageOf(failure ?? error), facts });
      }
      return;
    case "grown":
      for (const memory of words.memories) host.grown(memory);
      return;
    case "end":
      await host[Symbol.asyncDispose]();
      process.exit(0);
    // No fall through: the process has ended.
    default:
      unreachable(words);
  }
}

/** A fault of the host's own: it says so and ends, and the kernel starts another. */
function fail(error: unknown): never {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
}

/** Entry file of the process that `child.test.ts` and `child-keeper.test.ts` run; it follows their instructions. */
import process from "node:process";
import { serveParent } from "../children/parent.ts";

export interface TestWords {
  readonly say?: string;
  readonly do?: "exit" | "fail" | "garble" | "flood" | "hang" | "echo bytes";
}

const parent = serveParent<{ readonly said: string }, TestWords>({
  maxFrameBytes: 1000,
  async receive({ say, do: what }, bytes) {
    if (say !== undefined) parent.send({ said: say });
    // After earlier output was sent.
    if (what === "exit") setImmediate(() => setImmediate(() => process.exit(3)));
    if (what === "fail") throw new Error("It fails.");
    if (what === "garble") parent.write(new Uint8Array([5, 0, 0, 0, 1, 0, 0, 0, 0, 9, 9, 9, 9, 9]));
    if (what === "flood") parent.send({ said: "x" }, new Uint8Array(5000));
    if (what === "hang") for (;;);
    if (what === "echo bytes") parent.send({ said: "bytes" }, bytes);
  },
});
if (process.argv[2] === "broken") parent.fail(new Error("It cannot start."));
parent.ready();

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inState } from "../../support/bench.ts";
import { Bed, recorder, residentMb } from "../bed.ts";
import { type Figure, pause } from "../figure.ts";
import { installBuilt } from "../../support/installed.ts";
import type { Row } from "../report.ts";
import { slope } from "../statistics.ts";

/** Megabytes of resident memory of the sandbox host for each agent beyond the first. */
async function perAgent(agents: number, executable?: string): Promise<number> {
  const ids = Array.from({ length: agents }, (_, at) => `dev.bench.agent${at}`);
  await using bed = await Bed.open(
    { files: { "notes/note.txt": "." }, extensions: ids.map((id) => recorder(id)) },
    executable,
  );
  // All of them were woken by the index's events; from here on they are loaded one by one.
  for (const id of ids) await bed.client.request("lares/agents/control", { id, command: "disable" });
  const points: [number, number][] = [];
  for (const [index, id] of ids.entries()) {
    const handled = bed.trace("an event", (trace) => trace.agent === id && trace.message === "handled");
    await bed.client.request("lares/agents/control", { id, command: "enable" });
    await bed.bench.write("notes/note.txt", "x".repeat(index + 2));
    await handled;
    await inState(bed.client, id, "Active");
    // Until the next spare worker exists, and garbage of the start is collected.
    await pause(1200);
    points.push([index + 1, residentMb(bed.sandboxPid)]);
  }
  return slope(points.slice(1));
}

export const memory: Figure = {
  name: "memory",
  title: "resident memory of the sandbox host for each further active agent",
  async run({ isShort }) {
    const agents = isShort ? 4 : 8;
    const folder = mkdtempSync(join(tmpdir(), "lares-bench-built-"));
    try {
      const row = (what: string, value: number): Row => ({
        what,
        value,
        unit: "MB",
        target: { atMost: 45 },
        samples: agents,
      });
      const built = row("built JavaScript", await perAgent(agents, installBuilt(folder)));
      return isShort ? [built] : [built, row("from sources", await perAgent(agents))];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

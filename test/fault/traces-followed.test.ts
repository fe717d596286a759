import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Bench, tool } from "../support/bench.ts";
import type { Status, TraceEntry } from "../support/types.ts";
import { until } from "../support/until.ts";

const TALKER = "test.talker";
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    async say({ from, count, words }, ctx) {
      for (let n = from; n < from + count; n++) ctx.trace.info(n + " " + words);
      return null;
    },
  },
});
`;

/** Together far more than fits in the pipes between a kernel and its client. */
const words = "x".repeat(7_500);
const perCall = 20;

test("a kernel is killed while its client does not read: the next one sends each stored trace once, in order", async () => {
  const say = { name: "say", description: "say", handler: "say", parameters: { type: "object" } };
  await using bench = await Bench.create({
    extensions: [{ id: TALKER, program: PROGRAM, manifest: { tools: [say] } }],
  });
  const [client, other] = await Promise.all([bench.open(), bench.open()]);
  const { subscription } = await client.request<{ subscription: string }>("lares/traces/follow", {
    agent: TALKER,
  });
  let written = 0;
  const speak = async (count: number, text = words): Promise<void> => {
    await tool(other, TALKER, "say", { from: written, count, words: text });
    written += count;
  };
  const told = (): string[] =>
    client
      .notifications<{ subscription: string; entry: TraceEntry }>("lares/traces/entry")
      .flatMap((notice) =>
        notice.subscription === subscription && /^\d+ /.test(notice.entry.message)
          ? [notice.entry.message]
          : [],
      );
  const numbers = (): number[] => told().map((message) => Number.parseInt(message, 10));

  await speak(3, "before");
  await until("the first traces", () => told().length === 3);
  for (let round = 0; round < 2; round++) {
    client.process.stdout.pause();
    for (let call = 0; call < 8; call++) await speak(perCall);
    const { pid, stateFolder } = (await bench.status(other)) as Status & { stateFolder: string };
    await until("the last of them on the disk", async () =>
      (await readFile(join(stateFolder, "traces", "current.log"), "utf8")).includes(`"${written - 1} x`),
    );
    await bench.kill(pid);
    expect(told().length).toBeLessThan(written);
    client.process.stdout.resume();
    await bench.ready(other);
    await speak(2, "after");
    await until("what was said after it", () => numbers().includes(written - 1));
    expect(numbers()).toEqual(Array.from({ length: written }, (_, n) => n));
  }
});

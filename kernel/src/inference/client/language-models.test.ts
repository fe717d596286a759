import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { neverAborted } from "../../base/abort.ts";
import { silentLog } from "../../base/log.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { ModelEvent } from "../../base/vocabulary/model.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { inferenceBounds as bounds } from "../bounds.ts";
import type { GenerateCall } from "../messages.ts";
import { tinyLlama } from "../testing/tiny-llama.ts";
import { until } from "../../../../test/support/until.ts";
import { LanguageModelClient } from "./language-models.ts";
import { splitFiles } from "./split-files.ts";

/** `source`: the package node-llama-cpp as far as this test goes; null: it is not installed. */
async function opened(source: string | null) {
  const folder = await temporaryFolder();
  if (source !== null) {
    const installed = join(folder, "node_modules", "node-llama-cpp");
    await mkdir(installed, { recursive: true });
    await writeFile(join(installed, "package.json"), '{ "type": "module", "exports": "./index.js" }');
    await writeFile(join(installed, "index.js"), source);
  }
  const clock = new ManualClock();
  const packagesOf = `file://${folder}/none.js`;
  const client = new LanguageModelClient({ clock, log: silentLog, packagesOf });
  onTestFinished(() => client[Symbol.asyncDispose]());
  const file = join(folder, "tiny.gguf");
  await writeFile(file, tinyLlama());
  return { client, clock, folder, file };
}

const place = "models.providers.local.models.tiny.path";
const callOf = (file: string): GenerateCall => ({
  model: { files: splitFiles(file), place },
  contextTokens: null,
  request: { model: "local/tiny", messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }] },
});

async function eventsOf(
  client: LanguageModelClient,
  file: string,
  signal = neverAborted,
  events: ModelEvent[] = [],
): Promise<readonly ModelEvent[]> {
  for await (const event of client.stream(callOf(file), signal)) events.push(event);
  return events;
}

const failed = (kind: string, sentence: RegExp) => ({
  type: "failed",
  failure: { class: kind, message: expect.stringMatching(sentence) as string },
});

test("what is wrong with a file is told before the package that is missing", async () => {
  const { client, folder, file } = await opened(null);
  const at = (name: string): string => join(folder, name);
  await writeFile(at("text.gguf"), "hello");
  await writeFile(at("cut.gguf"), tinyLlama().slice(0, -500));
  await writeFile(at("big-00001-of-00002.gguf"), tinyLlama());
  for (const [name, sentence] of [
    [
      "none.gguf",
      /^There is no file at .*none\.gguf\. Correct models\.providers\.local\.models\.tiny\.path in your lares\.yaml\./,
    ],
    [".", /is a folder, and not a GGUF file\. Correct models\.providers/],
    [
      "text.gguf",
      /text\.gguf is not a GGUF file: it does not begin with "GGUF"\. models\.providers.* names it\./,
    ],
    ["cut.gguf", /is cut off: it has \d+ bytes, and its tensors end at \d+\. Download it again/],
    ["big-00001-of-00002.gguf", /There is no file at .*big-00002-of-00002\.gguf/],
  ] as const)
    expect(await eventsOf(client, at(name))).toEqual([failed("NoModel", sentence)]);
  const missing = /need the package node-llama-cpp, which is not installed\. .*npm install -g node-llama-cpp/;
  expect(await eventsOf(client, file)).toEqual([failed("NoModel", missing)]);
  await expect(client.inspect(callOf(file).model, null, neverAborted)).rejects.toThrow(missing);
});

test("crash: a file that ends the host while it is loaded is named, and not loaded again at once", async () => {
  const { client, clock, file } = await opened(
    "process.kill(process.pid, 'SIGKILL'); await new Promise(() => {});",
  );
  const sentence =
    /The inference host ended by SIGKILL while it loaded .*tiny\.gguf\. .*Replace it, or correct models\.providers/;
  expect(await eventsOf(client, file)).toEqual([{ type: "sent" }, failed("NoModel", sentence)]);
  expect(await eventsOf(client, file)).toEqual([failed("NoModel", sentence)]);
  expect([client.pid, client.openRuns]).toEqual([null, 0]);
  // Another model is not concerned. After its death, the host is started again after a pause.
  const other = eventsOf(client, join(file, "none.gguf"));
  await until("another host runs", async () => {
    clock.advance(bounds.maxRestartDelayMs);
    return client.pid !== null;
  });
  expect((await other).at(-1)).toMatchObject({ failure: { class: "NoModel" } });
  clock.advance(bounds.loadAgainAfterMs);
  expect(await eventsOf(client, file)).toEqual([{ type: "sent" }, failed("NoModel", sentence)]);
});

test("a cancelled run that does not end is answered at once, and its host is killed in the end", async () => {
  const { client, clock, file } = await opened("await new Promise(() => setInterval(() => {}, 1000));");
  const abort = new AbortController();
  const events: ModelEvent[] = [];
  const all = eventsOf(client, file, abort.signal, events);
  await until("the run is where it should be", async () => events.length === 1 && client.pid !== null);
  const { pid } = client;
  const next = eventsOf(client, file);
  abort.abort();
  expect(await all).toEqual([{ type: "sent" }, failed("Cancelled", /was cancelled/)]);
  expect([client.pid, client.openRuns]).toEqual([pid, 1]);
  clock.advance(bounds.cancelGraceMs);
  await until("the run is where it should be", async () => client.pid !== null && client.pid !== pid);
  clock.advance(bounds.runIdleMs);
  expect((await next).at(-1)).toMatchObject(failed("Timeout", /computed nothing for 5 minutes/));
});

test("crash: a host that does nothing and is killed ends its runs, and those that wait begin", async () => {
  const { client, clock, file } = await opened("await new Promise(() => setInterval(() => {}, 1000));");
  const runs = [eventsOf(client, file), eventsOf(client, file)];
  await until("the run is where it should be", async () => client.openRuns === 1 && client.pid !== null);
  const { pid } = client;
  if (pid === null) expect.unreachable("the host runs");
  process.kill(pid, "SIGSTOP");
  clock.advance(bounds.runIdleMs);
  expect((await runs[0])?.at(-1)).toMatchObject({ failure: { class: "Timeout" } });
  await until(
    "the run is where it should be",
    async () => client.pid !== null && client.pid !== pid && client.openRuns === 1,
  );
  clock.advance(bounds.runIdleMs);
  expect((await runs[1])?.at(-1)).toMatchObject({ failure: { class: "Timeout" } });
});

test("more questions than may wait are refused, and a closed client ends all", async () => {
  const { client, file } = await opened("await new Promise(() => setInterval(() => {}, 1000));");
  const runs = Array.from({ length: bounds.maxWaitingRuns + 2 }, () => eventsOf(client, file));
  expect(await Promise.race(runs)).toEqual([failed("Overloaded", /32 questions wait .* Ask again later/)]);
  await until("the run is where it should be", async () => client.openRuns === 1);
  await client[Symbol.asyncDispose]();
  const ends = (await Promise.all(runs)).map(
    (events) => events.filter(({ type }) => type === "failed").length,
  );
  expect(ends).toEqual(runs.map(() => 1));
});

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { silentLog } from "../base/log.ts";
import type { Configuration } from "../documents/configuration.ts";
import { tinyLlama } from "../inference/testing/tiny-llama.ts";
import { lastEventOf } from "../models/runtime.ts";
import { systemClock } from "../platform/clock.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { EditorModels } from "../services/editor-models.ts";
import { createModelServices } from "./model-services.ts";
import { openModels } from "./open-models.ts";

/** Opens the model services for a document that names models of this machine. Needs node-llama-cpp. */
async function opened() {
  const home = await temporaryFolder();
  await mkdir(join(home, "models"));
  await writeFile(join(home, "models", "tiny.gguf"), tinyLlama());
  await writeFile(join(home, "models", "broken.gguf"), "no model");
  const document: Pick<Configuration, "models" | "egress"> = {
    models: {
      providers: {
        local: {
          api: "llama",
          models: { tiny: { path: "~/models/tiny.gguf" }, broken: { path: "models/broken.gguf" } },
          context_tokens: 1024,
        },
        odd: { api: "llama", models: { gone: { path: "~/gone.gguf" } } },
      },
      routes: { default: "local/tiny" },
      budgets: { per_day_usd: 0.01 },
    },
    egress: {},
  };
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const models = openModels({
    environment: {},
    userFolder: home,
    stateHome: home,
    home,
    clock: systemClock,
    log: silentLog,
    opened: stack,
    document: () => document,
    trace: () => expect.unreachable("nothing leaves the machine"),
    editor: new EditorModels(systemClock),
    consent: { allowsUnpriced: async () => false, allowsFound: async () => false },
    packagesOf: new URL("../../../test/models/llama/package.json", import.meta.url).href,
    turns: { isSpent: () => false, spend: async () => undefined },
  });
  return { models, services: createModelServices(models, systemClock) };
}

test("models of this machine are listed, tested, asked with local_only, counted, and cost nothing", async () => {
  const { models, services } = await opened();
  const listing = await services.models.list(true, neverAborted);
  expect(listing.providers).toEqual([
    { id: "local", api: "llama", state: "ready", local: true },
    {
      id: "odd",
      api: "llama",
      state: "unreachable",
      local: true,
      problem: expect.stringContaining("gone.gguf") as string,
    },
  ]);
  expect(listing.models).toContainEqual({ id: "local/tiny", context_tokens: 1024, images: false });

  expect(await services.models.test("local/tiny", neverAborted)).toMatchObject({ ok: true });
  expect(await services.models.test("local/broken", neverAborted)).toMatchObject({
    ok: false,
    error: { class: "NoModel", message: expect.stringMatching(/broken\.gguf is not a GGUF file/) as string },
  });

  const schema = {
    type: "object",
    properties: { name: { type: "string", maxLength: 10 } },
    required: ["name"],
    additionalProperties: false,
  };
  const asker = { agent: "test.asker", conversation: "", process: null, isScheduled: false };
  const last = await lastEventOf(
    models.runtime.answer(
      { use: { kind: "category", category: "chat" }, localOnly: true },
      {
        messages: [{ role: "user", parts: [{ type: "text", text: "Who?" }] }],
        schema,
        max_output_tokens: 100,
      },
      asker,
      neverAborted,
    ),
  );
  if (last.type !== "done") expect.unreachable(JSON.stringify(last));
  expect(JSON.parse(last.parts.map((part) => ("text" in part ? part.text : "")).join(""))).toEqual({
    name: expect.any(String) as string,
  });

  const [sum] = await services.usage.sums({ groupBy: "agent" });
  const sums = await services.usage.sums({ groupBy: "model" });
  expect(sums.map(({ key, usd }) => [key, usd])).toContainEqual(["local/tiny", 0]);
  expect(sum?.output_tokens).toBeGreaterThan(0);
});

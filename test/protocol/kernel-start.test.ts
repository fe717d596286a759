/** What a kernel has loaded and started once it is ready: of models, secrets and the network only its own side of them. */
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { commandLineOf, familyOf } from "../fault/support/processes.ts";
import { Bench } from "../support/bench.ts";

const sources = new URL("../../kernel/src/", import.meta.url).href;
const packages = new URL("../../node_modules/", import.meta.url).href;

/** Loaded with the first question, by the process that needs them. */
const loadedWhenNeeded = [
  "undici",
  "@ai-sdk/",
  "@pydantic/genai-prices",
  "onnxruntime-node",
  "node-llama-cpp",
  "zod",
];
/** Files of models, egress, inference and secrets that the kernel's side of them has. Each further one delays every start. */
const mostFiles = 46;

/** Writes the URL of each module that the kernel's main thread loads into a file. */
const hook = (list: string): string => `
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";
if (isMainThread && process.argv.includes("kernel"))
  registerHooks({
    load(url, context, next) {
      appendFileSync(${JSON.stringify(list)}, url + "\\n");
      return next(url, context);
    },
  });
`;

test.skipIf(process.platform !== "linux")(
  "until something is asked of a model, no provider, catalogue or host of the network is loaded or started",
  async () => {
    await using bench = await Bench.create({ extensions: [] });
    const config = join(bench.base, "config", "lares");
    await mkdir(config, { recursive: true });
    const models = {
      providers: {
        lab: { api: "openai-compatible", base_url: "http://127.0.0.1:1/v1", key: { secret: "lab" } },
        far: { api: "anthropic" },
      },
      routes: { default: "lab/m" },
      budgets: { per_day_usd: 5, per_day_tokens: 1_000_000 },
    };
    await writeFile(join(config, "lares.yaml"), JSON.stringify({ version: 1, models }));
    const list = join(bench.base, "loaded.txt");
    const hookFile = join(bench.base, "hook.mjs");
    await writeFile(list, "");
    await writeFile(hookFile, hook(list));
    const client = await bench.open({
      environment: {
        XDG_CONFIG_HOME: join(bench.base, "config"),
        ANTHROPIC_API_KEY: "sk-ant-from-the-environment",
        NODE_OPTIONS: `--import=${pathToFileURL(hookFile).href}`,
      },
    });
    const { pid } = await bench.status(client);
    const loaded = async (): Promise<readonly string[]> => (await readFile(list, "utf8")).trim().split("\n");
    const hosts = (): readonly string[] =>
      familyOf(pid).flatMap((member) => /(?:egress|inference)\/host/.exec(commandLineOf(member)) ?? []);
    const ofPackages = (urls: readonly string[]): readonly string[] =>
      loadedWhenNeeded.filter((name) => urls.some((url) => url.startsWith(`${packages}${name}`)));

    const atStart = await loaded();
    expect(atStart).toContain(`${sources}composition/kernel.ts`);
    expect(ofPackages(atStart)).toEqual([]);
    expect(atStart.filter((url) => /\/(?:egress|inference)\/host\//.test(url))).toEqual([]);
    const ofRooms = atStart.filter((url) =>
      /^(?:models|egress|inference|secrets|user-state)\//.test(url.slice(sources.length)),
    );
    expect(ofRooms.length, ofRooms.join("\n")).toBeLessThanOrEqual(mostFiles);
    expect(hosts()).toEqual([]);
    for (const path of [join(bench.home, "user.sqlite"), join(config, "secrets.key")])
      expect([path, existsSync(path)]).toEqual([path, false]);

    // What would be seen if it were loaded.
    await client.request("lares/secrets/set", { name: "lab", value: "a value", hosts: ["127.0.0.1:1"] });
    expect(await client.request("lares/models/test", { model: "lab/m" })).toMatchObject({
      error: { class: "Network" },
    });
    expect(hosts()).toEqual(["egress/host"]);
    await client.request("lares/models/list");
    expect(ofPackages(await loaded())).toEqual(["@pydantic/genai-prices"]);
  },
);

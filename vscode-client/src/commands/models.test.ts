import { beforeEach, describe, expect, it } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { commands, seen, window } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";
import { modelCommands } from "./models.ts";

beforeEach(() => {
  seen.forget();
  window.madePick = undefined;
  window.input = undefined;
});
const said = (): string[] => seen.messages.map(({ text }) => text);
const run = async (id: string): Promise<void> => {
  void commands.executeCommand(id);
  await settled();
};
const secret = {
  name: "weather",
  hosts: ["api.example.com"],
  in: "header",
  created: "2026-11-20T12:00:00.000Z",
  source: "store",
};

describe("secrets", () => {
  it("are stored with what was typed, and the value is in no message", async () => {
    const fake = fakeContext({ "lares/secrets/set": () => secret });
    modelCommands(fake.context);
    window.input = "weather";
    await run("lares.storeSecret");
    expect(fake.asked).toEqual([
      { method: "lares/secrets/set", params: { name: "weather", value: "weather", hosts: ["weather"] } },
    ]);
    expect(said()).toEqual([]);
  });

  it("are not stored when a question is left", async () => {
    const fake = fakeContext({});
    modelCommands(fake.context);
    await run("lares.storeSecret");
    expect(fake.asked).toEqual([]);
  });

  it("are listed without values, and one that only the environment has cannot be removed", async () => {
    const fake = fakeContext({
      "lares/secrets/list": () => ({
        items: [secret, { ...secret, name: "other", created: null, source: "environment" }],
      }),
    });
    modelCommands(fake.context);
    await run("lares.openSecrets");
    expect(window.madePick?.items).toMatchObject([
      { label: "weather", description: "api.example.com", buttons: [{ tooltip: "Remove this secret" }] },
      { label: "other", detail: "from the environment", buttons: [] },
    ]);
  });

  it("that cannot be stored say so in one sentence", async () => {
    const fake = fakeContext({
      "lares/secrets/set": () => {
        throw new Error("The key file is missing.");
      },
    });
    modelCommands(fake.context);
    window.input = "weather";
    await run("lares.storeSecret");
    expect(said()).toEqual(["The secret was not stored: The key file is missing."]);
  });
});

describe("language models", () => {
  it("without a provider lead to the first step", async () => {
    const fake = fakeContext({
      "lares/models/list": () => ({ providers: [], models: [], routes: {} }),
      "lares/usage": () => ({ groups: [] }),
    });
    modelCommands(fake.context);
    await run("lares.openModels");
    expect(said()).toEqual([expect.stringContaining("No language model is set up.") as string]);
  });

  it("are listed with what is known of them, under what opens the page of usage", async () => {
    const listing = {
      providers: [{ id: "lab", api: "ollama", state: "ready", local: true }],
      models: [{ id: "lab/a", context_tokens: 32_768, input_usd_per_mtok: 1, output_usd_per_mtok: 2 }],
      routes: { default: "lab/a" },
    };
    const fake = fakeContext({
      "lares/models/list": () => listing,
      "lares/usage": () => ({ groups: [] }),
    });
    modelCommands(fake.context);
    commands.registerCommand("lares.showUsage", () => undefined);
    seen.holdsPicks = true;
    await run("lares.openModels");
    let shown: readonly unknown[] = [];
    window.pick((items) => {
      shown = items;
      return items[0];
    });
    await settled();
    expect(shown).toMatchObject([
      { label: "$(pulse) Show Usage and Prices", alwaysShow: true },
      {
        label: "lab/a",
        description: "ready · default",
        detail: "33k tokens · $1 / $2 per million tokens · not used yet",
      },
    ]);
    expect(seen.commands.at(-1)).toMatchObject({ id: "lares.showUsage" });
    expect(fake.asked.map(({ method }) => method)).not.toContain("lares/models/test");
  });
});

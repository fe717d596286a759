import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { isInstalled, Setting, TALK, TALKED, WITH_HEADING, WITHOUT_HEADING } from "./setting.ts";

const script = fileURLToPath(new URL("./neovim.lua", import.meta.url));

describe.runIf(isInstalled("nvim", ["--version"], "neovim"))(
  "Neovim, set up as examples/editors/neovim says",
  () => {
    test("from an empty folder of settings to an approved change, and back", async () => {
      await using setting = await Setting.create();
      await setting.install("neovim/lares.lua", ".config/nvim/plugin/lares.lua");

      const seen = await setting.run("nvim", ["--headless", "-i", "NONE", "-n", "-S", script]);

      expect(seen["fault"]).toBeUndefined();
      expect(seen["diagnostics"]).toContainEqual({
        line: 2,
        source: "lares",
        message: expect.stringContaining("nonsense"),
      });
      expect(seen["completion"]).toContain("approvals");
      expect(seen["trust_prompt"]).toMatch(/dev\.lares\.notes/);
      expect(seen["question"]).toEqual({
        prompt: expect.stringMatching(
          /^May test\.asker use "lab\/x", whose price is not known\?\nYour lares\.yaml sets a budget/,
        ),
        offered: ["Allow once", "Allow always", "Deny"],
        answer: "BudgetExceeded",
      });
      expect(seen["lenses"]).toEqual([
        {
          line: 0,
          title: expect.stringMatching(
            /^Lares: Overwrites "notes\/shopping list\.md" .* dev\.lares\.notes says: "Give shopping list\.md the heading/,
          ),
        },
        { line: 0, title: "Approve" },
        { line: 0, title: "Reject" },
        { line: 0, title: "Show changes" },
      ]);
      expect(seen["changes"]).toContain("+# Shopping list");
      expect(seen).toMatchObject({ approved: WITH_HEADING, modified: false, undone: WITHOUT_HEADING });
    });

    test("a conversation in a file: two messages, and what is typed while one is answered stays", async () => {
      await using setting = await Setting.create({ canTalk: true });
      await setting.install("neovim/lares.lua", ".config/nvim/plugin/lares.lua");
      const seen = await setting.run("nvim", ["--headless", "-i", "NONE", "-n", "-S", script], {
        LARES_STEPS: "talk",
        LARES_TALK: setting.path(TALK),
      });
      expect(seen["fault"]).toBeUndefined();
      expect(seen["lens"]).toBe("Lares: send to Steward");
      expect(seen["working"]).toEqual(["Lares: Steward is answering", "Stop"]);
      expect((seen["text"] as string).trimEnd()).toBe(TALKED);
      expect(seen["waits"]).toEqual(['Lares: send to Steward: "and then"']);
    });
  },
);

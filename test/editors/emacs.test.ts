import { fileURLToPath } from "node:url";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isInstalled, Setting, TALK, TALKED, WITH_HEADING, WITHOUT_HEADING } from "./setting.ts";

const script = fileURLToPath(new URL("./emacs.el", import.meta.url));

describe.runIf(isInstalled("emacs", ["--batch", "--eval", "(require 'eglot)"], "emacs-nox elpa-eglot"))(
  "Emacs with eglot, set up as examples/editors/emacs says",
  () => {
    test("from an empty folder of settings to an approved change, and back", async () => {
      await using setting = await Setting.create();
      await setting.install("emacs/lares.el", ".emacs.d/lares.el");
      const init = join(setting.home, ".emacs.d/init.el");
      await writeFile(init, '(load "~/.emacs.d/lares")\n');

      const seen = await setting.run("emacs", ["--batch", "-l", init, "-l", script]);

      expect(seen["fault"]).toBeUndefined();
      expect(seen["diagnostics"]).toContainEqual({
        line: 2,
        message: expect.stringContaining("nonsense"),
      });
      expect(seen["completion"]).toContain("approvals");
      expect(seen["trust_prompt"]).toMatch(/dev\.lares\.notes/);
      expect(seen["question"]).toEqual({
        prompt: expect.stringMatching(
          /^May test\.asker use "lab\/x", whose price is not known\?\nYour lares\.yaml sets a budget/,
        ),
        offered: ["Allow once", "Allow always", "Deny", "Later"],
        answer: "BudgetExceeded",
      });
      const says =
        ': Overwrites "notes/shopping list\\.md" .* dev\\.lares\\.notes says: "Give shopping list\\.md the heading';
      const titles = ["approve", "reject", 'reject, "This is not right."', "show changes"].map((verb) =>
        expect.stringMatching(RegExp(`^Lares: ${verb}${says}`)),
      );
      const always = expect.stringMatching(/^Lares: approve, and always from now on: This file: /);
      expect(seen["titles"]).toEqual(expect.arrayContaining([...titles, always]));
      expect(seen["changes"]).toContain("\n+# Shopping list\n");
      expect(seen).toMatchObject({ approved: WITH_HEADING, modified: false, undone: WITHOUT_HEADING });
    });

    test("a conversation in a file: two messages, and what is typed while one is answered stays", async () => {
      await using setting = await Setting.create({ canTalk: true });
      await setting.install("emacs/lares.el", ".emacs.d/lares.el");
      const init = join(setting.home, ".emacs.d/init.el");
      await writeFile(init, '(load "~/.emacs.d/lares")\n');
      const seen = await setting.run("emacs", ["--batch", "-l", init, "-l", script], {
        LARES_STEPS: "talk",
        LARES_TALK: setting.path(TALK),
      });
      expect(seen["fault"]).toBeUndefined();
      expect(seen["working"]).toEqual(["Lares: stop Steward"]);
      expect((seen["text"] as string).trimEnd()).toBe(TALKED);
      expect(seen["waits"]).toEqual(['Lares: send to Steward: "and then"']);
    });
  },
);

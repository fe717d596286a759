/** A conversation with a real model of 135 million parameters, in VS Code: minutes of work, so with LARES_SMALL_MODEL=1. */
import { readdirSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Frame } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { installNested, languageModelRuntime } from "../../../kernel/build/nested-package.ts";
import { instructModel } from "../../../kernel/src/inference/testing/instruct-model.ts";
import { noModels } from "../../support/no-models.ts";
import { reader, smallModels } from "../../support/small-model.ts";
import { until } from "../../support/until.ts";
import { announcedIn, listenIn, streamedIn } from "../support/announced.ts";
import { acceptDocuments } from "../support/person.ts";
import { Desk } from "./desk.ts";

const folder = ".lares/extensions/reader";
/** Answers are cut off at a quarter of it. */
const contextTokens = 2_560;
/** On cores that others use too. */
const answerMs = 180_000;
const field = 'textarea[aria-label="Message"]';

async function openDesk(model: string): Promise<Desk> {
  const desk = await Desk.open({
    files: {
      ...reader.files,
      "lares.yaml": JSON.stringify({ version: 1, extensions: [{ id: reader.agent }] }),
      [`${folder}/extension.yaml`]: JSON.stringify(reader.manifest),
      ...Object.fromEntries(
        Object.entries(reader.prompts).map(([name, text]) => [`${folder}/${name}`, text]),
      ),
    },
    userFiles: smallModels(model, contextTokens),
    environment: noModels,
    settings: { "workbench.secondarySideBar.defaultVisibility": "visible" },
  });
  onTestFinished(() => desk[Symbol.asyncDispose]());
  await installBesideKernel(join(desk.vscode.base, "extensions"));
  await acceptDocuments(desk.vscode);
  return desk;
}

/** Puts node-llama-cpp beside the kernel of the installed extension, as a person does who installs it. */
async function installBesideKernel(extensions: string): Promise<void> {
  const resolve = installNested(languageModelRuntime);
  const name = readdirSync(extensions).find((each) => each.includes("lares"));
  await symlink(
    dirname(dirname(resolve("node-llama-cpp"))),
    join(extensions, name ?? expect.unreachable(), "kernel", "lib", "node_modules", "node-llama-cpp"),
  );
}

it.skipIf(process.env["LARES_SMALL_MODEL"] !== "1")(
  "a real small model holds ten turns and calls a tool by itself: each answer streams and is announced once",
  async ({ skip }) => {
    // Its folder has the weights too, and installing empties it.
    installNested(languageModelRuntime);
    const found = await instructModel();
    if ("reason" in found) return skip(found.reason);
    const desk = await openDesk(found.path);
    await desk.window("conversation-small-model", async (screen) => {
      await screen.openLares();
      await screen.item(/^Agent Reader/).waitFor();
      await screen.command("Lares: New Conversation");
      const page = await screen.webview(field);
      await page.locator(field).waitFor();
      await listenIn(page);
      await page.locator("select.model").selectOption("example/script");
      await ask(page, reader.first);
      await page.locator(".log").getByText("It says: Buy milk.").waitFor();
      await page.locator("select.model").selectOption("local/smol");
      await page.locator(".log").getByText("local/smol answers from here.").waitFor();
      const callsBefore = await page.locator(".log .call").count();
      for (const [index, text] of reader.turns.entries()) {
        await ask(page, text);
        await until(`the answer to ${text}`, () => isAnswered(page, index + 2), answerMs);
      }
      await screen.picture("conversation-small-model");
      expect(await page.locator(".turn .you").count()).toBe(reader.turns.length + 1);
      expect(await page.locator(".log .failure").allInnerTexts()).toEqual([]);
      expect(await page.locator(".log .call").count()).toBeGreaterThan(callsBefore);
      expect(await streamedIn(page)).toBeGreaterThan(0);
      const announced = await announcedIn(page);
      const answers = announced.filter(({ text }) => text.startsWith("Reader: "));
      // A turn that ends with a call that was denied has no answer.
      expect(answers.length).toBeGreaterThan(reader.turns.length / 2);
    });
  },
  (reader.turns.length + 1) * answerMs,
);

async function ask(page: Frame, text: string): Promise<void> {
  await page.locator(field).fill(text);
  await page.locator(field).press("Enter");
}

/** True once the turn of this number rests with an answer or a failure. */
async function isAnswered(page: Frame, turns: number): Promise<boolean> {
  await denyRepeats(page);
  if ((await page.locator(".turn .you").count()) < turns) return false;
  if ((await page.locator(".sign.working").count()) > 0) return false;
  return (await page.locator(".turn").last().locator(".answer, .failure").count()) > 0;
}

/** The third equal call in a row is asked about, and small models repeat themselves. */
async function denyRepeats(page: Frame): Promise<void> {
  const deny = page.getByRole("button", { name: /^Deny/ }).first();
  // It may go away meanwhile.
  if ((await deny.count()) > 0) await deny.click({ timeout: 5_000 }).catch(() => undefined);
}

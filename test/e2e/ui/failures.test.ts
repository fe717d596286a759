import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { acceptDocuments } from "../support/person.ts";
import { Desk } from "./desk.ts";

const program = ".lares/extensions/titles/agent.ts";
const manifest = ".lares/extensions/titles/extension.yaml";
let desk: Desk;
let source = "";
beforeAll(async () => {
  desk = await Desk.open();
  source = await readFile(desk.vscode.workspace(program), "utf8");
  const failing = source.replace(
    'ctx.trace.info("saw a note"',
    'if (text.includes("fail")) throw new TypeError("title is undefined");\n      ctx.trace.info("saw a note"',
  );
  await writeFile(desk.vscode.workspace(program), failing);
  await acceptDocuments(desk.vscode);
});
afterAll(() => desk[Symbol.asyncDispose]());

it("a handler that throws is red, leads to its line, and is well again with the next success", () =>
  desk.window("failing handler", async (screen) => {
    await screen.openLares();
    // A first event that succeeds later would end the failure.
    await screen.item(/^Agent Titles, .*\d events? today/).waitFor();
    await writeFile(desk.vscode.workspace("notes/bad.md"), "fail\n");
    await screen.item(/^Agent Titles, Last run failed at \d\d:\d\d/).waitFor();
    await screen.statusBar(/Lares: Titles fails/).waitFor();
    await (await screen.webview(".activity")).getByText("1 agent fails.").waitFor();
    await screen.picture("failing");
    await screen.item(/^Open agent\.ts:\d+/).click();
    await screen.page.getByRole("tab", { name: /^agent\.ts/ }).waitFor();
    const line = source.split("\n").findIndex((text) => text.includes('ctx.trace.info("saw a note"')) + 1;
    await screen.statusBar(new RegExp(`Ln ${line},`)).waitFor();
    await screen.picture("failing-line");
    await writeFile(desk.vscode.workspace("notes/good.md"), "# Good\n");
    await screen.item(/^Agent Titles, (Active|Asleep)/).waitFor();
    await screen.statusBar(/Lares: Titles fails/).waitFor({ state: "detached" });
  }));

it("an agent with a broken manifest stays, in red, and a click leads to the fault", () =>
  desk.window("broken manifest", async (screen) => {
    await screen.openLares();
    await screen.item(/^Agent Titles/).waitFor();
    const whole = await readFile(desk.vscode.workspace(manifest), "utf8");
    const broken = whole
      .replace("read_entries: true", "read_entris: true")
      .replace("on: EntryModified", "on: EntryModifed");
    expect(broken).not.toBe(whole);
    await writeFile(desk.vscode.workspace(manifest), broken);
    await screen.item(/^Agent Titles, \d+ problems? in its manifest/).waitFor();
    await screen.statusBar(/Lares: Titles fails/).waitFor();
    expect(await screen.page.getByText("Create a Starter").count()).toBe(0);
    await screen.picture("broken-manifest");
    await screen.item(/^Open extension\.yaml:\d+/).click();
    await screen.page.getByRole("tab", { name: /^extension\.yaml/ }).waitFor();
    await screen.picture("broken-manifest-line");
    await writeFile(desk.vscode.workspace(manifest), whole);
    await screen.item(/^Agent Titles, (Active|Asleep)/).waitFor();
  }));

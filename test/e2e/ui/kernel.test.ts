import process from "node:process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isAlive, until } from "../../support/until.ts";
import { acceptDocuments } from "../support/person.ts";
import { Desk } from "./desk.ts";

/** The kernel is polled at intervals, and then has its time to answer. */
const silentPatienceMs = 45_000;

let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open();
  await acceptDocuments(desk.vscode);
});
afterAll(() => desk[Symbol.asyncDispose]());

it("a kernel that stands still is said to in the status bar, and is restarted from the word about it", () =>
  desk.window("hung", async (screen) => {
    await screen.openLares();
    await screen.item(/^Agent Titles/).waitFor();
    await screen.open("notes/walks.md");
    await screen.replaceAll("along the river\n");
    await screen.save();
    await screen.item(/^walks\.md\. Give walks\.md a title/).waitFor();
    const hung = await desk.vscode.kernel();
    process.kill(hung, "SIGSTOP");
    await screen.statusBar(/Lares: no answer/).waitFor({ timeout: silentPatienceMs });
    const word = screen.toast(/kernel does not answer/);
    await word.waitFor();
    await screen.picture("hung");

    await word.getByRole("button", { name: "Restart" }).click();

    await until("it to end", () => !isAlive(hung));
    await screen.statusBar(/Lares: 1 waits for you/).waitFor();
    await screen.item(/^walks\.md\. Give walks\.md a title/).waitFor();
    await screen.item(/^Agent Titles/).waitFor();
    expect(await desk.vscode.kernel()).not.toBe(hung);
    await screen.picture("hung-restarted");
  }));

it("a killed kernel is restarted automatically, with its agents", () =>
  desk.window("kill", async (screen) => {
    await screen.openLares();
    await screen.item(/^Agent Titles/).waitFor();
    const killed = await desk.vscode.kernel();
    process.kill(killed, "SIGKILL");
    await until("it to end", () => !isAlive(killed));
    const next = await until("another one", () => desk.vscode.kernels().find((pid) => pid !== killed));
    expect(next).not.toBe(killed);
    await screen.item(/^Agent Titles/).waitFor();
    await screen.picture("recovered");
  }));

import process from "node:process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isAlive, until } from "../../support/until.ts";
import { Desk } from "./desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await Desk.open();
});
afterAll(() => desk[Symbol.asyncDispose]());

it("a killed kernel comes back by itself, and its agents with it", () =>
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

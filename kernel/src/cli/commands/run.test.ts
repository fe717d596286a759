import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { CliPorts } from "../ports.ts";
import { anAction, anAgent, aNotification, aTrace } from "../testing/fake-kernel.ts";
import { testShell } from "../testing/test-shell.ts";

const shell = testShell();
const { lares } = shell;

describe("run --once", () => {
  beforeEach(() => writeFile(join(shell.folder, "lares.yaml"), "version: 1\n"));
  const lastLine = () => shell.output.trimEnd().split("\n").at(-1);

  it("shows traces and proposals, ends with the counts, exits 0 with actions pending", async () => {
    shell.kernel.traces = [aTrace("21 files of 6 types", { fields: { files: 21 } })];
    shell.kernel.actions.set("a", anAction("a"));
    expect(await lares(["run", shell.folder, "--once"])).toBe(0);
    expect(shell.output).toContain("21 files of 6 types  files=21");
    expect(shell.output).toContain("Archive 1 extra copy of a.jpg");
    expect(shell.output).toContain("1 action waits for an answer");
    expect(lastLine()).toBe("2 agents, 41 events, 1 actions, 1 refusals");
    expect(shell.kernel.disposed).toBe(1);
  });

  it("says how many notifications wait from before", async () => {
    shell.kernel.notifications = [aNotification("n1"), aNotification("n2", { state: "Dismissed" })];
    expect(await lares(["run", shell.folder, "--once"])).toBe(0);
    expect(shell.errors).toContain("1 notification from before: lares notifications lists it.");
    expect(shell.kernel.requests.map(({ method }) => method)).not.toContain("lares/notifications/dismiss");
  });

  it("reports the errors of the workspace's documents, which explain a missing agent", async () => {
    const extension = join(shell.folder, ".lares", "extensions", "x");
    await mkdir(extension, { recursive: true });
    await writeFile(join(extension, "extension.yaml"), "");
    const checkDocument = (file: string) =>
      Promise.resolve(
        (["error", "warning"] as const).map((severity) => ({
          file,
          line: 2,
          column: 1,
          severity,
          code: `a-${severity}`,
          message: "There is no field extentions.",
        })),
      );
    expect(await lares(["run", shell.folder, "--once"], { checkDocument })).toBe(1);
    expect(`${shell.output}${shell.errors}`).toContain("Not all agents could run: 2 problems");
    expect(shell.errors).toContain("lares.yaml:2:1  a-error  There is no field extentions.");
    expect(shell.errors).toContain(`${join(".lares", "extensions", "x", "extension.yaml")}:2:1  a-error`);
    expect(shell.errors).not.toContain("a-warning");
  });

  it("--once fails if a program's source has errors, and not if an agent only failed on an event", async () => {
    const failure = { handler: "seen", message: "boom\u001b", at: "2026-11-20T10:00:00.000Z" };
    shell.kernel.agents = [
      anAgent("dev.x", { last_failure: { ...failure, place: { path: "/x/a.ts", line: 7 } } }),
    ];
    expect(await lares(["run", shell.folder, "--once"])).toBe(0);
    expect(shell.output).toMatch(/dev\.x: seen failed at .*: boom␛ \(\/x\/a\.ts:7\)/);
    shell.kernel.agents = [anAgent("dev.x", { state: "Error", problems: 3, error: "a.ts:1:1: Expected" })];
    expect(await lares(["run", shell.folder, "--once"])).toBe(1);
    expect(shell.output).toContain("(3 problems in all)");
  });

  it("--approve all carries out what is pending before it ends", async () => {
    shell.kernel.actions.set("a", anAction("a"));
    expect(await lares(["run", shell.folder, "--once", "--approve", "all"])).toBe(0);
    expect(shell.kernel.actions.get("a")?.state).toBe("Committed");
    expect(shell.output).toContain("✓ done  Archive 1 extra copy of a.jpg");
  });

  it.each([
    [{ metrics: { ...anAgent("").metrics, events_received: 4 } }, "the agent dev.lares.busy still works"],
    [{ state: "Initializing" as const }, "the agent dev.lares.busy still works"],
    [{}, "the agents dev.lares.filetypes, dev.lares.storage, dev.lares.busy still work"],
  ])(
    "--timeout ends the run with the summary, names the working agents (%j), and exits 1",
    async (more, sentence) => {
      shell.kernel.idle = false;
      shell.kernel.agents.push(
        anAgent("dev.lares.busy", more),
        anAgent("dev.lares.asleep", { state: "Unloaded" }),
      );
      expect(await lares(["run", shell.folder, "--once", "--timeout", "0s"])).toBe(1);
      expect(shell.errors).toContain(`Not done after 0s: ${sentence}.`);
      expect(lastLine()).toBe("4 agents, 41 events, 0 actions, 1 refusals");
      expect(shell.kernel.disposed).toBe(1);
    },
  );

  it("--json prints nothing but JSON lines, the summary last", async () => {
    shell.kernel.traces = [aTrace("hello")];
    expect(await lares(["run", shell.folder, "--once", "--json"])).toBe(0);
    const lines = shell.output
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines[0]).toMatchObject({ type: "trace", message: "hello" });
    expect(lines.at(-1)).toMatchObject({ type: "summary", agents: 2, events: 41, refusals: 1 });
  });

  it("--inspect has each step traced, and prints one line of JSON per trace without a terminal", async () => {
    shell.kernel.traces = [
      aTrace("vdfs/read", { level: "debug", step: "call", fields: { call: "vdfs/read" } }),
    ];
    expect(await lares(["run", shell.folder, "--once", "--inspect"])).toBe(0);
    expect(shell.kernel.requests).toContainEqual({
      method: "lares/traces/follow",
      params: { inspect: true },
    });
    const [first = ""] = shell.output.split("\n");
    expect(JSON.parse(first)).toMatchObject({ type: "trace", step: "call" });
  });

  it("runs nothing if nothing was accepted and nobody can be asked", async () => {
    shell.kernel.trusted = false;
    expect(await lares(["run", shell.folder, "--once"])).toBe(1);
    expect(shell.errors).toContain("[ ] All files: names and content");
    expect(shell.errors).toContain("--trust");
    expect(shell.kernel.requests.map(({ method }) => method)).toEqual([
      "lares/status",
      "lares/trust/question",
    ]);
  });

  it("--trust accepts it with the connection", async () => {
    shell.kernel.trusted = false;
    expect(await lares(["run", shell.folder, "--once", "--trust"])).toBe(0);
    expect(shell.kernel.connects).toMatchObject([{ folder: shell.folder, trusted: true }]);
  });

  it("without lares.yaml and without a terminal says what a starter would enable, and writes nothing", async () => {
    await rm(join(shell.folder, "lares.yaml"));
    expect(await lares(["run", shell.folder, "--once"])).toBe(1);
    expect(shell.errors).toContain("dev.lares.filetypes, dev.lares.notes, dev.lares.storage");
    expect(await readdir(shell.folder)).toEqual([]);
    expect(shell.kernel.connects).toEqual([]);
  });

  it("works on a copy of a bundled example with its own state, and leaves nothing behind", async () => {
    const example = join(shell.folder, "examples", "library");
    await rm(join(shell.folder, "lares.yaml"));
    await mkdir(join(shell.folder, "extensions", "x"), { recursive: true });
    await mkdir(join(shell.folder, "examples", "other"), { recursive: true });
    await mkdir(example);
    await writeFile(join(example, "lares.yaml"), "version: 1\n");
    vi.stubEnv("LARES_HOME", "/somewhere/else");
    let seen: { folder: string; beside: string[]; examples: string[]; home: string | undefined } | undefined;
    const connect: CliPorts["connect"] = async (options) => {
      seen = {
        folder: options.folder,
        beside: await readdir(join(options.folder, "..", "..")),
        examples: await readdir(join(options.folder, "..")),
        home: process.env["LARES_HOME"],
      };
      return shell.kernel.connect(options);
    };
    const ports = { connect, examplesFolder: join(shell.folder, "examples") };
    expect(await lares(["run", example, "--once"], ports)).toBe(0);
    expect(seen?.folder).not.toBe(example);
    expect(seen?.beside.toSorted()).toEqual(["examples", "extensions", "home"]);
    expect(seen?.examples.toSorted()).toEqual(["library", "other"]);
    expect(seen?.home).toBe(join(seen?.folder ?? "", "..", "..", "home"));
    expect(process.env["LARES_HOME"]).toBe("/somewhere/else");
    await expect(readdir(seen?.folder ?? "")).rejects.toThrow("ENOENT");
    expect(await readdir(join(shell.folder, "extensions"))).toEqual(["x"]);

    expect(await lares(["run", example, "--once", "--in-place"], ports)).toBe(0);
    expect(seen?.folder).toBe(example);
  });
});
